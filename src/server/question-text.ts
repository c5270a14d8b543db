// Writes the question for an approval, and splits it into pages that the client shows completely.

import type { OpenQuestion } from '../kernel/approval.ts';
import { homeFolder } from '../paths.ts';
import { ownWords, type QuestionLine, questionLine } from '../question-line.ts';
import { visibleLine } from '../visible.ts';
import type { PreviewFile } from './preview-files.ts';
import { type FormMessage, fits, largest, messageIn, type Room, withBeginning } from './room.ts';

/** Maximum number of pages of a question. For a longer preview, the human sees the first page and the path of
 *  a file. Less than ten, because Claude Code ends a call that asks its user more than ten times. */
const MAX_PAGES = 6;

export interface Pages {
  /** The messages, one for each page. Each message except the last offers to show the next. */
  pages: string[];
  /** True when the pages contain the whole preview. */
  whole: boolean;
}

/** Returns QUESTION as pages that fit into ROOM. FILE has the whole preview. ALSO_IN is the name of the
 *  editor, if any, that shows the question too. */
export function pagesOf(question: OpenQuestion, file: PreviewFile, room: Room, alsoIn?: string): Pages {
  const head = questionHeadline(question, alsoIn);
  const { length } = question.preview.lines;
  // Takes no more lines than all pages together have characters, because a preview can have a million lines.
  const lines = question.preview.lines.slice(0, MAX_PAGES * room.rows * room.columns).map(String);
  const footer = `All of it: ${placeOf(file)}`;
  const contents = { lines: [`${head}`, ...lines] };
  for (const message of lines.length < length ? [] : [{ ...contents, footer }, contents])
    if (fits(message, room)) return { pages: [messageIn(message, room)], whole: true };
  const shown = (count: number) => questionLine`${count} of ${length} lines are shown. ${head}`;
  const first = page(shown, { lines, footer }, room);
  const remainingLines = lines.length < length || first.count === 0 ? [] : lines.slice(first.count);
  const more = furtherPages(question.tool.name, remainingLines, length, room);
  return { pages: [first.message, ...more], whole: more.length > 0 };
}

/** Returns the pages after the first, for the tool NAME. LINES are the lines of the preview after the first
 *  page, and IN_ALL is the number of lines of the whole preview. Returns [] when there would be too many
 *  pages, or a line is longer than a page. */
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
    if (count === 0 || pages.length + 2 > MAX_PAGES) return [];
    pages.push(message);
    from += count;
  }
  return pages;
}

/** Returns a page for ROOM: a headline, and below it as many of LINES as fit. `count` is the number of lines
 *  that the page shows completely; when it is 0, the page shows the beginning of the first line. HEAD returns
 *  the headline for a number of lines. */
function page(
  head: (count: number) => QuestionLine,
  { lines, ...rest }: FormMessage,
  room: Room,
): { message: string; count: number } {
  const withLines = (count: number) => ({ ...rest, lines: [`${head(count)}`, ...lines.slice(0, count)] });
  const count = largest(lines.length, (count) => fits(withLines(count), room));
  const shown = count > 0 ? withLines(count) : withBeginning(withLines(0), lines[0] ?? '', room);
  return { message: messageIn(shown, room), count };
}

/** Returns the first line of a question. ALSO_IN is the name of the editor, if any, that shows the question
 *  too. Text from outside comes last, so that it cannot be mistaken for words of live-lisp. */
export function questionHeadline({ tool, image, preview }: OpenQuestion, alsoIn?: string): QuestionLine {
  const author =
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
  const also = alsoIn === undefined ? questionLine`` : questionLine`; also asked in ${alsoIn}`;
  const inImage = image === undefined ? questionLine`` : questionLine` in the image ${image}`;
  return questionLine`Approve ${tool.name}${inImage} (${ownWords(tool.safetyLevel)}${author}${also})?${what}`;
}

function placeOf(file: PreviewFile): string {
  if (!('path' in file)) return `not in a file (${visibleLine(file.why)})`;
  const home = homeFolder();
  const short =
    home !== undefined && file.path.startsWith(`${home}/`) ? file.path.slice(home.length) : undefined;
  return visibleLine(short === undefined ? file.path : `~${short}`);
}
