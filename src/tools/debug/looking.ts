// Renders a held error, its frames, and the values of forms evaluated in a frame.

import type { Ending } from '../../image/wire/endings.ts';
import type { DebugData, DebugValue, Frame, Local } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { outputSection } from '../endings.ts';
import { failureText, formValuesText } from '../execution/evaluation-text.ts';
import { packageOf } from '../lookup.ts';
import type { Places } from '../places.ts';
import { warningSection } from '../remarks.ts';
import { callText } from '../stack.ts';
import { evalOptions, frameOf, type HeldErrorRequest } from './held.ts';
import { heldResult, newestOwn } from './held-text.ts';
import { leftFrameResult } from './outcomes.ts';
import { debugRefusalResult, stillHeld } from './refusals.ts';

/** Returns the result that shows a held error, or one frame of its thread. */
export async function showHeld(held: HeldErrorRequest): Promise<Result> {
  const { image, error, places } = held;
  const reply = await image.call('debug-look', { error, ...frameOf(held) }, evalOptions(held));
  const refused = debugRefusalResult(held, reply) ?? leftFrameResult(held, reply);
  if (refused !== undefined) return refused;
  const { data } = reply;
  if (data.held !== undefined) {
    const whole = heldResult(reply, data.held, places);
    return { ...whole, text: joinSections([whole.text, ownSource(reply.ending, places)]), failed: false };
  }
  const value = data.value as DebugValue | undefined;
  if (value?.call === undefined) return stillHeld(held, reply);
  return { data: value, text: frameText(value, value.call, places) };
}

function ownSource(ending: Ending, places: Places): string | undefined {
  const frame = ending.kind === 'condition' ? newestOwn(ending.condition, places) : undefined;
  return frame && places.around(frame, CONTEXT_LINES, WHOLE_LINES);
}

function frameText(value: DebugValue, call: Frame, places: Places): string {
  const { frame, locals = [], again, why } = value;
  if (!('call' in call)) return '';
  const source = places.around(call, CONTEXT_LINES);
  return joinSections([
    `${frame}: ${callText(call, places)}`,
    localsText(locals),
    source,
    !again && `Note: this frame cannot be run again: ${why}.`,
  ]);
}

const CONTEXT_LINES = 3;
/** A form with at most this many lines is shown completely, because a fix must contain the whole form. */
const WHOLE_LINES = 20;

function localsText(locals: Local[]): string {
  if (locals.length === 0) return 'No locals are kept.';
  const lines = locals
    .filter(({ value }) => value !== undefined)
    .map(({ name, value, id }) => `  ${name} = ${value}${id ? `  ${id}` : ''}`);
  const lost = locals.filter(({ value }) => value === undefined).map(({ name }) => name);
  if (lost.length > 0)
    lines.push(`  not kept: ${lost.join(', ')} (debug_level: 3 of eval_form or load_file keeps all)`);
  return `Locals:\n${lines.join('\n')}`;
}

/** Evaluates CODE in the requested frame, where it can use the variables of the frame. */
export async function evaluate(held: HeldErrorRequest, code: string): Promise<Result> {
  const { image, error, args } = held;
  const reply = await image.call(
    'debug-eval',
    { error, ...frameOf(held), codes: [code], ...packageOf(args) },
    evalOptions(held),
  );
  const refused = debugRefusalResult(held, reply) ?? leftFrameResult(held, reply);
  if (refused !== undefined) return refused;
  const { ending, output, data } = reply;
  if (ending.kind !== 'done' || data.unreadable !== undefined) return stillHeld(held, reply, code);
  const values = data.values ?? [];
  const text = joinSections([
    formValuesText(values),
    outputSection(output),
    warningSection(data, held.places),
  ]);
  return { data: { values, output }, text };
}

function staleTextLines({ replaced = [] }: DebugData, places: Places): string {
  return replaced
    .map(({ name, method, place }) => {
      const at = places.locate(place, { name });
      return `${at} still has the old text of ${method ? `the method of ${name}` : name}.`;
    })
    .join('\n');
}

/** Evaluates CODE, which contains corrected definitions, in the waiting thread. The answer names the files that still
 * contain the old definitions. */
export async function fix(held: HeldErrorRequest, code: string): Promise<Result> {
  const { image, error, places, args } = held;
  const reply = await image.call(
    'debug-fix',
    { error, ...frameOf(held), code, ...packageOf(args) },
    evalOptions(held),
  );
  const refused = debugRefusalResult(held, reply) ?? leftFrameResult(held, reply);
  if (refused !== undefined) return refused;
  const { ending, output, data } = reply;
  const failed = failureText(ending, data, { code, places });
  const broken = (data.warnings ?? []).some(({ severity }) => severity === 'error');
  if (failed !== undefined) return stillHeld(held, reply, code);
  const text = joinSections([
    broken
      ? `The fix was evaluated, but with compile errors (below): running that code signals them. Error ${error} is still held.`
      : `Fixed: ${formValuesText(data.values ?? [])}`,
    staleTextLines(data, places),
    outputSection(output),
    warningSection(data, places),
  ]);
  return { data: { values: data.values, output }, text, failed: broken };
}
