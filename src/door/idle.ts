// Ends a session that a command started, when nothing was connected to it for some time.

/** A session that a command started ends after this many minutes without a connection. */
export const IDLE_MINUTES = 30;

/** Calls END when there was no connection for MS milliseconds. Returns a function that must be called when a connection
 * begins. That function returns another function, which must be called when the connection ends. */
export function whenIdle(ms: number, end: () => void): () => () => void {
  let connections = 0;
  let timer = setTimeout(end, ms);
  return () => {
    connections++;
    clearTimeout(timer);
    return () => {
      connections--;
      if (connections === 0) timer = setTimeout(end, ms);
    };
  };
}
