// Decides how the change of a file is shown: as a unified diff.

import { structuredPatch } from 'diff';
import { visibleName } from '../visible.ts';
import { type FileText, lineEnds, linesOf, unusualStorage } from './text.ts';

/** Milliseconds after which two texts are too different to be compared. */
const DIFF_MS = 2000;

/** Returns the hunks of the unified diff from BEFORE to AFTER with three lines of context; undefined when the two
 *  are too different to tell. Line ends are compared where AFTER has mixed ones, which no other text tells. */
export function diffHunks(before: string, after: string): string | undefined {
  const mixed = isMixed(after);
  const [old, young] = [before, after].map((text) => (mixed ? text : text.replaceAll('\r\n', '\n')));
  const patch = structuredPatch('', '', old ?? '', young ?? '', '', '', { context: 3, timeout: DIFF_MS });
  return patch?.hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [`@@ -${rangeText(oldStart, oldLines)} +${rangeText(newStart, newLines)} @@`, ...lines].join('\n'),
    )
    .join('\n');
}

function isMixed(text: string): boolean {
  return lineEnds(text) === 'mixed LF and CRLF';
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
    hunks === '' && 'The lines stay the same.',
    `--- ${shown}\n+++ ${shown}`,
    hunks ?? wholeContent('The two are too different for a diff. The new content', after),
  ]
    .filter(Boolean)
    .join('\n');
}

/** Returns how AFTER is shown when there is nothing to compare it with, below HEAD, which says so. */
export function wholeContent(head: string, after: FileText): string {
  const { text } = after;
  // In mixed ones, a CR before a line end is shown as any other control character.
  const lines = isMixed(text) ? linesOf(text, '\n') : linesOf(text);
  const count = `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`;
  const about = [head, count, ...unusualStorage(after, lineEnds(text), text === '' || text.endsWith('\n'))];
  // Each line is marked, so that none can be taken for a part of what stands around them.
  return `${about.join(', ')}:\n\n${lines.map((line) => `+${line}`).join('\n')}`;
}

function storageChange(before: FileText, after: FileText): string | undefined {
  const ends = lineEnds(after.text);
  const old = lineEnds(before.text);
  const endsChange = ends !== undefined && ends !== (old ?? 'LF');
  const [was, becomes] = [
    { ...before, ends: old ?? 'no line end' },
    { ...after, ends },
  ].map(({ encoding, bom, ends }) =>
    [encoding, bom && 'byte order mark', endsChange && ends].filter(Boolean).join(', '),
  );
  return was === becomes ? undefined : `Stored as ${was}; becomes ${becomes}.`;
}
