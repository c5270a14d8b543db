// Renders the change of a file for a person, as a unified diff.

import { marked, ownWords, type QuestionLine, questionLine } from '../question-line.ts';
import { type Hunk, hunksBetween } from './line-changes.ts';
import { type FileText, type LineEnds, lineEnds, linesOf, unusualStorage } from './text.ts';

/** Number of characters of a line that a person certainly sees. */
const VISIBLE_LENGTH = 200;
/** A tab is counted as eight columns. */
const TAB = ' '.repeat(8);
/** Maximum number of line numbers in a note about lines that a person might not see completely. */
const NOTE_LIMIT = 10;

/** Returns the hunks of the unified diff from BEFORE to AFTER, with three lines of context, and a summary. */
export function diffHunks(before: string, after: string): { summary: string; text: string } {
  const hunks = hunksOf(before, after);
  return { summary: summaryOf(hunks).text, text: hunksText(hunks) };
}

/** Returns the hunks of the diff. Changes of line ends count only when AFTER mixes line ends, because `storageChange`
 * reports all other changes of line ends. */
function hunksOf(before: string, after: string): Hunk[] {
  const mixed = isMixed(after);
  const [old, updated] = [before, after].map((text) => (mixed ? text : text.replaceAll('\r\n', '\n')));
  return hunksBetween(old ?? '', updated ?? '');
}

function hunksText(hunks: readonly Hunk[]): string {
  return hunks.flatMap((hunk) => [hunkHead(hunk).text, ...hunk.lines]).join('\n');
}

function hunkHead({ oldStart, oldLines, newStart, newLines }: Hunk): QuestionLine {
  return questionLine`@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`;
}

function isMixed(text: string): boolean {
  return lineEnds(text) === 'mixed LF and CRLF';
}

/** Returns the line range in the header of a hunk. For an empty range, the number is that of the line before it. */
function range(start: number, lines: number): QuestionLine {
  return questionLine`${lines === 0 ? start - 1 : start},${lines}`;
}

interface LineCounts {
  added: number;
  removed: number;
}

/** The change of a file, as a person sees it. */
export interface FileDiff {
  /** The number of the first changed line, and the numbers of added and removed lines, as in `line 12, +3 \u22121`. */
  summary: QuestionLine;
  counts: LineCounts;
  /** The lines that are shown first: from the first changed line to the last one. */
  lines: QuestionLine[];
  /** The complete change: the name of the file, changes of its encoding and line ends, and the diff. */
  text: QuestionLine[];
}

/** Returns the change of the file NAME from BEFORE to AFTER. Notes about its encoding and line ends come before the
 * diff. */
export function fileDiffOf(name: string, before: FileText, after: FileText): FileDiff {
  const hunks = hunksOf(before.text, after.text);
  const notes = [
    storageChange(before, after),
    hunks.length === 0 ? questionLine`The lines stay the same.` : undefined,
    sightNote(hunks.flatMap(addedOutOfSight)),
  ].filter((note) => note !== undefined);
  const summary = summaryOf(hunks);
  const lines = hunkLines(hunks);
  return {
    summary,
    counts: countsOf(hunks),
    lines: notes.concat(changedLines(lines)),
    text: [questionLine`File ${name}, ${summary}:`, ...notes].concat(lines),
  };
}

/** Returns a text with the number of changed files, and of their added and removed lines, as in `2 files, +3
 * \u22121`. */
export function filesSummary(changes: readonly FileDiff[]): QuestionLine {
  const sum = (of: keyof LineCounts) => changes.reduce((total, { counts }) => total + counts[of], 0);
  const files = changes.length === 1 ? questionLine`1 file` : questionLine`${changes.length} files`;
  return questionLine`${files}, ${countsText({ added: sum('added'), removed: sum('removed') })}`;
}

/** Returns the member `lines` of all CHANGES, for a question with little space. NAMES are the names of the files. If
 * there are several changes, a line with the name of the file precedes each. */
export function changesLines(changes: readonly FileDiff[], names: readonly string[]): QuestionLine[] {
  return changes.flatMap(({ lines, summary }, index) => [
    // No line of a diff begins with a letter, so a line of a file cannot look like this header.
    ...(changes.length > 1 ? [questionLine`File ${names[index] ?? ''}, ${summary}:`] : []),
    ...lines,
  ]);
}

/** Returns a phrase with the number of the first changed line in HUNKS, and the numbers of added and removed lines. */
function summaryOf(hunks: readonly Hunk[]): QuestionLine {
  const [first] = hunks;
  const counts = countsText(countsOf(hunks));
  if (first === undefined) return counts;
  const changed = first.lines.findIndex((line) => !line.startsWith(' '));
  return questionLine`line ${first.newStart + changed}, ${counts}`;
}

function countsOf(hunks: readonly Hunk[]): LineCounts {
  const counts = { added: 0, removed: 0 };
  for (const { lines } of hunks)
    for (const line of lines) {
      if (line.startsWith('+')) counts.added += 1;
      if (line.startsWith('-')) counts.removed += 1;
    }
  return counts;
}

function countsText({ added, removed }: LineCounts): QuestionLine {
  return questionLine`+${added} \u2212${removed}`;
}

