// Decides how it is told that a file is not read.

/** That a file is not read; the message says why, as a clause. */
export class UnreadableFile extends Error {
  override name = 'UnreadableFile';
}
