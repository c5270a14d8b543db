// Decides how the change of a file is shown: as a unified diff.

import { structuredPatch } from 'diff';
import { visibleName } from '../visible.ts';
import { type FileText, lineEnds, linesOf } from './text.ts';

/** Milliseconds after which two texts are too different to be compared. */
const DIFF_MS = 2000;

/** Returns the hunks of the unified diff from BEFORE to AFTER with three lines of context; undefined when the two
 *  are too different to tell. Line ends are not compared. */
export function diffHunks(before: string, after: string): string | undefined {
  const [old, young] = [before, after].map((text) => text.replaceAll('\r\n', '\n'));
  const patch = structuredPatch('', '', old ?? '', young ?? '', '', '', { context: 3, timeout: DIFF_MS });
  return patch?.hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [`@@ -${rangeText(oldStart, oldLines)} +${rangeText(newStart, newLines)} @@`, ...lines].join('\n'),
    )
    .join('\n');
}

/** Returns the range of a hunk: of no lines, it names the line before. */
function rangeText(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/** Returns the unified diff of the file NAME, and in a line before it how its encoding or line ends change. */
export function unifiedDiff(name: string, before: FileText, after: FileText): string {
  const hunks = diffHunks(before.text, after.text);
  const shown = visibleName(name);
  return [
    storageChange(before, after),
    `--- ${shown}\n+++ ${shown}`,
    hunks ?? `The two are too different for a diff. The new content:\n${addedLines(after.text)}`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** Returns how AFTER is shown when there is nothing to compare it with, below HEAD, which says so. */
export function wholeContent(head: string, after: FileText): string {
  const lines = linesOf(after.text).length;
  return `${head}, ${lines} ${lines === 1 ? 'line' : 'lines'}:\n\n${addedLines(after.text)}`;
}

/** Marks each line, so that none can be taken for a part of what stands around them. */
function addedLines(text: string): string {
  return linesOf(text)
    .map((line) => `+${line}`)
    .join('\n');
}

function storageChange(before: FileText, after: FileText): string | undefined {
  const ends = [before, after].map(({ text }) => lineEnds(text));
  const [was, becomes] = [before, after].map(({ encoding, bom }, index) =>
    [encoding, bom && 'byte order mark', ends.includes(undefined) ? undefined : ends[index]]
      .filter(Boolean)
      .join(', '),
  );
  return was === becomes || before.text === '' ? undefined : `Stored as ${was}; becomes ${becomes}.`;
}
