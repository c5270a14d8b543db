// Shows the texts of all files in a directory in one answer. If not all of them fit, lists the others.

import { messageOf } from '../../errors.ts';
import type { Budget } from '../../files/budget.ts';
import { boundLines, fittingRows, joinSections, listText } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { visibleName } from '../../visible.ts';
import type { TextBuffer } from './buffers.ts';

/** The text of a file, or the reason why the text is not shown. */
type FileEntry = Result & { data: object };

/** Maximum number of characters of the texts that are read for one answer. */
const TEXT_LIMIT = 80_000;
/** Maximum number of characters of the texts that are read when Lisp code in the image is the caller. Such code gets
 * the data, which need not fit into an answer. */
const DATA_TEXT_LIMIT = 8_000_000;

/** A call that reads a directory. `whole` is true when Lisp code in the image is the caller. */
interface FolderRequest {
  path: string;
  whole: boolean;
}

/** Returns the answer with the texts of FILES, the files of a directory. SHOW returns the entry for a file. Reads no
 * more files when BUDGET is used up. */
export async function folderResult(
  { path, whole }: FolderRequest,
  files: AsyncIterable<TextBuffer>,
  show: (file: TextBuffer) => Promise<FileEntry>,
  budget: Budget,
): Promise<Result> {
  const entries: FileEntry[] = [];
  let length = 0;
  for await (const file of files) {
    budget.exceeded ||= budget.remainingMs() < 0 || (whole && length > DATA_TEXT_LIMIT);
    if (budget.exceeded) break;
    const entry = await show(file).catch((error: unknown) => failureEntry(file.name, error));
    length += entry.text.length;
    entries.push(length <= TEXT_LIMIT || whole ? entry : headOf(entry));
  }
  const stopped = budget.exceeded === true;
  return {
    data: { path, complete: !stopped, files: entries.map(({ data }) => data) },
    text: joinSections([
      folderText(path, entries, { long: length > TEXT_LIMIT, stopped }),
      stopped && 'Note: there are too many files, so not all were read. Name a subdirectory.',
    ]),
  };
}

function failureEntry(name: string, error: unknown): FileEntry {
  const reason = messageOf(error);
  return { data: { path: name, reason }, text: reason };
}

/** Returns the entry without the text of the file: of the answer's text, only the first line remains. */
function headOf({ data, text }: FileEntry): FileEntry {
  return { data: { ...data, text: undefined }, text: text.split('\n', 1)[0] ?? '' };
}

function folderText(
  path: string,
  entries: readonly FileEntry[],
  { long, stopped }: { long: boolean; stopped: boolean },
): string {
  const atLeast = stopped ? 'at least ' : '';
  const head = `${visibleName(path)} has ${atLeast}${entries.length} ${entries.length === 1 ? 'file' : 'files'}`;
  const texts = entries.map(({ text }) => text);
  const fitting = long ? [] : fittingTexts(`${head}.`, entries);
  if (2 * lengthOf(fitting) >= lengthOf(texts)) return joinSections(fitting);
  const rows = fittingRows(entries.map((entry) => headOf(entry).text));
  const more = entries.length - rows.length;
  return joinSections([
    `${head}, too long for one answer:`,
    listText(rows, more > 0),
    more > 0 &&
      `Note: ${atLeast}${more} more ${more === 1 ? 'file is' : 'files are'} not listed. Name a subdirectory.`,
    "Read some of them with parameter 'paths', or the outline of one with read_definition.",
  ]);
}

/** Returns HEAD, the texts of as many of ENTRIES as fit into one answer, and a list of the others. */
function fittingTexts(head: string, entries: readonly FileEntry[]): string[] {
  for (let count = entries.length; ; count -= 1) {
    const texts = [
      head,
      ...entries.slice(0, count).map(({ text }) => text),
      ...notShownTexts(entries.slice(count)),
    ];
    const fitting = fittingRows(texts).length;
    if (fitting === texts.length || count === 0) return texts;
    count = Math.min(count, fitting);
  }
}

/** Maximum number of files to name whose texts did not fit into the answer. */
const NAME_LIMIT = 40;

function notShownTexts(entries: readonly FileEntry[]): string[] {
  if (entries.length === 0) return [];
  const names = listText(
    entries.map((entry) => headOf(entry).text),
    false,
  );
  return [
    `Not shown, as the answer is full; to read them, give their names in paths:\n\n${boundLines(names, NAME_LIMIT)}`,
  ];
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
