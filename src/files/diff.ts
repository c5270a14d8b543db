// Decides how the change of a file is shown: as a unified diff.

import { type StructuredPatchHunk, structuredPatch } from 'diff';
import { visibleName } from '../visible.ts';
import { type FileText, lineEnds, linesOf, unusualStorage } from './text.ts';

/** Milliseconds after which two texts are too different to be compared. */
const DIFF_MS = 2000;
/** Characters of a line that a person surely sees. */
const LONG = 200;
/** Lines with more that are named. */
const TOLD = 10;

/** Returns the hunks of the unified diff from BEFORE to AFTER with three lines of context; undefined when the two
 *  are too different to tell. */
export function diffHunks(before: string, after: string): string | undefined {
  const hunks = hunksOf(before, after);
  return hunks && hunksText(hunks);
}

/** Line ends are compared where AFTER has mixed ones, which no other text tells. */
function hunksOf(before: string, after: string): StructuredPatchHunk[] | undefined {
  const mixed = isMixed(after);
  const [old, young] = [before, after].map((text) => (mixed ? text : text.replaceAll('\r\n', '\n')));
  const patch = structuredPatch('', '', old ?? '', young ?? '', '', '', { context: 3, timeout: DIFF_MS });
  return patch?.hunks;
}

function hunksText(hunks: readonly StructuredPatchHunk[]): string {
  return hunks
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
  const hunks = hunksOf(before.text, after.text);
  const shown = visibleName(name);
  return [
    storageChange(before, after),
    hunks?.length === 0 && 'The lines stay the same.',
    hunks && outOfSight(hunks.flatMap(addedLines)),
    `--- ${shown}\n+++ ${shown}`,
    hunks ? hunksText(hunks) : wholeContent('The two are too different for a diff. The new content', after),
  ]
    .filter(Boolean)
    .join('\n');
}

function addedLines({ newStart, lines }: StructuredPatchHunk): [number: number, line: string][] {
  return lines
    .filter((line) => /^[ +]/.test(line))
    .map((line, index): [number, string] => [newStart + index, line])
    .filter(([, line]) => line.startsWith('+'))
    .map(([number, line]) => [number, line.slice(1)]);
}

/** Returns the sentence that points to those of LINES, with their numbers, that may hold more than is seen. */
function outOfSight(lines: readonly [number: number, line: string][]): string | undefined {
  const numbers = lines
    .filter(([, line]) => line.length > LONG || /[ \t]\r?$/.test(line))
    .map(([number]) => number);
  const more = numbers.length > TOLD ? ` and ${numbers.length - TOLD} more` : '';
  const which = numbers.slice(0, TOLD).join(', ') + more;
  if (numbers.length === 0) return undefined;
  if (numbers.length === 1)
    return `Note: line ${which} is longer than ${LONG} characters or ends in white space.`;
  return `Note: lines ${which} are longer than ${LONG} characters or end in white space.`;
}

/** Returns how AFTER is shown when there is nothing to compare it with, below HEAD, which says so. */
export function wholeContent(head: string, after: FileText): string {
  const { text } = after;
  // In mixed ones, a CR before a line end is shown as any other control character.
  const lines = isMixed(text) ? linesOf(text, '\n') : linesOf(text);
  const count = `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`;
  const about = [head, count, ...unusualStorage(after, lineEnds(text), text === '' || text.endsWith('\n'))];
  const note = outOfSight(lines.map((line, index) => [index + 1, line]));
  // Each line is marked, so that none can be taken for a part of what stands around them.
  return `${note ? `${note}\n` : ''}${about.join(', ')}:\n\n${lines.map((line) => `+${line}`).join('\n')}`;
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
