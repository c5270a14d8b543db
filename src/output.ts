// Prints texts on the standard streams. A terminal would execute control characters in the texts of programs and files.
// So when the stream is a terminal, their codes are printed.

import { messageOf } from './errors.ts';
import { visible } from './visible.ts';

/** Prints TEXT without a line break at its end. */
export function printPart(text: string): void {
  process.stdout.write(process.stdout.isTTY ? visible(text) : text);
}

/** Prints TEXT and a line break. Returns 0, the exit code for success. */
export function print(text: string): 0 {
  printPart(`${text}\n`);
  return 0;
}

/** Prints the message of ERROR, an error or a string, on stderr. */
export function complain(error: unknown): void {
  const text = `live-lisp: ${messageOf(error)}\n`;
  process.stderr.write(process.stderr.isTTY ? visible(text) : text);
}
