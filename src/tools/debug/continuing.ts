// Continues a thread that waits at a held error: by invoking a restart, by returning from a frame, by running a frame
// again, or by ending the call.

import type { Result } from '../../kernel/tool.ts';
import { packageOf } from '../lookup.ts';
import { evalOptions, frameOf, type HeldErrorRequest, heldCallOptions } from './held.ts';
import { leftFrameResult, outcome } from './outcomes.ts';
import { debugRefusalResult, stillHeld } from './refusals.ts';

/** Evaluates the forms CODES in the requested frame of the waiting thread. The image keeps their values for the next
 * request, which continues the thread. Returns a result when this fails, else undefined. */
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

/** Continues the thread with the held error by invoking the restart NAME. */
export async function invokeRestart(held: HeldErrorRequest, name: string): Promise<Result> {
  const { values = [] } = held.args;
  const failed = values.length > 0 ? await evaluateInFrame(held, values) : undefined;
  return failed ?? continueHeld(held, { restart: name });
}

/** Continues the thread by returning from the requested frame with the values of the form CODE. */
export async function returnFrom(held: HeldErrorRequest, code: string): Promise<Result> {
  return (await evaluateInFrame(held, [code])) ?? continueHeld(held, frameOf(held));
}

/** Continues the thread by running the requested frame again. Without a frame, the whole form is evaluated again. */
export function retry(held: HeldErrorRequest): Promise<Result> {
  return continueHeld(held, { ...frameOf(held), retry: true });
}

/** Ends the call whose thread waits at the error. */
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
