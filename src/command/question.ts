// Asks the person at the terminal to approve a call.

import { closeSync, constants, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ReadStream } from 'node:tty';
import { complain } from '../output.ts';
import { visible } from '../visible.ts';
import type { RequestResult } from './answer.ts';

/** A form that asks a question, with only the members that this file uses. */
interface Form {
  message: string;
  requestedSchema: { properties: { decision: { enum: string[]; description?: string } } };
}

/** The terminal of this process. Answers cannot come from stdin, because stdin can be a file that contains an argument
 * of the call. */
const TERMINAL = '/dev/tty';

/** Returns true when this process has a terminal where a person sees stderr and can type an answer. */
export function canAskOnTerminal(): boolean {
  if (process.stderr.isTTY !== true) return false;
  try {
    closeSync(openSync(TERMINAL, 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Returns the question that the result of a request contains, if this terminal can ask it; else undefined. */
export function questionIn({ inputRequests }: RequestResult): Form | undefined {
  const { params } = Object(Object(inputRequests).approval);
  const { message, requestedSchema } = Object(params);
  const choices = Object(Object(Object(requestedSchema).properties).decision).enum;
  return typeof message === 'string' && Array.isArray(choices) ? params : undefined;
}

/** Asks the question in FORM on the terminal. Returns the answer as MCP expects it, or `interrupted` after Ctrl-C. */
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
      `${answer.slice(0, 80)} is not one of the answers. Run the command again, and enter a number from 1 to ${choices.length}, or the words beside it.`,
    );
  return chosen === undefined ? { action: 'cancel' } : { action: 'accept', content: { decision: chosen } };
}

/** Shows PROMPT and resolves with the line that the person types. Resolves with an empty line after Ctrl-D, and with
 * undefined after Ctrl-C. */
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

/** Discards characters that were typed before the question was shown. They cannot be an answer to it. */
function dropTypedAhead(): void {
  const terminal = openSync(TERMINAL, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    while (readSync(terminal, Buffer.alloc(4096)) > 0);
  } catch {
    // All characters are read.
  } finally {
    closeSync(terminal);
  }
}
