// Prints texts on the standard streams. A terminal would obey control characters in texts of programs and
// files, so a terminal gets codes instead.

import { messageOf } from './errors.ts';
import { visible } from './visible.ts';

/** Writes TEXT without a line break after it. */
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
