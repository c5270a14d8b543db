// Computes a line diff of two texts.

import { type StructuredPatchHunk, structuredPatch } from 'diff';

/** A hunk of a unified diff: changed lines with their context, each line with its mark in front. */
export type Hunk = StructuredPatchHunk;

/** The diff shows this below a last line without a line break. */
const NOT_ENDED = '\\ No newline at end of file';

/** Lines of context around a change. */
const CONTEXT = 3;

/** Up to this many changed lines, a minimal diff is searched for: the time grows with their square. */
const MOST_CHANGES = 1000;

/** Returns the hunks of the unified diff from BEFORE to AFTER. It is minimal; but when more than MOST_CHANGES lines come
 *  or go, one hunk has all lines from the first changed one to the last as going and coming. */
export function hunksBetween(before: string, after: string): Hunk[] {
  const bounds = { context: CONTEXT, maxEditLength: MOST_CHANGES };
  return structuredPatch('', '', before, after, '', '', bounds)?.hunks ?? [replacing(before, after)];
}

/** Returns the hunk that replaces the lines of BEFORE from the first that AFTER changes to the last. */
function replacing(before: string, after: string): Hunk {
  const [old, young] = [piecesOf(before), piecesOf(after)];
  const shorter = Math.min(old.length, young.length);
  let head = 0;
  while (head < shorter && old[head] === young[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === young.at(-1 - tail)) tail++;
  const start = Math.max(0, head - CONTEXT);
  const left = Math.max(0, tail - CONTEXT);
  return {
    oldStart: start + 1,
    oldLines: old.length - left - start,
    newStart: start + 1,
    newLines: young.length - left - start,
    lines: [
      ...markedLines(' ', old.slice(start, head)),
      ...markedLines('-', old.slice(head, old.length - tail)),
      ...markedLines('+', young.slice(head, young.length - tail)),
      ...markedLines(' ', old.slice(old.length - tail, old.length - left)),
    ],
  };
}

/** Returns the lines of TEXT with their line ends. */
function piecesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Returns LINES without their line ends, each with MARK in front. */
function markedLines(mark: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, NOT_ENDED],
  );
}
