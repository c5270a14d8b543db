// Lists held errors and threads, and starts and stops the recording of errors.

import { CallError } from '../../errors.ts';
import type { HeldRow, ThreadData } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { callOptions } from '../calling.ts';
import { foundValue } from '../lookup.ts';
import type { Places } from '../places.ts';
import { stackLines } from '../stack.ts';
import type { DebugDependencies } from './held.ts';
import { heldAbove } from './hold.ts';
import { showHeld } from './looking.ts';

/** Returns the list of held errors. If there is only one, and it is held because `watch` requested it, the answer also
 * shows the error itself, unless an earlier answer did. */
export async function listHeld(dependencies: DebugDependencies): Promise<Result> {
  const { image, holds, context } = dependencies;
  const { held = [] } = foundValue(await image.call('debug-list', {}, callOptions(context)));
  const own = held.filter(({ heldBy }) => heldBy === undefined);
  const others = held.filter(({ heldBy }) => heldBy !== undefined);
  for (const { error } of own) holds.recordNumber(error);
  const text = joinSections([
    own.length === 0
      ? 'This session holds no error. A call with on_error: "hold" holds its error.'
      : `Held errors (${own.length}):\n${own.map(heldText).join('\n')}`,
    others.length > 0 &&
      `Held by other servers of this image (only those can use or end them):\n${others.map(heldText).join('\n')}`,
  ]);
  const [only] = held;
  if (held.length !== 1 || only?.thread === undefined || only.heldBy !== undefined)
    return { data: { held }, text };
  if (context.earlierAnswers?.repeats('only held error', String(only.error))) return { data: { held }, text };
  const shown = await showHeld({ ...dependencies, error: only.error, args: {} });
  return { data: { held }, text: joinSections([text, shown.text]) };
}

function heldText({ error, type, thread, heldBy, seconds }: HeldRow): string {
  const where = thread === undefined ? '' : ` in the thread ${thread}`;
  return `  ${error}: ${type}${where}, held${heldBy === undefined ? '' : ` by ${heldBy}`} until ${seconds} s pass without a use`;
}

/** Returns the stack of the thread NAME, and the lock that the thread waits for. */
export async function showThread(
  { image, context, places }: DebugDependencies,
  name: string,
): Promise<Result> {
  const data = foundValue(await image.call('debug-thread', { name }, callOptions(context)));
  if (data.thread === undefined) {
    const { threads = [], found = 0 } = data;
    const what =
      found === 0
        ? `There is no thread ${name}`
        : `${name} matches ${found} threads; give the full name of one`;
    return {
      data,
      text: `${what}. Threads:\n${threads.map((threadName) => `  ${threadName}`).join('\n')}`,
      absent: true,
    };
  }
  return { data, text: threadText(data, places) };
}

function threadText(data: ThreadData, places: Places): string {
  const { thread, silent, waitsFor } = data;
  const lines = stackLines(data, places);
  return joinSections([
    `Thread ${thread}${lockText(waitsFor)}`,
    silent && 'Its frames could not be read within 1 s: it runs with interrupts off, or in foreign code.',
    lines.length > 0 ? lines.join('\n') : !silent && 'It runs no code of the program.',
  ]);
}

function lockText(waitsFor: ThreadData['waitsFor']): string {
  if (waitsFor === undefined) return '';
  const { name, owner } = waitsFor;
  return ` waits for the lock "${name}"${owner === undefined ? '' : `, which the thread ${owner} has`}`;
}

/** Starts to record errors of `type` in WHERE: in all threads, in one thread, or in functions of a package. With
 * `hold`, these errors are also held. */
export async function watchErrors(
  { image, context, holds }: DebugDependencies,
  where: string,
  { type, hold }: { type?: string; hold?: boolean },
): Promise<Result> {
  if (where.trim() === '') {
    throw new CallError(
      'Parameter \'watch\' is empty, so nothing was done. Give the name of a thread or package, or "all"; unwatch: true ends a watch.',
    );
  }
  const args = {
    where,
    ...(type && { type }),
    ...(hold && { holdSeconds: holds.seconds, ...heldAbove(holds) }),
  };
  const data = foundValue(await image.call('debug-watch', args, callOptions(context)));
  if (data.noType !== undefined) {
    throw new CallError(
      `${data.noType} is not a condition type; nothing was done. Write it with its package, such as app:shop-error.`,
    );
  }
  const whose = where === 'all' ? 'in all threads' : `in ${where}`;
  const how = context.earlierAnswers?.repeats('watch')
    ? ''
    : ' when signalled, even if handled; get_last_error with watched: true shows them';
  const listed =
    hold && context.earlierAnswers?.repeats('watch that holds') ? '' : '; debug without arguments lists them';
  const held = hold
    ? ` Each stops its thread until ${holds.seconds} s after the last use of debug${listed}.`
    : '';
  const what = data.type === undefined ? 'Errors' : `Conditions of type ${data.type}`;
  const text = `${what} ${whose} are recorded${how}.${held}`;
  const unknown =
    data.unknown &&
    `Note: no thread or package is named ${where} now; unwatch: true ends the watch, and watch: "all" covers all threads.`;
  return { data, text: joinSections([text, unknown]) };
}

/** Stops the recording of errors. Returns a result with the number of errors that were recorded. */
export async function unwatchErrors({ image, context }: DebugDependencies): Promise<Result> {
  const data = foundValue(await image.call('debug-watch', { off: true }, callOptions(context)));
  const { watched = 0 } = data;
  const recordedText = watched === 1 ? '1 was' : `${watched} were`;
  return {
    data,
    text: `Errors are no longer recorded; ${recordedText} seen by the watch. Held errors stay held.`,
  };
}
