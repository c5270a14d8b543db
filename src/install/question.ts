// Asks a person a question at the terminal.

import { createInterface } from 'node:readline/promises';

/** Prints QUESTION. Returns the person's line; undefined when input ends, as with Ctrl-D. */
export async function answerTo(question: string): Promise<string | undefined> {
  // Without `terminal`, Readline does not edit the line, so Ctrl-C ends the program as usual.
  const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const ended = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  // When the input ends, Readline leaves the promise of the question pending.
  const answer = await Promise.race([terminal.question(question), ended]);
  terminal.close();
  // The question has no line break of its own, and no input added one.
  if (answer === undefined) process.stdout.write('\n');
  return answer;
}
