// Writes the text that asks for an approval, and splits it into pages that the client can show.

import type { OpenQuestion } from '../kernel/approval.ts';
import { BROWSER, TERMINAL, UNNAMED_EDITOR } from '../kernel/human-editor.ts';
import { homeFolder } from '../paths.ts';
import { ownWords, type QuestionLine, questionLine } from '../question-line.ts';
import { visibleLine } from '../visible.ts';
import {
  type FormMessage,
  fits,
  largest,
  type MessageSize,
  messageIn,
  withBeginning,
} from './message-size.ts';
import type { PreviewFile } from './preview-files.ts';

/** Maximum number of pages of a question. Claude Code ends a call that asks its user more than ten times. Of a longer
 * preview, the human sees only the first page, and the path of the file with all of it. */
const MAX_PAGES = 6;

export interface Pages {
  /** The messages, one for each page. All but the last page let the human ask for the next one. */
  pages: string[];
  whole: boolean;
}

/** Returns QUESTION as pages that fit into SIZE. FILE contains the complete preview. ALSO_IN is the name of an editor
 * that also shows the question; undefined when none does. */
export function pagesOf(
  question: OpenQuestion,
  file: PreviewFile,
  size: MessageSize,
  alsoIn?: string,
): Pages {
  const head = questionHeadline(question, alsoIn);
  const { length } = question.preview.lines;
  // A preview can have a million lines. No more lines are taken than the pages have characters.
  const lines = question.preview.lines.slice(0, MAX_PAGES * size.rows * size.columns).map(String);
  const footer = `All of it: ${placeOf(file)}`;
  const contents = { lines: [`${head}`, ...lines] };
  for (const message of lines.length < length ? [] : [{ ...contents, footer }, contents])
    if (fits(message, size)) return { pages: [messageIn(message, size)], whole: true };
  const shown = (count: number) => questionLine`${count} of ${length} lines are shown. ${head}`;
  const first = page(shown, { lines, footer }, size);
  const remainingLines = lines.length < length || first.count === 0 ? [] : lines.slice(first.count);
  const more = furtherPages(question.tool.name, remainingLines, length, size);
  return { pages: [first.message, ...more], whole: more.length > 0 };
}

/** Returns the pages after the first one, for a question about the tool NAME. LINES are the remaining lines of the
 * preview, which has IN_ALL lines. Returns [] when too many pages would be needed, or when a line is longer than a
 * page. */
function furtherPages(name: string, lines: readonly string[], inAll: number, size: MessageSize): string[] {
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
    const { message, count } = page(head, { lines: lines.slice(from) }, size);
    if (count === 0 || pages.length + 2 > MAX_PAGES) return [];
    pages.push(message);
    from += count;
  }
  return pages;
}

/** Returns a page that fits into SIZE: a headline, and as many of LINES as possible. `count` is the number of complete
 * lines on the page. When it is 0, the page contains the beginning of the first line. HEAD returns the headline for a
 * page with a given number of lines. */
function page(
  head: (count: number) => QuestionLine,
  { lines, ...rest }: FormMessage,
  size: MessageSize,
): { message: string; count: number } {
  const withLines = (count: number) => ({ ...rest, lines: [`${head(count)}`, ...lines.slice(0, count)] });
  const count = largest(lines.length, (count) => fits(withLines(count), size));
  const shown = count > 0 ? withLines(count) : withBeginning(withLines(0), lines[0] ?? '', size);
  return { message: messageIn(shown, size), count };
}

/** Returns the first line of a question. ALSO_IN is the name of an editor that also shows the question; undefined when
 * none does. The summary and the place come last. They can contain text of the program or the client, which must not
 * look like live-lisp's own words. */
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
  const also = alsoIn === undefined ? questionLine`` : questionLine`; also asked in ${ownNameOr(alsoIn)}`;
  const inImage = image === undefined ? questionLine`` : questionLine` in the image ${image}`;
  return questionLine`Approve ${tool.name}${inImage} (${ownWords(tool.safetyLevel)}${author}${also})?${what}`;
}

/** NAME is the name of an editor, a browser or a terminal. If it is one of the names that live-lisp gives, returns it
 * as live-lisp's own words, which the question shows without quotation marks. Otherwise a program chose NAME, and it is
 * returned unchanged. */
function ownNameOr(name: string): QuestionLine | string {
  const own = [ownWords(BROWSER), ownWords(TERMINAL), ownWords(UNNAMED_EDITOR)];
  return own.find(({ text }) => text === name) ?? name;
}

function placeOf(file: PreviewFile): string {
  if (!('path' in file)) return `not in a file (${visibleLine(file.why)})`;
  const home = homeFolder();
  const short =
    home !== undefined && file.path.startsWith(`${home}/`) ? file.path.slice(home.length) : undefined;
  return visibleLine(short === undefined ? file.path : `~${short}`);
}
