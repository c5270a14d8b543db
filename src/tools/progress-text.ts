// Renders the progress of a call that runs.

import type { Progress } from '../image/wire/call.ts';
import { printable } from '../kernel/schema.ts';
import { secondsText } from './endings.ts';

/** Garbage collection that took less than this many milliseconds is not shown. */
const COLLECTED_LEAST_MS = 50;

/** Returns PROGRESS as one line. */
export function progressText(progress: Progress): string {
  const { milliseconds, waiting, building, file, silentMs } = progress;
  const parts = [
    secondsText(milliseconds),
    collectedText(progress),
    building ?? (waiting !== undefined && waitingText(waiting)),
    silentMs !== undefined &&
      `the image has not responded for ${secondsText(silentMs)}; it may be collecting garbage`,
    file,
    ...outputTexts(progress),
  ];
  return parts.filter(Boolean).join(', ');
}

function waitingText(waiting: NonNullable<Progress['waiting']>): string {
  if (waiting === 'start') return 'waiting for the Lisp image to start';
  if (waiting === 'compiler') return 'compiling the backend, once for this SBCL';
  const { running, waiting: before } = waiting;
  const run = running === 1 ? '1 call that runs' : `${running} calls that run`;
  if (before === 0) return `waiting behind ${run}`;
  return `waiting behind ${run} and ${before} that ${before === 1 ? 'waits' : 'wait'}`;
}

/** Returns a phrase for the time that garbage collection took; false when it was short. */
export function collectedText({
  collectedMilliseconds = 0,
}: Pick<Progress, 'collectedMilliseconds'>): string | false {
  return (
    collectedMilliseconds >= COLLECTED_LEAST_MS &&
    `${secondsText(collectedMilliseconds)} of it collecting garbage`
  );
}

/** Returns phrases about the output so far; [] when there is none. */
export function outputTexts({
  characters = 0,
  lastLine,
}: Pick<Progress, 'characters' | 'lastLine'>): string[] {
  if (characters === 0) return [];
  const count = `${characters} ${characters === 1 ? 'character' : 'characters'} of output`;
  return lastLine === undefined ? [count] : [count, `last line: ${printable(lastLine)}`];
}
