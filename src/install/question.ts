// Asks a person a question on the terminal.

import { createInterface } from 'node:readline/promises';

/** Prints QUESTION and returns the line that the person types; undefined when the input ends, as after Ctrl-D. */
export async function answerTo(question: string): Promise<string | undefined> {
  // Without `terminal`, Readline does not handle keys, so Ctrl-C ends the program as usual.
  const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const ended = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  // When the input ends, the promise that Readline returned for the question never resolves.
  const answer = await Promise.race([terminal.question(question), ended]);
  terminal.close();
  // Neither the question nor the input has added a line break.
  if (answer === undefined) process.stdout.write('\n');
  return answer;
}
