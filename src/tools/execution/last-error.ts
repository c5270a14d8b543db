// Defines the tool get_last_error, which shows recent errors with their frames and local variables.

import type { Image } from '../../image/image.ts';
import type { KeptCall, KeptError, KeptFrame, LastErrorData, Local } from '../../image/wire/operations.ts';
import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { indent, joinSections, listText } from '../../kernel/reply.ts';
import { defineTool, type Result, type ToolDescription } from '../../kernel/tool.ts';
import { callOptions } from '../calling.ts';
import { moreFrames, moreRestarts } from '../endings.ts';
import { foundValue } from '../lookup.ts';
import { didYouMean } from '../natures.ts';
import type { Places } from '../places.ts';
import { callText, stackLines } from '../stack.ts';
import { ageText, unixTimeText } from '../times.ts';
import { watchedResult } from './watched-errors.ts';

/** Limits for each frame in a list: characters of a value, and number of variables. */
const SHORT = { value: 120, locals: 8 };

const GET_LAST_ERROR = {
  name: 'get_last_error',
  description:
    'Show why the last call failed or crashed: condition, restarts and stack backtrace, with arguments and local variables of each frame. To continue from a held error use debug. Keeps the last 10 errors of all threads.',
  parameters: [
    {
      name: 'index',
      type: 'integer',
      description: '0: newest',
      minimum: 0,
    },
    {
      name: 'frame',
      type: 'integer',
      description: 'This frame, in full',
      minimum: 0,
    },
    {
      name: 'watched',
      type: 'boolean',
      description: 'Errors recorded by debug',
    },
  ],
  categories: ['execution'],
  shortDescription: 'Show the last error with its frames and the values of local variables',
  complexity: 'simple',
  keywords: [
    'stack trace',
    'why did it fail',
    'last error',
    'what went wrong',
    'backtrace',
    'local variables',
    'condition and restarts',
  ],
} as const satisfies ToolDescription;

export function getLastErrorTool(image: Image, places: Places) {
  return defineTool({
    ...GET_LAST_ERROR,
    handler: async (args, context) => {
      const { index = 0, frame, watched } = args;
      if (watched) {
        const recorded = await image.call('debug-watched', { index }, callOptions(context));
        return watchedResult(foundValue(recorded), index, places);
      }
      const data = foundValue(await image.call('last-error', { index }, callOptions(context)));
      return errorResult(data, index, frame, { places, earlierAnswers: context.earlierAnswers });
    },
  });
}

interface Shown {
  places: Places;
  earlierAnswers: EarlierAnswers | undefined;
}

const KEEPING_VALUES =
  'Note: variables without a value were optimized away. Code that is compiled with (declaim (optimize (debug 3))) keeps them.';

function errorResult(
  data: LastErrorData,
  index: number,
  frameNumber: number | undefined,
  shown: Shown,
): Result {
  const { began, total, error } = data;
  if (total === 0) {
    return {
      data,
      text: `No evaluation, compilation or load in this image has signalled an error, and no error has ended another thread. The image began ${unixTimeText(began)}; errors of earlier images are lost.`,
    };
  }
  if (error === undefined) {
    return { data, text: `There is no error ${index}: ${keptText(total)}.` };
  }
  const text =
    frameNumber === undefined
      ? errorText(data, error, index, shown)
      : frameAnswer(error, index, frameNumber, shown.places);
  return { data, text };
}

function keptText(total: number): string {
  return total === 1 ? 'one is kept, with index 0' : `${total} are kept, with the indices 0 to ${total - 1}`;
}

const OPERATIONS: Record<string, string> = {
  evaluate: 'an evaluation',
  'compile-forms': 'a compilation',
  'check-file': 'a compilation',
  macroexpand: 'a macro expansion',
};

function signaller({ operation = '', thread }: KeptError): string {
  return thread === undefined ? (OPERATIONS[operation] ?? 'a load') : `the thread ${thread}`;
}

