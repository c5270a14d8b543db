// Renders what happened after a thread has continued from a held error.

import type { HeldCall } from '../../image/session/held.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { Ending } from '../../image/wire/endings.ts';
import type { DebugValue } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { endingText, outputSection } from '../endings.ts';
import { formValuesText } from '../execution/evaluation-text.ts';
import { durationText } from '../observe/units.ts';
import type { HeldErrorRequest } from './held.ts';
import { heldResult } from './held-text.ts';

type DebugOperation = 'debug-go' | 'debug-eval' | 'debug-fix' | 'debug-look';

/** If the code that debug evaluated has left the held error, for example by invoking a restart, the stopped thread has
 * continued: returns its result. Otherwise returns undefined. */
export function leftFrameResult(held: HeldErrorRequest, reply: Reply<DebugOperation>): Result | undefined {
  const { left, value } = reply.data;
  return left || (value !== undefined && isThreadValue(value)) ? outcome(held, reply) : undefined;
}

/** Returns the result of a call of the tool debug after which the thread of HELD, a held error, has continued. REPLY is
 * the image's reply. `end` is true when the tool was to end the call that the error has stopped. */
export function outcome(
  held: HeldErrorRequest,
  reply: Reply<DebugOperation>,
  continuation: { end?: boolean } = {},
): Result {
  const { holds, error, places } = held;
  const { ending, output, data } = reply;
  const call = holds.call(error);
  if (data.held !== undefined) {
    holds.keepAgain(data.held, error);
    return heldResult(reply, data.held, places);
  }
  call?.release();
  if (continuation.end && ending.kind === 'aborted') {
    const text = joinSections([`Ended error ${error} and the call that it stopped.`, outputSection(output)]);
    return { data: { ending, output }, text };
  }
  if (data.value !== undefined && isThreadValue(data.value)) return threadResult(held);
  if (call !== undefined) return withHoldNote(call.finish(reply), call);
  const text = joinSections([
    ending.kind === 'done'
      ? `The frame returned:\n${formValuesText(data.values ?? [])}`
      : stillRunsText(ending) || endingText(ending, places),
    outputSection(output),
  ]);
  return { data: { values: data.values, ending, output }, text, failed: ending.kind !== 'done' };
}

/** Returns RESULT. If the macro TIME has also measured the time in the debugger, adds a note about this. */
function withHoldNote(result: Result, { timed, heldMs }: HeldCall<Result>): Result {
  const note = `Note: the report of TIME includes the ${durationText(heldMs)} that the call was held.`;
  return timed ? { ...result, text: joinSections([result.text, note]) } : result;
}

/** Returns a sentence when this call has reached its time limit or was cancelled, and the thread still runs, because
 * neither ends the thread. Returns false for other endings. */
function stillRunsText(ending: Ending): string | false {
  return (
    ending.kind === 'interrupted' &&
    (ending.reason === 'timeout' || ending.reason === 'cancelled') &&
    "The frame has not returned yet; its thread still runs. To see where, call debug with parameter 'thread'."
  );
}

function isThreadValue(value: object): value is DebugValue {
  return 'goesOn' in value;
}

function threadResult({ error }: HeldErrorRequest): Result {
  return { data: { goesOn: true }, text: `The thread of error ${error} continues.` };
}
