// The data that an image publishes while live-lisp servers can attach to it, and functions that render it.

/** The data that an image publishes while servers can attach to it. */
export interface Served {
  /** The name of the image, which is also the name of its files. */
  name: string;
  pid: number;
  /** The folder of its user's work. */
  workspace: string;
  /** Path of the Unix socket on which its agent listens. */
  socket: string;
  /** The time when it began to accept servers, in seconds since 1970. */
  started: number;
  /** Name and version of the Lisp, such as `SBCL 2.2.9`. */
  lisp: string;
  /** The connection that led to it, as a phrase, if it was not found by name or folder. */
  through?: string;
}

export function servedName({ name, lisp, pid }: Served): string {
  return `${name} (${lisp}, pid ${pid})`;
}

/** Returns the local time at which the image began to accept servers, such as `2026-11-28 23:05:10`. */
export function servedSince({ started }: Served): string {
  return new Date(started * 1000).toLocaleString('sv');
}

/** True when ONE and OTHER are the same process, and it has accepted servers without a break. */
export function isSameImage(one: Served, other: Served): boolean {
  return one.name === other.name && one.pid === other.pid && one.started === other.started;
}
