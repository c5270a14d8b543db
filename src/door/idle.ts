// Ends a session of commands when it has had no connection for some time.

/** A session of commands ends after this many minutes without a connection. */
export const IDLE_MINUTES = 30;

/** Calls END when there was no connection for MS milliseconds. Returns a function that the caller calls
 *  when a connection begins. That function returns another one, to call when the connection ends. */
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
