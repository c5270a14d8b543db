// Asks the person at the terminal for the approval of a call.

import { closeSync, constants, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { ReadStream } from 'node:tty';
import { visible } from '../visible.ts';
import type { RequestResult } from './client.ts';

/** The form of a question, as far as it is used here. */
interface Form {
  message: string;
  requestedSchema: { properties: { decision: { enum: string[]; description?: string } } };
}

/** The terminal of this process. Standard input can be a file with the text of a call. */
const TERMINAL = '/dev/tty';

/** True when a person sees what this process prints on standard error, and can answer on the terminal. */
export function canAskOnTerminal(): boolean {
  if (process.stderr.isTTY !== true) return false;
  try {
    closeSync(openSync(TERMINAL, 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Asks the question in RESULT on the terminal. Returns the parameters that answer it, for the same request; or
 *  `interrupted` after Ctrl-C. */
export async function askOnTerminal(result: RequestResult): Promise<object | 'interrupted'> {
  const { approval } = result['inputRequests'] as { approval: { params: Form } };
  const { message, requestedSchema } = approval.params;
  const { decision } = requestedSchema.properties;
  const choices = [...decision.enum].sort();
  const lines = choices.map((choice, index) => `  ${index + 1} ${choice}`);
  const prompt = `${message}\n${decision.description ?? ''}\n${lines.join('\n')}\nNumber: `;
  const typed = await typedAnswer(visible(prompt));
  if (typed === 'interrupted') return typed;
  const chosen = choices[Number(typed.text.trim()) - 1];
  const response =
    chosen === undefined ? { action: 'cancel' } : { action: 'accept', content: { decision: chosen } };
  return { inputResponses: { approval: response }, requestState: result['requestState'] };
}

/** Resolves with the line that the person types behind PROMPT; with an empty one after Ctrl-D. */
async function typedAnswer(prompt: string): Promise<{ text: string } | 'interrupted'> {
  const input = new ReadStream(openSync(TERMINAL, 'r'));
  input.setRawMode(true); // Else a line that is not finished stays.
  dropTypedAhead();
  const terminal = createInterface({ input, output: process.stderr });
  const ended = new Promise<{ text: string } | 'interrupted'>((resolve) => {
    terminal.once('SIGINT', () => resolve('interrupted'));
    terminal.once('close', () => resolve({ text: '' }));
  });
  // Readline rejects the answer when Ctrl-D ends the input.
  const answer = terminal.question(prompt).then(
    (text) => ({ text }),
    () => ({ text: '' }),
  );
  try {
    return await Promise.race([answer, ended]);
  } finally {
    terminal.close();
    input.destroy();
  }
}

/** Drops what was typed on the terminal before the question was shown, since it does not answer it. */
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
