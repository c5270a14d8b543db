// Asks a person at the terminal.

import { createInterface } from 'node:readline/promises';

/** Prints QUESTION, and returns the line that the person types; undefined when the input ends before, as by Ctrl-D. */
export async function answerTo(question: string): Promise<string | undefined> {
  // Readline edits no line here (terminal: false), so Ctrl-C ends the program as ever.
  const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const ended = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  // At the end of its input readline settles no question.
  const answer = await Promise.race([terminal.question(question), ended]);
  terminal.close();
  // The line of the question is still open there.
  if (answer === undefined) process.stdout.write('\n');
  return answer;
}
