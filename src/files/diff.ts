// Decides how the change of a file is shown: as a unified diff.

import { type StructuredPatchHunk, structuredPatch } from 'diff';
import { visibleName } from '../visible.ts';
import { type FileText, lineEnds, linesOf, unusualStorage } from './text.ts';

/** Lines that come or go, and milliseconds, beyond which two texts are too different to be compared: the time grows with the
 *  square of the lines. */
const DIFF_LINES = 2000;
const DIFF_MS = 2000;
/** Characters of a line that a person surely sees. */
const LONG = 200;
/** What a tab takes of that. */
const TAB = ' '.repeat(8);
/** Lines with more that are named. */
const TOLD = 10;

/** Returns the hunks of the unified diff from BEFORE to AFTER with three lines of context; undefined when the two
 *  are too different to tell. */
export function diffHunks(before: string, after: string): { summary: string; text: string } | undefined {
  const hunks = hunksOf(before, after);
  return hunks && { summary: summaryOf(hunks), text: hunksText(hunks) };
}

/** Line ends are compared where AFTER has mixed ones, which no other text tells. */
function hunksOf(before: string, after: string): StructuredPatchHunk[] | undefined {
  const mixed = isMixed(after);
  const [old, young] = [before, after].map((text) => (mixed ? text : text.replaceAll('\r\n', '\n')));
  const patch = structuredPatch('', '', old ?? '', young ?? '', '', '', {
    context: 3,
    timeout: DIFF_MS,
    maxEditLength: DIFF_LINES,
  });
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

/** How many lines come and go. */
interface LineCounts {
  added: number;
  removed: number;
}

/** How a person is shown what becomes of a file. */
export interface Change {
  /** Where it changes and by how many lines, as in `line 12, +3 \u22121`. */
  summary: string;
  counts: LineCounts;
  /** What to show first: all of the change where it is small, else its lines from the first that changes on. */
  lines: string[];
  /** The whole of it: the file, what else changes, and the unified diff. */
  text: string;
}

/** Lines of a change that can be shown without what stands around them. */
const FEW = 2;

/** Returns the change of the file NAME: its unified diff, and before it how its encoding or line ends change. */
export function changeOf(name: string, before: FileText, after: FileText): Change {
  const hunks = hunksOf(before.text, after.text);
  if (hunks === undefined) {
    return wholeContent(
      `${visibleName(name)}, too different for a diff, becomes`,
      after,
      linesOf(before.text).length,
    );
  }
  const notes = [
    storageChange(before, after),
    hunks.length === 0 ? 'The lines stay the same.' : undefined,
    outOfSight(hunks.flatMap(addedLines)),
  ].filter((note) => note !== undefined);
  const shown = visibleName(name);
  const text = [...notes, `--- ${shown}\n+++ ${shown}`, hunksText(hunks)].filter(Boolean).join('\n');
  return {
    summary: summaryOf(hunks),
    counts: countsOf(hunks),
    lines: [...notes, ...firstLines(hunks)],
    text,
  };
}

/** Returns how many files CHANGES are, and how many lines come and go in all of them, as in `2 files, +3 \u22121`. */
export function filesSummary(changes: readonly Change[]): string {
  const sum = (of: keyof LineCounts) => changes.reduce((total, { counts }) => total + counts[of], 0);
  const files = `${changes.length} ${changes.length === 1 ? 'file' : 'files'}`;
  return `${files}, ${countsText({ added: sum('added'), removed: sum('removed') })}`;
}

/** Returns what to show first of CHANGES, which are of the files NAMES: each below its name, where they are several. */
export function changesLines(changes: readonly Change[], names: readonly string[]): string[] {
  return changes.flatMap(({ lines }, index) => [
    ...(changes.length > 1 ? [`+++ ${visibleName(names[index] ?? '')}`] : []),
    ...lines,
  ]);
}

/** Returns where HUNKS begin to change the file, and how many lines they add and remove. */
function summaryOf(hunks: readonly StructuredPatchHunk[]): string {
  const [first] = hunks;
  const changed = first?.lines.findIndex((line) => !line.startsWith(' ')) ?? 0;
  const where = first === undefined ? '' : `line ${Math.max(1, first.newStart) + changed}, `;
  return where + countsText(countsOf(hunks));
}

function countsOf(hunks: readonly StructuredPatchHunk[]): LineCounts {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const marked = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  return { added: marked('+'), removed: marked('-') };
}

function countsText({ added, removed }: LineCounts): string {
  return `+${added} \u2212${removed}`;
}

/** Returns the lines that change when they are few, else all of HUNKS from the first that changes on. */
function firstLines(hunks: readonly StructuredPatchHunk[]): string[] {
  const lines = hunksText(hunks).split('\n').slice(1);
  const first = lines.findIndex((line) => !line.startsWith(' '));
  const last = lines.findLastIndex((line) => !line.startsWith(' '));
  // Lines that change apart from each other say nothing without what stands between.
  return last - first < FEW ? lines.slice(first, last + 1) : lines.slice(first);
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
    .filter(([, line]) => line.replaceAll('\t', TAB).length > LONG || /[ \t]\r?$/.test(line))
    .map(([number]) => number);
  const more = numbers.length > TOLD ? ` and ${numbers.length - TOLD} more` : '';
  const which = numbers.slice(0, TOLD).join(', ') + more;
  if (numbers.length === 0) return undefined;
  if (numbers.length === 1)
    return `Note: line ${which} is longer than ${LONG} characters or ends in white space.`;
  return `Note: lines ${which} are longer than ${LONG} characters or end in white space.`;
}

/** Returns the change that makes the file NAME with the text AFTER. */
export function newFile(name: string, after: FileText): Change {
  const change = wholeContent(`New file ${visibleName(name)}`, after);
  return { ...change, summary: `new file, ${change.summary}` };
}

/** Returns the change to AFTER of what there is nothing to compare with, below HEAD, which says so. REMOVED lines go. */
export function wholeContent(head: string, after: FileText, removed = 0): Change {
  const { text } = after;
  // In mixed ones, a CR before a line end is shown as any other control character.
  const lines = isMixed(text) ? linesOf(text, '\n') : linesOf(text);
  const count = `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`;
  const about = [count, ...unusualStorage(after, lineEnds(text), text === '' || text.endsWith('\n'))];
  const note = outOfSight(lines.map((line, index) => [index + 1, line]));
  const notes = [note, about.length > 1 ? `It has ${about.join(', ')}.` : undefined].filter(
    (each) => each !== undefined,
  );
  // Each line is marked, so that none can be taken for a part of what stands around them.
  const marked = lines.map((line) => `+${line}`);
  const counts = { added: lines.length, removed };
  return {
    summary: countsText(counts),
    counts,
    lines: [...notes, ...marked],
    text: `${note ? `${note}\n` : ''}${[head, ...about].join(', ')}:\n\n${marked.join('\n')}`,
  };
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
