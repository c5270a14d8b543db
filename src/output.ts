// Prints texts on the standard streams. On a terminal, shows control characters as codes, because texts of programs
// and files can contain some that the terminal would obey.

import { messageOf } from './errors.ts';
import { visible } from './visible.ts';

/** Writes TEXT, a part of a line or of several. */
export function printPart(text: string): void {
  process.stdout.write(process.stdout.isTTY ? visible(text) : text);
}

/** Prints TEXT. Returns the exit code for success. */
export function print(text: string): 0 {
  printPart(`${text}\n`);
  return 0;
}

/** Prints the text of ERROR, an error or a string, on stderr. */
export function complain(error: unknown): void {
  const text = `live-lisp: ${messageOf(error)}\n`;
  process.stderr.write(process.stderr.isTTY ? visible(text) : text);
}
