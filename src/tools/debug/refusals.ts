// Renders the reasons why a call about a held error was refused or failed, with advice.

import type { Ending } from '../../image/wire/endings.ts';
import type { DebugData, DebugValue, Output, Reason } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { outputSection } from '../endings.ts';
import { failureText } from '../execution/evaluation-text.ts';
import { isLookupFailure, lookupResult } from '../lookup.ts';
import type { HeldErrorRequest } from './held.ts';

interface DebugReply {
  ending: Ending;
  output?: Output;
  data: DebugData;
}

/** Returns a result when the image refused the request, else undefined. */
export function debugRefusalResult(
  held: HeldErrorRequest,
  { data: { value } }: DebugReply,
): Result | undefined {
  if (value === undefined) return undefined;
  if (isLookupFailure(value)) return { ...lookupResult(value), failed: true };
  const text = refusalText(held, value);
  return text === undefined ? undefined : { data: value, text, failed: true };
}

function refusalText(
  { error, holds, fixed = false }: HeldErrorRequest,
  value: DebugValue,
): string | undefined {
  const { noFrame, frames = 0, noRestart, frame, why, restart, takes } = value;
  const stillHeldNote = `Nothing ${fixed ? 'else ' : ''}was done; error ${error} is still held.`;
  if (value.gone || value.busy) {
    const lost = error <= holds.highestLost && 'it was lost with its image';
    return goneText(error, lost && value.heldBy === undefined ? { ...value, why: lost } : value);
  }
  if (noFrame !== undefined) {
    const available = frames === 0 ? 'it has none to show' : `it has the frames 0 to ${frames - 1}`;
    return `There is no frame ${noFrame} of error ${error}: ${available}. ${stillHeldNote}`;
  }
  if (noRestart !== undefined) {
    const names = (value.restarts ?? []).join(', ');
    const available = names === '' ? 'it has none' : `it has ${names}`;
    return `Error ${error} has no restart ${noRestart}: ${available}. ${stillHeldNote}`;
  }
  if (restart !== undefined)
    return `The restart ${restart} takes the arguments (${takes}). Give a form for each in 'values'. ${stillHeldNote}`;
  if (value.noForm) {
    return `There is no form to evaluate again. ${nearestText(value)} ${stillHeldNote}`;
  }
  if (value.returned !== undefined) {
    return `The restart ${value.returned} returned instead of transferring control. Error ${error} is still held.`;
  }
  if (frame !== undefined && why !== undefined && value.call === undefined) {
    return `Frame ${frame} cannot be left that way: ${why}. ${nearestText(value)} ${stillHeldNote}`;
  }
  return undefined;
}

function nearestText({ nearest, form }: DebugValue): string {
  if (nearest !== undefined) return `The nearest frame with which this works is ${nearest}.`;
  const other = form ? "'restart', 'retry' without 'frame'" : "'restart'";
  return `This works with no listed frame. Give ${other}, or end: true to abort the call.`;
}

function goneText(error: number, { busy, heldBy, why, held = [] }: DebugValue): string {
  if (busy) {
    return `Error ${error} cannot be used now: another call uses it, or a newer error of its thread must end first. Held: ${held.join(', ')}.`;
  }
  const others = held.length === 0 ? 'This session holds no error.' : `Held: ${held.join(', ')}.`;
  if (heldBy !== undefined) {
    return `Error ${error} is held by another server of this image, ${heldBy}, and only that one can use or end it. ${others} To hold an error here, make the call with on_error: "hold".`;
  }
  return `Error ${error} is not held: ${why}. ${others}`;
}

/** If a call is interrupted for one of these reasons, its thread no longer exists. */
const THREAD_GONE_REASONS: readonly Reason[] = ['ended', 'terminated', 'ending'];

/** Returns the result when CODE could not be evaluated. The thread usually still waits at the error. */
export function stillHeld(
  { error, places }: HeldErrorRequest,
  { ending, output, data }: DebugReply,
  code = '',
): Result {
  const ended =
    ending.kind === 'lost' || (ending.kind === 'interrupted' && THREAD_GONE_REASONS.includes(ending.reason));
  const text = joinSections([
    failureText(ending, data, { code, places }),
    ended ? `Error ${error} is not held any more.` : `Error ${error} is still held.`,
    outputSection(output),
  ]);
  return { data: { ending, output }, text, failed: true };
}
