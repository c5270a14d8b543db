// Executes tool calls of a model for programs that use the model without MCP.

import { CallError, messageOf, UsageError } from '../errors.ts';
import type { Question, Verdict } from './approval.ts';
import type { Executor } from './executor.ts';
import type { Outcome } from './outcome.ts';
import { kindOf } from './schema.ts';
import type { CallContext } from './tool.ts';

/** A tool call by a model. `arguments` are an object or, from some providers, JSON text. */
export interface ToolCall {
  id?: string;
  name: string;
  arguments?: unknown;
}

/** The result of the call with this `id`: text for the model and data for the program, or an error.
 * `modified` is true when a human changed the arguments. */
export type ToolResult = { id: string | null } & (
  | { success: true; result: string; data: unknown; modified?: true }
  | { success: false; error: string; modified?: true }
);

export interface ToolCallOptions extends Pick<CallContext, 'signal' | 'onProgress'> {
  /** Asks a human for an approval. If absent, calls that need an approval are refused. */
  approve?: (question: Question) => Promise<Verdict> | Verdict;
}

/** Runs CALL in the executor that GET_EXECUTOR returns. Never throws. */
export async function runModelCall(
  getExecutor: () => Executor,
  call: ToolCall,
  options: ToolCallOptions = {},
): Promise<ToolResult> {
  let id: string | null = null;
  try {
    checkCall(call);
    id = call.id ?? null;
    checkOptions(options);
    const { approve, ...context } = options;
    const { name } = call;
    const executor = getExecutor();
    // The arguments are copied, so that the program cannot change them between the question and the call.
    const args = structuredClone(readArguments(call.arguments));
    const outcome = await executor.execute(name, args, { ...context, canAsk: approve !== undefined });
    const { question } = outcome;
    if (question === undefined || !approve) return { id, ...toolResultOf(outcome) };
    const { tool, preview } = question;
    const { fingerprint } = preview;
    const verdict = await verdictOf(approve, { tool, preview, args: structuredClone(question.args) });
    const allowed = verdict.kind === 'approved' || verdict.kind === 'modified';
    const answered = allowed ? { ...verdict, fingerprint } : verdict;
    return { id, ...toolResultOf(await executor.execute(name, args, context, answered)) };
  } catch (error) {
    const message = messageOf(error);
    return {
      id,
      success: false,
      error: error instanceof CallError || error instanceof UsageError ? message : `Tool error: ${message}`,
    };
  }
}

/** Calls APPROVE, the program's function, with QUESTION, and returns the verdict. If APPROVE throws or returns an
 * invalid verdict, the verdict is of kind 'void'. */
async function verdictOf(
  approve: NonNullable<ToolCallOptions['approve']>,
  question: Question,
): Promise<Verdict> {
  try {
    const verdict = await approve(question);
    checkVerdict(verdict);
    return verdict;
  } catch (error) {
    return {
      kind: 'void',
      why: error instanceof CallError ? error.message : `Tool error: ${messageOf(error)}`,
    };
  }
}

function checkCall(call: unknown): asserts call is ToolCall {
  if (typeof call !== 'object' || call === null) {
    throw new CallError(
      `A call must be an object with the name of a tool and its arguments, not ${kindOf(call)}.`,
    );
  }
  if (!('name' in call) || typeof call.name !== 'string') {
    const name = 'name' in call ? call.name : undefined;
    throw new CallError(`The name of a call must be a string that names a tool, not ${kindOf(name)}.`);
  }
}

function checkOptions(options: unknown): asserts options is ToolCallOptions {
  if (typeof options !== 'object' || options === null) {
    throw new CallError(
      `The options of a call must be an object, such as { approve }, not ${kindOf(options)}.`,
    );
  }
  const approve = 'approve' in options ? options.approve : undefined;
  if (approve && typeof approve !== 'function') {
    throw new CallError(
      `approve must be a function that asks a human and returns what they said, not ${kindOf(approve)}.`,
    );
  }
}

const VERDICTS: readonly unknown[] = ['approved', 'modified', 'denied', 'unanswered'];

/** Throws a CallError unless VERDICT, a value from the program, is valid. */
function checkVerdict(verdict: unknown): asserts verdict is Verdict {
  const kind =
    typeof verdict === 'object' && verdict !== null && 'kind' in verdict ? verdict.kind : undefined;
  if (VERDICTS.includes(kind)) return;
  throw new CallError(
    'The function approve did not return what the human said, so nothing was done. It must return an object whose kind is approved, modified, denied or unanswered.',
  );
}

function toolResultOf(outcome: Outcome) {
  const withNotices = (text: string) => [text, ...outcome.notices].join('\n\n');
  const modified = outcome.changed !== undefined && { modified: true as const };
  return outcome.success
    ? { success: true as const, result: withNotices(outcome.text), data: outcome.data, ...modified }
    : { success: false as const, error: withNotices(outcome.error), ...modified };
}

/** Returns the arguments in GIVEN, an object or JSON text. Other text is returned unchanged, so that the validation
 * refuses it. */
function readArguments(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  if (given.trim() === '') return {};
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}