/** Returns the text for ERROR. If the previous answer contains its message, the text has only further details. */
function errorText(
  data: LastErrorData,
  error: KeptError,
  index: number,
  { places, earlierAnswers }: Shown,
): string {
  const { condition, form, formNumber = 1, file, thread, operation } = error;
  const hint = didYouMean(condition?.near);
  const restarts = (condition?.restarts ?? []).map(({ name, report }) => `${name}: ${report}`);
  // The text of the frames so far, for `withValuesOnce`.
  let above = '';
  const frames = stackLines(stackOf(error), places, (frame, number) => {
    above += frame.call;
    const lines = localLines({ ...frame, locals: withValuesOnce(frame.locals, above) }, number, SHORT);
    above += lines.join('\n');
    return lines;
  });
  const head = `Error: ${condition?.text ?? '(what it reports was not printed to the end)'}\nType: ${error.type}`;
  const restartsText =
    restarts.length > 0 &&
    `Restarts (none was invoked; the ${thread === undefined ? 'call' : 'thread'} was ended):\n${listText(restarts, false)}${moreRestarts(condition ?? {})}`;
  const again = earlierAnswers?.hadBefore(head);
  return joinSections([
    again
      ? `Error: the same as in the previous answer\nType: ${error.type}`
      : `${head}${hint ? `\n${hint}` : ''}`,
    `Signalled ${unixTimeText(error.time)}, ${ageText(Date.now() / 1000 - error.time)} ago, by ${signaller(error)}, in package ${error.package}` +
      (form === undefined && file !== undefined ? `, in ${file}` : ''),
    // The form of an evaluation is in the client's own call.
    form !== undefined &&
      !(again && operation === 'evaluate') &&
      `Form${formNumber > 1 ? ` ${formNumber}` : ''}:\n${indent(form, 2)}`,
    restartsText && !earlierAnswers?.hadBefore(restartsText) && restartsText,
    frames.length > 0 &&
      `Frames, with the locals that their code kept:\n${frames.join('\n')}${moreFrames(condition ?? {})}`,
    hidesLocals(error) && !earlierAnswers?.repeats('keeping values') && KEEPING_VALUES,
    othersText(data, index),
  ]);
}

/** Returns the frames of the error. If the stack was exhausted, they have no local variables, because reading these
 * needs stack. */
function stackOf({ frames, condition }: KeptError): { frames?: KeptFrame[] } {
  return frames === undefined ? (condition ?? {}) : { frames };
}

function hidesLocals(error: KeptError): boolean {
  return (stackOf(error).frames ?? []).some(
    (frame) => 'locals' in frame && frame.locals?.some(({ value }) => value === undefined),
  );
}

/** The `others` are all kept errors by index, so the one that is shown is among them. */
function othersText({ others = [] }: LastErrorData, index: number): string | false {
  const rows = others.flatMap(({ time, type }, position) =>
    position === index ? [] : `${position}: ${unixTimeText(time)} ${type}`,
  );
  return rows.length > 0 && `Other errors (to see one, give index):\n${listText(rows, false)}`;
}

function frameAnswer(error: KeptError, index: number, number: number, places: Places): string {
  const { frames: entries = [] } = stackOf(error);
  const frames = entries.flatMap((entry) => ('call' in entry ? [entry] : []));
  const chosen = frames[number];
  if (chosen) {
    const head = `${number}: ${callText(chosen, places)}`;
    return [head, ...localLines(chosen, number, { value: Number.POSITIVE_INFINITY, locals: 100 })].join('\n');
  }
  const more = error.condition?.moreFrames ?? 0;
  if (more > 0 && number >= frames.length)
    return `Frame ${number} of error ${index} was not kept: only the frames 0 to ${frames.length - 1} were, and ${more} more were left out. A call with on_error: "hold" keeps all frames for debug.`;
  const available =
    frames.length === 0 ? 'no frames were kept of it' : `it has the frames 0 to ${frames.length - 1}`;
  return `There is no frame ${number} of error ${index}: ${available}.`;
}

function localLines({ locals = [], late }: KeptCall, number: number, limits: typeof SHORT): string[] {
  if (late)
    return [
      '       (its arguments and locals were not kept: reading those of the frames above took too long)',
    ];
  const shown = locals.slice(0, limits.locals);
  const lines = shown.flatMap((local) => localText(local, limits.value));
  const without = shown.flatMap(({ name, value }) => (value === undefined ? name : []));
  if (without.length > 0) lines.push(without.join(', '));
  const more = locals.length - shown.length;
  if (more > 0) lines.push(`... (${more} more; frame: ${number} shows all)`);
  return lines.map((line) => `       ${line}`);
}

/** A value with at least this many characters is shown only once in an answer. */
const LONG_VALUE = 40;

/** Returns LOCALS. If the text ABOVE already contains a long value, a remark replaces this value. */
function withValuesOnce(locals: readonly Local[] = [], above: string): Local[] {
  return locals.map(({ value, ...local }) => {
    const again = value !== undefined && value.length >= LONG_VALUE && above.includes(value);
    return { ...local, ...(value !== undefined && { value: again ? '(printed above)' : value }) };
  });
}

function localText({ name, value }: Local, limit: number): string | [] {
  if (value === undefined) return [];
  return `${name} = ${value.length > limit ? `${value.slice(0, limit)} ...` : value}`;
}
