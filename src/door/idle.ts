// Ends a session of commands some time after its last connection.

/** Minutes after its last connection when such a session ends. */
export const IDLE_MINUTES = 30;

/** Returns a function to call with each connection. It returns a function to call when the connection has
 *  ended. END is called when there was no connection for MS milliseconds. */
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
