// The facts that an image publishes while live-lisp servers can attach to it, and functions that render them.

/** The facts that an image publishes while it serves. */
export interface Served {
  /** The name of the image, which is also the name of its files. */
  name: string;
  pid: number;
  /** The folder in which its user works. */
  workspace: string;
  /** Path of the Unix socket on which its agent listens. */
  socket: string;
  /** When it began to serve, in seconds since 1970. */
  started: number;
  /** Name and version of the Lisp, such as `SBCL 2.2.9`. */
  lisp: string;
  /** A phrase on how this server came to the image, besides by its name and its folder. */
  through?: string;
}

/** Returns the name of SERVED, its Lisp and its process. */
export function servedName({ name, lisp, pid }: Served): string {
  return `${name} (${lisp}, pid ${pid})`;
}

/** Returns the local time at which SERVED began to serve, such as `2026-11-28 23:05:10`. */
export function servedSince({ started }: Served): string {
  return new Date(started * 1000).toLocaleString('sv');
}

/** True when ONE and OTHER are the same process that has served without a break. */
export function isSameImage(one: Served, other: Served): boolean {
  return one.name === other.name && one.pid === other.pid && one.started === other.started;
}