/** Returns the part of LINES, the lines of hunks, from the first changed line to the last one. Leaves out the head of
 * the first hunk, but keeps the heads between hunks. */
function changedLines(lines: readonly QuestionLine[]): QuestionLine[] {
  const isNotContext = ({ text }: QuestionLine) => !text.startsWith(' ');
  const first = lines.findIndex((line, index) => index > 0 && isNotContext(line));
  return lines.slice(first, lines.findLastIndex(isNotContext) + 1);
}

function hunkLines(hunks: readonly Hunk[]): QuestionLine[] {
  return hunks.flatMap((hunk) => [hunkHead(hunk)].concat(hunk.lines.map(markedLine)));
}

/** Returns LINE, a line of a hunk, with its mark: +, - or a space. A line that begins with a backslash is not from the
 * file. In such a line, the diff notes that the file does not end with a newline. */
function markedLine(line: string): QuestionLine {
  if (line.startsWith('\\')) return questionLine`\\ No newline at end of file`;
  return marked(line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : ' ', line.slice(1));
}

/** Returns the line numbers, in the new file, of added lines in HUNK that a person might not see completely. */
function addedOutOfSight({ newStart, lines }: Hunk): number[] {
  const numbers: number[] = [];
  let number = newStart;
  for (const line of lines) {
    if (line.startsWith('+') && isOutOfSight(line.slice(1))) numbers.push(number);
    if (line.startsWith('+') || line.startsWith(' ')) number += 1;
  }
  return numbers;
}

/** Returns true when a person might not see all of LINE, because it is long or ends in white space. */
function isOutOfSight(line: string): boolean {
  // The first test only saves time: a line that fails it is short enough, even if it consists of tabs.
  return (
    (line.length > VISIBLE_LENGTH / TAB.length && line.replaceAll('\t', TAB).length > VISIBLE_LENGTH) ||
    /[ \t]\r?$/.test(line)
  );
}

/** Returns a note about the lines with the numbers OUT_OF_SIGHT, which a person might not see completely. Returns
 * undefined when there are none. */
function sightNote(outOfSight: readonly number[]): QuestionLine | undefined {
  const numbers = outOfSight.slice(0, NOTE_LIMIT).map((number) => questionLine`${number}`);
  if (numbers.length === 0) return undefined;
  if (numbers.length === 1)
    return questionLine`Note: line ${numbers} is longer than ${VISIBLE_LENGTH} characters or ends in white space.`;
  const omitted = outOfSight.length - numbers.length;
  const more = omitted > 0 ? questionLine` and ${omitted} more` : questionLine``;
  return questionLine`Note: lines ${numbers}${more} are longer than ${VISIBLE_LENGTH} characters or end in white space.`;
}

/** Returns the change that creates the file NAME with the content AFTER. */
export function newFileDiff(name: string, after: FileText): FileDiff {
  const change = wholeContentDiff(questionLine`New file ${name}`, after);
  return { ...change, summary: questionLine`new file, ${change.summary}` };
}

/** Returns a change that adds all lines of AFTER, with HEAD above them. It is for a file that did not exist before, or
 * whose earlier text is unknown. */
export function wholeContentDiff(head: QuestionLine, after: FileText): FileDiff {
  const { text } = after;
  // If the line ends of a file are mixed, the CR of a line end is shown by its code, as other control characters are.
  const lines = isMixed(text) ? linesOf(text, '\n') : linesOf(text);
  const count = lines.length === 1 ? questionLine`1 line` : questionLine`${lines.length} lines`;
  const unusual = unusualStorage(after, lineEnds(text), text === '' || text.endsWith('\n')).map(ownWords);
  const about = [count, ...unusual];
  const note = sightNote(lines.flatMap((line, index) => (isOutOfSight(line) ? index + 1 : [])));
  const notes = note === undefined ? [] : [note];
  const content = lines.map((line) => marked('+', line));
  const counts = { added: lines.length, removed: 0 };
  return {
    summary: countsText(counts),
    counts,
    lines: [...notes, ...(unusual.length > 0 ? [questionLine`It has ${about}.`] : [])].concat(content),
    text: [questionLine`${[head, ...about]}:`, ...notes].concat(content),
  };
}

/** Returns a line about the change of the encoding, the byte order mark or the line ends; undefined when these stay the
 * same. Line ends LF are no change in a file that had no line end. */
function storageChange(before: FileText, after: FileText): QuestionLine | undefined {
  const [oldEnds, newEnds] = [lineEnds(before.text), lineEnds(after.text)];
  const endsChange = newEnds !== undefined && newEnds !== (oldEnds ?? 'LF');
  if (!endsChange && before.encoding === after.encoding && before.bom === after.bom) return undefined;
  // Line ends that stay the same are left out.
  const was = storageOf(before, endsChange ? (oldEnds ?? 'no line end') : undefined);
  const becomes = storageOf(after, endsChange ? newEnds : undefined);
  return questionLine`Stored as ${was}; becomes ${becomes}.`;
}

function storageOf({ encoding, bom }: FileText, ends: LineEnds | 'no line end'): QuestionLine {
  const parts = [
    ownWords(encoding),
    ...(bom ? [questionLine`byte order mark`] : []),
    ...(ends === undefined ? [] : [ownWords(ends)]),
  ];
  return questionLine`${parts}`;
}
