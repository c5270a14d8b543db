// Renders the errors that `debug` has recorded for its parameter `watch`.

import type { WatchedData, WatchedError } from '../../image/wire/operations.ts';
import { joinSections, listText } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import type { Places } from '../places.ts';
import { stackLines } from '../stack.ts';
import { ageText } from '../times.ts';

/** Returns the result for the recorded error number INDEX in DATA. Number 0 is the newest. PLACES finds the source
 * places of its frames. */
export function watchedResult(data: WatchedData, index: number, places: Places): Result {
  const { error, others = [], now } = data;
  if (error === undefined) return { data, text: noneText(data, index) };
  const rows = others
    .map(({ time, type, thread }, at) => ({
      at,
      text: `${at}: ${ageText(now - time)} ago, ${type} in ${thread}`,
    }))
    .filter(({ at }) => at !== index)
    .slice(0, 10)
    .map(({ text }) => text);
  const text = joinSections([
    recordedText(error, now, places),
    rows.length > 0 &&
      `Other recorded errors (index shows them):\n${listText(rows, others.length > rows.length + 1)}`,
  ]);
  return { data, text };
}

function recordedText(error: WatchedError, now: number, places: Places): string {
  const { text, type, time, thread } = error;
  const frames = stackLines(error, places);
  return joinSections([
    `Signalled ${ageText(now - time)} ago in the thread ${thread}: ${text}\nType: ${type}`,
    frames.length > 0 && `Frames:\n${frames.join('\n')}`,
  ]);
}

function noneText({ watching, others = [], seen }: WatchedData, index: number): string {
  if (others.length > 0)
    return `There is no recorded error ${index}: ${others.length} are kept; the newest has index 0.`;
  return watching === undefined
    ? 'No error is recorded, because no watch is set. debug with watch: "all" sets one.'
    : `No error was recorded since the watch of ${watching} began (${seen} seen).`;
}
