// Shows a directory in one answer: its files as far as they fit, or only a list when few fit.

import { messageOf } from '../../errors.ts';
import type { Budget } from '../../files/budget.ts';
import { boundLines, fittingRows, joinSections, listText } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { visibleName } from '../../visible.ts';
import type { TextBuffer } from './buffers.ts';

/** The text of a file, or why it is not shown. */
type Shown = Result & { data: object };

/** At most this many characters of text are kept: for one answer, and for code, whose result need not fit into one. */
const KEPT = 80_000;
const KEPT_FOR_CODE = 8_000_000;

/** The directory, and whether code reads the data (WHOLE). */
interface Asked {
  path: string;
  whole: boolean;
}

/** Returns the answer with FILES of a directory, each rendered by SHOW, until BUDGET is used up. */
export async function folderResult(
  { path, whole }: Asked,
  files: AsyncIterable<TextBuffer>,
  show: (file: TextBuffer) => Promise<Shown>,
  budget: Budget,
): Promise<Result> {
  const read: Shown[] = [];
  let length = 0;
  for await (const file of files) {
    budget.exceeded ||= budget.leftMs() < 0 || (whole && length > KEPT_FOR_CODE);
    if (budget.exceeded) break;
    const shown = await show(file).catch((error: unknown) => notShown(file.name, error));
    length += shown.text.length;
    read.push(length <= KEPT || whole ? shown : headOf(shown));
  }
  const stopped = budget.exceeded === true;
  return {
    data: { path, complete: !stopped, files: read.map(({ data }) => data) },
    text: joinSections([
      folderText(path, read, { long: length > KEPT, stopped }),
      stopped && 'Note: not all files were looked at, as there are too many. Name a directory in this one.',
    ]),
  };
}

function notShown(name: string, error: unknown): Shown {
  const reason = messageOf(error);
  return { data: { path: name, reason }, text: reason };
}

/** Returns SHOWN with only its first line, and data without the file's text. */
function headOf({ data, text }: Shown): Shown {
  return { data: { ...data, text: undefined }, text: text.split('\n', 1)[0] ?? '' };
}

function folderText(
  path: string,
  read: readonly Shown[],
  { long, stopped }: { long: boolean; stopped: boolean },
): string {
  const least = stopped ? 'at least ' : '';
  const head = `${visibleName(path)} has ${least}${read.length} ${read.length === 1 ? 'file' : 'files'}`;
  const texts = read.map(({ text }) => text);
  const fitting = long ? [] : fittingTexts(`${head}.`, read);
  if (2 * lengthOf(fitting) >= lengthOf(texts)) return joinSections(fitting);
  const rows = fittingRows(read.map((shown) => headOf(shown).text));
  const more = read.length - rows.length;
  return joinSections([
    `${head}, too long for one answer:`,
    listText(rows, more > 0),
    more > 0 &&
      `Note: ${least}${more} more ${more === 1 ? 'file is' : 'files are'} not listed. Name a directory in this one.`,
    'Ask for some of them with paths, or for the outline of one with read_definition.',
  ]);
}

/** Returns HEAD, as many texts of READ, from the first on, as fit into one answer, and a list of the other files. */
function fittingTexts(head: string, read: readonly Shown[]): string[] {
  for (let count = read.length; ; count -= 1) {
    const texts = [head, ...read.slice(0, count).map(({ text }) => text), ...restTexts(read.slice(count))];
    const fitting = fittingRows(texts).length;
    if (fitting === texts.length || count === 0) return texts;
    count = Math.min(count, fitting);
  }
}

/** At most this many files that did not fit are listed. */
const NAMED = 40;

function restTexts(rest: readonly Shown[]): string[] {
  if (rest.length === 0) return [];
  const names = listText(
    rest.map((shown) => headOf(shown).text),
    false,
  );
  return [`Not shown, as the answer is full; ask for them with paths:\n\n${boundLines(names, NAMED)}`];
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
