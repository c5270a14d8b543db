// Decides how a held error goes on, and what is told of what came of that.

import type { Reply } from '../../image/wire/call.ts';
import type { DebugValue } from '../../image/wire/debugging.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { endingText, outputSection } from '../endings.ts';
import { formValuesText } from '../execution/evaluation.ts';
import { packageOf } from '../lookup.ts';
import { frameOf, type Held, optionsOf } from './held.ts';
import { heldResult } from './hold.ts';
import { refusal, stillHeld } from './refusals.ts';

/** Evaluates CODES in the frame of HELD, whose error goes on with their values. Returns what went wrong, if anything. */
async function prepare(held: Held, codes: readonly string[]): Promise<Result | undefined> {
  const { image, error, args } = held;
  const reply = await image.call(
    'debug-eval',
    { error, ...frameOf(held), codes, ...packageOf(args), keep: true },
    optionsOf(held),
  );
  const refused = refusal(held, reply);
  if (refused !== undefined) return refused;
  return reply.ending.kind === 'done' ? undefined : stillHeld(held, reply);
}

/** Goes on from HELD by the restart NAME. */
export async function goOn(held: Held, name: string): Promise<Result> {
  const { values = [] } = held.args;
  const failed = values.length > 0 ? await prepare(held, values) : undefined;
  return failed ?? go(held, { restart: name });
}

/** Returns the values of the form CODE from the frame of HELD. */
export async function returnFrom(held: Held, code: string): Promise<Result> {
  return (await prepare(held, [code])) ?? go(held, frameOf(held));
}

/** Runs the frame of HELD again, or without one the form that was evaluated. */
export function retry(held: Held): Promise<Result> {
  return go(held, { ...frameOf(held), retry: true });
}

/** Ends HELD. */
export function end(held: Held): Promise<Result> {
  return go(held, { end: true });
}

interface How {
  frame?: number;
  restart?: string;
  retry?: boolean;
  end?: boolean;
}

async function go(held: Held, how: How): Promise<Result> {
  const { image, holds, error } = held;
  const call = holds.call(error);
  const reply = await image.call(
    'debug-go',
    { error, ...how },
    { ...optionsOf(held), ...(call && { continues: call }) },
  );
  return refusal(held, reply) ?? outcome(held, reply, how);
}

/** Returns what is told of REPLY, with which the thread of HELD has gone on as HOW says. */
function outcome(held: Held, reply: Reply<'debug-go'>, how: How): Result {
  const { holds, error, places } = held;
  const { ending, output, data } = reply;
  const call = holds.call(error);
  if (data.held !== undefined) {
    holds.keepAgain(data.held, error);
    return heldResult(reply, data.held, places);
  }
  if (how.end && ending.kind === 'aborted') {
    const text = joinSections([
      `Error ${error} was ended, and the call that it stopped.`,
      outputSection(output),
    ]);
    return { data: { ending, output }, text };
  }
  if (data.value !== undefined && isThreadValue(data.value)) return threadResult(held);
  if (call !== undefined) return call.finish(reply);
  const text = joinSections([
    ending.kind === 'done'
      ? `The frame returned:\n${formValuesText(data.values ?? [])}`
      : endingText(ending, places),
    outputSection(output),
  ]);
  return { data: { values: data.values, ending, output }, text, failed: ending.kind !== 'done' };
}

function isThreadValue(value: object): value is DebugValue {
  return 'goesOn' in value;
}

function threadResult({ error }: Held): Result {
  return { data: { goesOn: true }, text: `The thread of error ${error} goes on.` };
}
