// Asks the person at the terminal for the approval of a call.

import { closeSync, constants, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ReadStream } from 'node:tty';
import { complain } from '../output.ts';
import { visible } from '../visible.ts';
import type { RequestResult } from './answer.ts';

/** The used part of the form that asks a question. */
interface Form {
  message: string;
  requestedSchema: { properties: { decision: { enum: string[]; description?: string } } };
}

/** The terminal of this process. Stdin cannot serve for answers: it can be a file with the text of a call. */
const TERMINAL = '/dev/tty';

/** True when this process has a terminal, on which a person sees stderr and can answer. */
export function canAskOnTerminal(): boolean {
  if (process.stderr.isTTY !== true) return false;
  try {
    closeSync(openSync(TERMINAL, 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Returns the question in RESULT for this terminal; undefined when there is none. */
export function questionIn({ inputRequests }: RequestResult): Form | undefined {
  const { params } = Object(Object(inputRequests).approval);
  const { message, requestedSchema } = Object(params);
  const choices = Object(Object(Object(requestedSchema).properties).decision).enum;
  return typeof message === 'string' && Array.isArray(choices) ? params : undefined;
}

/** Asks the question in FORM on the terminal. Returns the answer in the form of MCP; `interrupted` after Ctrl-C. */
export async function askOnTerminal({ message, requestedSchema }: Form): Promise<object | 'interrupted'> {
  const { decision } = requestedSchema.properties;
  const choices = [...decision.enum].sort();
  const lines = choices.map((choice, index) => `  ${index + 1} ${choice}`);
  const prompt = `${message}\n${decision.description ?? ''}\n${lines.join('\n')}\nNumber: `;
  const typed = await typedAnswer(visible(prompt));
  if (typed === undefined) return 'interrupted';
  const answer = typed.trim();
  const chosen = choices[Number(answer) - 1] ?? choices.find((choice) => choice === answer);
  if (chosen === undefined && answer !== '')
    complain(
      `${answer.slice(0, 80)} is no answer. Run the command again, and enter a number from 1 to ${choices.length}, or the words behind it.`,
    );
  return chosen === undefined ? { action: 'cancel' } : { action: 'accept', content: { decision: chosen } };
}

/** Shows PROMPT and resolves with the line that the person types; with an empty line after Ctrl-D, with undefined
 *  after Ctrl-C. */
async function typedAnswer(prompt: string): Promise<string | undefined> {
  const input = new ReadStream(openSync(TERMINAL, 'r'));
  input.setRawMode(true); // Otherwise an unfinished line would stay in the terminal's buffer.
  dropTypedAhead();
  const terminal = createInterface({ input, output: process.stderr });
  try {
    return await new Promise((resolve) => {
      terminal.once('SIGINT', () => resolve(undefined));
      terminal.once('close', () => resolve('')); // After Ctrl-D.
      terminal.question(prompt, resolve);
    });
  } finally {
    terminal.close();
    input.destroy();
  }
}

/** Discards what was typed before the question was shown, because it cannot be meant as the answer. */
function dropTypedAhead(): void {
  const terminal = openSync(TERMINAL, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    while (readSync(terminal, Buffer.alloc(4096)) > 0);
  } catch {
    // Nothing is left to read.
  } finally {
    closeSync(terminal);
  }
}
