// The error for a file that is not read.

/** Thrown when a file is not read; the message says why, as a clause. */
export class UnreadableFile extends Error {
  override name = 'UnreadableFile';
}
