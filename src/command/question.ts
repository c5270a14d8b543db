// Asks the person at the terminal for the approval of a call.

import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { ReadStream } from 'node:tty';
import { visible } from '../visible.ts';
import type { Answer } from './client.ts';

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

/** Asks the question in RESULT on the terminal. Returns the parameters that answer it, for the same request. */
export async function askOnTerminal(result: Answer): Promise<object> {
  const { approval } = result['inputRequests'] as { approval: { params: Form } };
  const { message, requestedSchema } = approval.params;
  const { decision } = requestedSchema.properties;
  const choices = [...decision.enum].sort();
  const lines = choices.map((choice, index) => `  ${index + 1} ${choice}`);
  const prompt = `${message}\n${decision.description ?? ''}\n${lines.join('\n')}\nNumber: `;
  const input = new ReadStream(openSync(TERMINAL, 'r'));
  const terminal = createInterface({ input, output: process.stderr });
  const typed = await terminal.question(visible(prompt)).finally(() => {
    terminal.close();
    input.destroy();
  });
  const chosen = choices[Number(typed.trim()) - 1];
  const response =
    chosen === undefined ? { action: 'cancel' } : { action: 'accept', content: { decision: chosen } };
  return { inputResponses: { approval: response }, requestState: result['requestState'] };
}
