// Decides how the change of a file is shown: as a unified diff.

import { marked, ownWords, QuestionLine, questionLine } from '../question-line.ts';
import { type Hunk, hunksBetween } from './line-changes.ts';
import { type FileText, lineEnds, linesOf, unusualStorage } from './text.ts';

/** Characters of a line that a person surely sees. */
const LONG = 200;
/** What a tab takes of that. */
const TAB = ' '.repeat(8);
/** Lines with more that are named. */
const TOLD = 10;

/** Returns the hunks of the unified diff from BEFORE to AFTER with three lines of context. */
export function diffHunks(before: string, after: string): { summary: string; text: string } {
  const hunks = hunksOf(before, after);
  return { summary: summaryOf(hunks).text, text: hunksText(hunks) };
}

/** Line ends are compared where AFTER has mixed ones, which no other text tells. */
function hunksOf(before: string, after: string): Hunk[] {
  const mixed = isMixed(after);
  const [old, young] = [before, after].map((text) => (mixed ? text : text.replaceAll('\r\n', '\n')));
  return hunksBetween(old ?? '', young ?? '');
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

/** Returns the range of a hunk: of no lines, it names the line before. */
function range(start: number, lines: number): QuestionLine {
  return questionLine`${lines === 0 ? start - 1 : start},${lines}`;
}

/** How many lines come and go. */
interface LineCounts {
  added: number;
  removed: number;
}

/** How a person is shown what becomes of a file. */
export interface Change {
  /** Where it changes and by how many lines, as in `line 12, +3 \u22121`. */
  summary: QuestionLine;
  counts: LineCounts;
  /** What to show first: its lines from the first that changes to the last. */
  lines: QuestionLine[];
  /** The whole of it: the file, what else changes, and the diff. */
  text: QuestionLine[];
}

/** Returns the change of the file NAME: its diff, and before it how its encoding or line ends change. */
export function changeOf(name: string, before: FileText, after: FileText): Change {
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

/** Returns how many files CHANGES are, and how many lines come and go in all of them, as in `2 files, +3 \u22121`. */
export function filesSummary(changes: readonly Change[]): QuestionLine {
  const sum = (of: keyof LineCounts) => changes.reduce((total, { counts }) => total + counts[of], 0);
  const files = changes.length === 1 ? questionLine`1 file` : questionLine`${changes.length} files`;
  return questionLine`${files}, ${countsText({ added: sum('added'), removed: sum('removed') })}`;
}

/** Returns what to show first of CHANGES, which are of the files NAMES: each below its name, where they are several. */
export function changesLines(changes: readonly Change[], names: readonly string[]): QuestionLine[] {
  return changes.flatMap(({ lines, summary }, index) => [
    // No line of a diff begins with a letter.
    ...(changes.length > 1 ? [questionLine`File ${names[index] ?? ''}, ${summary}:`] : []),
    ...lines,
  ]);
}

/** Returns where HUNKS begin to change the file, and how many lines they add and remove. */
function summaryOf(hunks: readonly Hunk[]): QuestionLine {
  const [first] = hunks;
  const counts = countsText(countsOf(hunks));
  if (first === undefined) return counts;
  const changed = first.lines.findIndex((line) => !line.startsWith(' '));
  return questionLine`line ${Math.max(1, first.newStart) + changed}, ${counts}`;
}

function countsOf(hunks: readonly Hunk[]): LineCounts {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const marked = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  return { added: marked('+'), removed: marked('-') };
}

function countsText({ added, removed }: LineCounts): QuestionLine {
  return questionLine`+${added} \u2212${removed}`;
}

/** Returns what is in LINES, those of hunks, from the first line that changes to the last. What stands between tells which is
 *  where. */
function changedLines(lines: readonly QuestionLine[]): QuestionLine[] {
  const changes = ({ text }: QuestionLine) => !text.startsWith(' ');
  const first = lines.findIndex((line, index) => index > 0 && changes(line));
  return lines.slice(first, lines.findLastIndex(changes) + 1);
}

/** Returns HUNKS as a person is shown them. */
function hunkLines(hunks: readonly Hunk[]): QuestionLine[] {
  return hunks.flatMap((hunk) => [hunkHead(hunk), ...hunk.lines.map(markedLine)]);
}

/** Returns LINE of a hunk. The diff makes lines of its own that begin with a backslash. */
function markedLine(line: string): QuestionLine {
  if (line.startsWith('\\')) return questionLine`\\ No newline at end of file`;
  return marked(line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : ' ', line.slice(1));
}

/** Returns the numbers of the lines that HUNK adds and that may hold more than is seen. */
function addedOutOfSight({ newStart, lines }: Hunk): number[] {
  const numbers: number[] = [];
  let number = newStart;
  for (const line of lines) {
    if (line.startsWith('+') && isOutOfSight(line.slice(1))) numbers.push(number);
    if (line.startsWith('+') || line.startsWith(' ')) number += 1;
  }
  return numbers;
}

/** Returns whether LINE may hold more than is seen. */
function isOutOfSight(line: string): boolean {
  return (
    (line.length > LONG / TAB.length && line.replaceAll('\t', TAB).length > LONG) || /[ \t]\r?$/.test(line)
  );
}

/** Returns the sentence that points to the lines OUT_OF_SIGHT, by their numbers. */
function sightNote(outOfSight: readonly number[]): QuestionLine | undefined {
  const numbers = outOfSight.slice(0, TOLD).map((number) => questionLine`${number}`);
  if (numbers.length === 0) return undefined;
  if (numbers.length === 1)
    return questionLine`Note: line ${numbers} is longer than ${LONG} characters or ends in white space.`;
  const left = outOfSight.length - numbers.length;
  const more = left > 0 ? questionLine` and ${left} more` : questionLine``;
  return questionLine`Note: lines ${numbers}${more} are longer than ${LONG} characters or end in white space.`;
}

/** Returns the change that makes the file NAME with the text AFTER. */
export function newFile(name: string, after: FileText): Change {
  const change = wholeContent(questionLine`New file ${name}`, after);
  return { ...change, summary: questionLine`new file, ${change.summary}` };
}

/** Returns the change to AFTER of what there is nothing to compare with, below HEAD, which says so. */
export function wholeContent(head: QuestionLine, after: FileText): Change {
  const { text } = after;
  // In mixed ones, a CR before a line end is shown as any other control character.
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

function storageChange(before: FileText, after: FileText): QuestionLine | undefined {
  const ends = lineEnds(after.text);
  const old = lineEnds(before.text);
  const endsChange = ends !== undefined && ends !== (old ?? 'LF');
  const [was, becomes] = [
    { ...before, ends: old ?? ('no line end' as const) },
    { ...after, ends },
  ].map(
    ({ encoding, bom, ends }) =>
      questionLine`${[ownWords(encoding), bom && questionLine`byte order mark`, endsChange && ends && ownWords(ends)].filter((part) => part instanceof QuestionLine)}`,
  );
  return was?.text === becomes?.text
    ? undefined
    : questionLine`Stored as ${was ?? ''}; becomes ${becomes ?? ''}.`;
}
