// Decides how a question reads: what comes first, and on how many pages, of which a client shows each whole.

import type { OpenQuestion } from '../kernel/approval.ts';
import { homeFolder } from '../paths.ts';
import { ownWords, type QuestionLine, questionLine } from '../question-line.ts';
import { visibleLine } from '../visible.ts';
import type { PreviewFile } from './preview-files.ts';
import { fits, largest, type Message, messageIn, type Room, withBeginning } from './room.ts';

/** Pages that a person may turn. Of what takes more, they see the first, and the file. Claude Code ends a call that asks
 *  more than ten times. */
const MOST_PAGES = 6;

/** A question as its human is asked it. */
export interface Pages {
  /** The messages: each but the last offers the next. */
  pages: string[];
  /** Whether all that there is to show stands on them. */
  whole: boolean;
}

/** Returns QUESTION on pages for ROOM. FILE has the whole preview. */
export function pagesOf(question: OpenQuestion, file: PreviewFile, room: Room): Pages {
  const head = headOf(question);
  const { length } = question.preview.lines;
  // No pages have place for more lines than columns, and there can be a million.
  const lines = question.preview.lines.slice(0, MOST_PAGES * room.rows * room.columns).map(String);
  const last = `All of it: ${placeOf(file)}`;
  const alone = { lines: [`${head}`, ...lines] };
  for (const all of lines.length < length ? [] : [{ ...alone, last }, alone])
    if (fits(all, room)) return { pages: [messageIn(all, room)], whole: true };
  const shown = (count: number) => questionLine`${count} of ${length} lines are shown. ${head}`;
  const first = page(shown, { lines, last }, room);
  const rest = lines.length < length || first.count === 0 ? [] : lines.slice(first.count);
  const more = furtherPages(question.tool.name, rest, length, room);
  return { pages: [first.message, ...more], whole: more.length > 0 };
}

/** Returns the pages with LINES, the last of so many IN ALL; none when they are too many, or one is too long for a page. */
function furtherPages(name: string, lines: readonly string[], inAll: number, room: Room): string[] {
  const pages: string[] = [];
  for (let from = 0; from < lines.length; ) {
    const before = inAll - lines.length + from;
    const head = (count: number) => {
      const which =
        count === 1
          ? questionLine`Line ${before + 1}`
          : questionLine`Lines ${before + 1} to ${before + count}`;
      return questionLine`${which} of ${inAll}, ${name}`;
    };
    const { message, count } = page(head, { lines: lines.slice(from) }, room);
    if (count === 0 || pages.length + 2 > MOST_PAGES) return [];
    pages.push(message);
    from += count;
  }
  return pages;
}

/** Returns as much of MESSAGE as ROOM has place for, below what HEAD says of the count of its lines. Of the first line there is
 *  the beginning in any case. */
function page(
  head: (count: number) => QuestionLine,
  { lines, ...rest }: Message,
  room: Room,
): { message: string; count: number } {
  const withLines = (count: number) => ({ ...rest, lines: [`${head(count)}`, ...lines.slice(0, count)] });
  const count = largest(lines.length, (each) => fits(withLines(each), room));
  const shown = count > 0 ? withLines(count) : withBeginning(withLines(0), lines[0] ?? '', room);
  return { message: messageIn(shown, room), count };
}

/** Returns the first line of QUESTION. What is known stands before what is quoted. */
function headOf({ tool, preview }: OpenQuestion): QuestionLine {
  const by =
    tool.approvedAs === undefined
      ? questionLine``
      : questionLine`, defined by code in the image, not by live-lisp`;
  const { summary, place, otherPlaces = [] } = preview;
  const where =
    place === undefined
      ? []
      : otherPlaces.length > 0
        ? [questionLine`the first is ${place}`]
        : [questionLine`in ${place}`];
  const about = [...(summary === undefined ? [] : [summary]), ...where];
  const what = about.length === 0 ? questionLine`` : questionLine` ${about}`;
  return questionLine`Approve ${tool.name} (${ownWords(tool.safetyLevel)}${by})?${what}`;
}

/** Returns where FILE is, as short as a person can use it. */
function placeOf(file: PreviewFile): string {
  if (!('path' in file)) return `not in a file (${visibleLine(file.why)})`;
  const home = homeFolder();
  const short =
    home !== undefined && file.path.startsWith(`${home}/`) ? file.path.slice(home.length) : undefined;
  return visibleLine(short === undefined ? file.path : `~${short}`);
}
