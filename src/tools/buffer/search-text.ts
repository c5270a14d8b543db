// Renders the result of a search: for each file, its name and then its matching lines with columns.

import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import {
  beyondNote,
  counted,
  fewOf,
  fittingRows,
  hasMore,
  joinSections,
  listText,
} from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { visibleName } from '../../visible.ts';
import { groupBy } from '../grouping.ts';
import { silentText } from '../unsaved.ts';
import { type NamedBuffer, pendingSection, type TextBuffer } from './buffers.ts';

/** A match in a text. The numbers of lines and columns are 1-based. */
export interface Match {
  file: string;
  line: number;
  column: number;
  endLine: number;
  /** The column that follows the last character of the match. */
  endColumn: number;
  /** The line of the match; of a long line, only the part around the match. */
  text: string;
}

/** The result of a search. */
export interface SearchResults {
  total: number;
  /** The matches of the requested page. `offset` is the index of the first one among all matches. */
  matches: Match[];
  offset: number;
  /** Number of files that were searched. */
  files: number;
  filesWithMatches: number;
  /** Files that are not text, and files that are too large. */
  unreadable: string[];
  /** Files in which the search needed too much time or stack. */
  tooHard: string[];
  /** Files with edits that wait for approval. */
  pending: string[];
  /** Files that have unsaved changes in an editor. `isUnsavedText` says whether the search saw these changes. */
  unsaved: TextBuffer[];
  /** The name of an editor that did not say which files have unsaved changes. */
  silent?: string | undefined;
}

/** Returns the answer to a search for PATTERN in the file BUFFER, or in many files when BUFFER is undefined. STOPPED is
 * true when some files were not searched. Files that cannot be read are not named again if an earlier answer named
 * them. */
export function searchResult(
  pattern: string,
  found: SearchResults,
  buffer: NamedBuffer | undefined,
  stopped: boolean,
  earlierAnswers?: EarlierAnswers,
): Result {
  const { total, matches, offset, files, filesWithMatches, unreadable, tooHard, pending } = found;
  const asUnsaved = found.unsaved.filter(({ isUnsavedText }) => isUnsavedText).map(({ name }) => name);
  const oneAsSaved = found.unsaved.find(({ isUnsavedText }) => !isUnsavedText);
  const lacksChangesIn = oneAsSaved?.unsavedIn ?? found.silent ?? buffer?.lacksChangesIn;
  const rows = rowsOf(matches, buffer === undefined);
  const texts = fittingRows(rows.map(({ text }) => text));
  const shown = rows.slice(0, texts.length).reduce((count, row) => count + row.matches, 0);
  const where = buffer
    ? visibleName(buffer.name)
    : total === 0
      ? counted(files, 'file')
      : `${filesWithMatches} of ${counted(files, 'file')}`;
  const atLeast = stopped && total > 0 ? 'at least ' : '';
  const head = `Found ${atLeast}${total} ${total === 1 ? 'match' : 'matches'} of '${pattern}' in ${where}`;
  const page = { offset, shown, total };
  const list = listText(texts, hasMore(page)) || beyondNote(page, 'matches');
  return {
    data: {
      total,
      files,
      matches,
      notSearched: [...unreadable, ...tooHard],
      pending,
      ...(asUnsaved.length > 0 && { unsaved: asUnsaved }),
      ...(lacksChangesIn !== undefined && { lacksChangesIn }),
      complete: !stopped && tooHard.length === 0,
    },
    text: joinSections([
      [
        list === false ? head : `${head}:\n\n${list}`,
        ...notesOf(found, buffer, stopped, earlierAnswers),
      ].join('\n'),
      buffer && pendingSection(buffer.pending, 'what was searched'),
    ]),
  };
}

function notesOf(
  { unreadable, tooHard, pending, unsaved, silent }: SearchResults,
  buffer: NamedBuffer | undefined,
  stopped: boolean,
  earlierAnswers: EarlierAnswers | undefined,
): string[] {
  const unsearched = unreadable.length > 0 && fewNames(unreadable);
  return [
    stopped &&
      `Note: the search stopped before it had read all files; give a directory or a file as parameter 'buffer'.`,
    unsearched &&
      (buffer !== undefined || !earlierAnswers?.repeats('not searched', unsearched)) &&
      `Note: not searched (not text, or too large): ${unsearched}.`,
    tooHard.length > 0 &&
      `Note: not searched, because the pattern took too long or too much stack there: ${fewNames(tooHard)}. Repetitions within repetitions, such as (a+)+, cause this; use a simpler pattern.`,
    buffer === undefined &&
      pending.length > 0 &&
      `Note: the edits of ${fewNames(pending)} that wait for approval were not searched; read_buffer shows them.`,
    ...(buffer === undefined ? unsavedNotes(unsaved) : []),
    silent && `Note: ${silentText(silent)}, so such changes may be missing here.`,
    buffer?.note && `Note: ${buffer.note}`,
  ].filter((note) => typeof note === 'string');
}

/** Returns notes that say which text of each file in UNSAVED was searched. */
function unsavedNotes(unsaved: readonly TextBuffer[]): string[] {
  return [
    ...groupBy(unsaved, ({ unsavedIn, isUnsavedText }) => `${isUnsavedText} ${unsavedIn}`).values(),
  ].map((files) => {
    const names = fewNames(files.map(({ name }) => name));
    const [first] = files;
    return first?.isUnsavedText
      ? `Note: searched the unsaved text in ${first.unsavedIn}: ${names}.`
      : `Note: searched the text on the disk, without the unsaved changes in ${first?.unsavedIn}: ${names}.`;
  });
}

function fewNames(names: string[]): string {
  return fewOf(names.map(visibleName), 5);
}

/** A row of the answer: a line with matches. A page counts matches, but the answer is cut between rows. */
interface Row {
  text: string;
  /** Number of matches in the row. */
  matches: number;
}

/** Returns a row for each line with matches. If WITH_FILES is true, the name of a file precedes its first row. */
function rowsOf(matches: readonly Match[], withFiles: boolean): Row[] {
  const rows: Row[] = [];
  let start = 0;
  matches.forEach((match, index) => {
    const next = matches[index + 1];
    if (next !== undefined && inOneRow(match, next)) return;
    const rowMatches = matches.slice(start, index + 1);
    const newFile = withFiles && matches[start - 1]?.file !== match.file;
    const indent = withFiles && !newFile ? '  ' : '';
    const file = newFile ? `${visibleName(match.file)}:\n    ` : '';
    rows.push({ text: `${indent}${file}${lineText(rowMatches)}`, matches: rowMatches.length });
    start = index + 1;
  });
  return rows;
}

function inOneRow(one: Match, other: Match): boolean {
  // Matches in one long line can have different parts of it as text.
  const alike = one.file === other.file && one.line === other.line && one.text === other.text;
  return alike && one.endLine === one.line && other.endLine === other.line;
}

/** Returns the columns of MATCHES, which are in one line, and then the text of this line. */
function lineText(matches: readonly Match[]): string {
  return matches
    .map(({ line, column, endLine, endColumn, text }, index) => {
      const end = endLine > line ? `-${endLine}:${endColumn}` : '';
      const place = index === 0 ? `${line}:${column}${end}` : `,${column}`;
      return index === matches.length - 1 ? `${place}  ${text}` : place;
    })
    .join('');
}
