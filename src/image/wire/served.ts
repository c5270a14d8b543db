// Defines the data that an image publishes while it accepts connections from servers, and renders these data.

/** The data that an image publishes while it accepts connections from servers. */
export interface Served {
  /** The name of the image. Its files have the same name. */
  name: string;
  pid: number;
  /** The folder in which the user of the image works. */
  workspace: string;
  /** The path of the Unix socket on which the backend of the image listens. */
  socket: string;
  /** The time when the image began to accept connections from servers, as a number of seconds since 1970. */
  started: number;
  /** The name and version of its Lisp, such as `SBCL 2.2.9`. */
  lisp: string;
  /** Text for the connection through which the server found the image, such as a Swank server; absent when the server
   * found it by its name or folder. */
  through?: string;
}

export function servedName({ name, lisp, pid }: Served): string {
  return `${name} (${lisp}, pid ${pid})`;
}

/** Returns the local time when the image began to accept connections from servers, such as `2026-11-28 23:05:10`. */
export function servedSince({ started }: Served): string {
  return new Date(started * 1000).toLocaleString('sv');
}

/** Returns true when ONE and OTHER describe the same process, and it accepted connections all the time in between. */
export function isSameImage(one: Served, other: Served): boolean {
  return one.name === other.name && one.pid === other.pid && one.started === other.started;
}
