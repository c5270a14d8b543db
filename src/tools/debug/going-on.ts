// Continues from a held error, at which a thread is stopped for debugging: by a restart, by a return from a
// frame, by a retry, or by ending the call that the error stopped.

import type { Result } from '../../kernel/tool.ts';
import { packageOf } from '../lookup.ts';
import { evalOptions, frameOf, type HeldErrorRequest, heldCallOptions } from './held.ts';
import { leftFrameResult, outcome } from './outcomes.ts';
import { debugRefusalResult, stillHeld } from './refusals.ts';

/** Evaluates CODES in the requested frame of the thread that the error HELD has stopped. Lets the image keep
 *  their values, which the next request uses to make the thread continue. Returns a result only on failure,
 *  else undefined. */
async function evaluateInFrame(
  held: HeldErrorRequest,
  codes: readonly string[],
): Promise<Result | undefined> {
  const { image, error, args } = held;
  const reply = await image.call(
    'debug-eval',
    { error, ...frameOf(held), codes, ...packageOf(args), keep: true },
    evalOptions(held),
  );
  const refused = debugRefusalResult(held, reply) ?? leftFrameResult(held, reply);
  if (refused !== undefined) return refused;
  const evaluated = reply.ending.kind === 'done' && reply.data.unreadable === undefined;
  return evaluated ? undefined : stillHeld(held, reply, codes.join('\n'));
}

/** Makes the thread that the error HELD has stopped continue by the restart NAME. */
export async function invokeRestart(held: HeldErrorRequest, name: string): Promise<Result> {
  const { values = [] } = held.args;
  const failed = values.length > 0 ? await evaluateInFrame(held, values) : undefined;
  return failed ?? continueHeld(held, { restart: name });
}

/** Makes the requested frame of the thread that HELD has stopped return the values of the form CODE. */
export async function returnFrom(held: HeldErrorRequest, code: string): Promise<Result> {
  return (await evaluateInFrame(held, [code])) ?? continueHeld(held, frameOf(held));
}

/** Runs again the requested frame of the thread that HELD has stopped; without a frame, evaluates the whole
 *  form again. */
export function retry(held: HeldErrorRequest): Promise<Result> {
  return continueHeld(held, { ...frameOf(held), retry: true });
}

/** Ends the call that the error HELD stopped. */
export function endCall(held: HeldErrorRequest): Promise<Result> {
  return continueHeld(held, { end: true });
}

interface Continuation {
  frame?: number;
  restart?: string;
  retry?: boolean;
  end?: boolean;
}

async function continueHeld(held: HeldErrorRequest, continuation: Continuation): Promise<Result> {
  const { image, holds, error } = held;
  const call = holds.call(error);
  holds.countHolding(error);
  const reply = await image.call(
    'debug-go',
    { error, ...continuation },
    { ...heldCallOptions(held), ...(call && { continues: call }) },
  );
  return debugRefusalResult(held, reply) ?? outcome(held, reply, continuation);
}
