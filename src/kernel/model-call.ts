// Decides how the tool calls of a model become results, for programs that talk to a model themselves.

import { messageOf } from '../errors.ts';
import type { Question, Verdict } from './approval.ts';
import type { Executor, Outcome } from './executor.ts';
import type { CallContext } from './tool.ts';

/** A call as a model makes it; ARGUMENTS may be the text of a JSON object, as some providers give them. */
export interface ToolCall {
  id?: string;
  name: string;
  arguments?: unknown;
}

/** What became of the call of that id: a text for the model and data for the program, or why it failed (S2.9, S4.13). */
export type ToolResult = { id: string | null } & (
  | { success: true; result: string; data: unknown }
  | { success: false; error: string }
);

export interface ToolCallOptions extends Pick<CallContext, 'signal' | 'onProgress'> {
  /** Asks a human; without it a call that needs their approval is refused (S2.11, C20). */
  approve?: (question: Question) => Promise<Verdict> | Verdict;
}

/** Returns the result of CALL through EXECUTOR. Never throws. */
export async function executeToolCall(
  executor: Executor,
  call: ToolCall,
  { approve, ...context }: ToolCallOptions = {},
): Promise<ToolResult> {
  let id: string | null = null;
  try {
    id = call.id ?? null;
    const { name } = call;
    // Whoever holds the arguments must not change them between the question and the call.
    const args = structuredClone(readArguments(call.arguments));
    const outcome = await executor.execute(name, args, context);
    const question = outcome.success ? undefined : outcome.question;
    if (question === undefined || approve === undefined) return { id, ...settled(outcome) };
    const { fingerprint } = question.preview;
    const verdict = await approve({ ...question, args: structuredClone(question.args) });
    const answered = verdict.kind === 'denied' ? verdict : { ...verdict, fingerprint };
    return { id, ...settled(await executor.execute(name, args, context, answered)) };
  } catch (error) {
    return { id, success: false, error: `Tool error: ${messageOf(error)}` };
  }
}

function settled(outcome: Outcome) {
  const read = (text: string) => [text, ...outcome.notices].join('\n\n');
  return outcome.success
    ? { success: true as const, result: read(outcome.text), data: outcome.data }
    : { success: false as const, error: read(outcome.error) };
}

/** Returns the arguments that GIVEN means; text that is no JSON stays as it is, and is refused as no object. */
function readArguments(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  if (given.trim() === '') return {};
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}
