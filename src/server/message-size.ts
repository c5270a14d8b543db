// Computes a client's space for a message, and breaks the message into rows.

import { withoutIsolates } from '../visible.ts';

/** A client's space for a message. */
export interface MessageSize {
  rows: number;
  columns: number;
  /** Number of these rows that the human surely sees; absent when the human sees all. */
  sureRows?: number;
  /** True when messages for the client are joined into one line. The client wraps one line between words, and
   *  so shows more of it than of several lines. */
  joined?: true;
}

export interface FormMessage {
  lines: readonly string[];
  /** The last line, written by live-lisp. People copy it, so it is not broken into rows. */
  footer?: string;
}

/** Returns the text of a message for a client with SIZE. */
export function messageIn({ lines, footer }: FormMessage, size: MessageSize): string {
  const end = footer === undefined ? [] : [footer];
  return size.joined ? inOneLine([...lines, ...end]) : [...rowsOf(lines, size), ...end].join('\n');
}

/** True when SIZE has space for the whole message. */
export function fits(message: FormMessage, size: MessageSize): boolean {
  const lines = message.footer === undefined ? message.lines : [...message.lines, message.footer];
  // A character has at most two code units, so a much too long text is refused quickly.
  const maxUnits = 2 * size.rows * size.columns;
  return (
    lines.reduce((sum, { length }) => sum + length, 0) <= maxUnits && rowsOf(lines, size).length <= size.rows
  );
}

/** True when the human surely sees all of MESSAGE, a result of messageIn for the same room. */
export function surelyVisible(message: string, { rows, sureRows = rows }: MessageSize): boolean {
  return message.split('\n').length <= sureRows;
}

/** Returns MESSAGE with one more line: the beginning of LINE that fits into SIZE. */
export function withBeginning(message: FormMessage, line: string, size: MessageSize): FormMessage {
  const letters = [...line.slice(0, size.rows * size.columns)];
  const longer = (count: number) => ({
    ...message,
    lines: [...message.lines, `${letters.slice(0, count).join('')} [...]`],
  });
  const count = largest(letters.length, (each) => fits(longer(each), size));
  return count === 0 ? message : longer(count);
}

/** Returns the largest number up to LIMIT with a true PREDICATE; 0 if there is none. If PREDICATE is true for
 *  a number, it must be true for all smaller ones. */
export function largest(limit: number, predicate: (count: number) => boolean): number {
  let [low, high] = [0, limit];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (predicate(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Marks the end of each line in a joined message. Within a line, its code replaces this character, so that
 *  no text can fake the end of a line. */
const LINE_END = '\u23ce';

/** Joins LINES. Clients that need one line show no isolates (U+2066 to U+2069), so their codes replace
 *  these. */
function inOneLine(lines: readonly string[]): string {
  const shown = lines.map((line) => withoutIsolates(line).replaceAll(LINE_END, '<U+23CE>'));
  return shown.join(` ${LINE_END} `);
}

/** The beginning of a row that continues the row above. */
const CONTINUATION = '\u2026 ';

function rowsOf(lines: readonly string[], { columns, joined: isJoined }: MessageSize): string[] {
  if (isJoined) return wrapped(inOneLine(lines), columns, '');
  return lines.flatMap((line) => wrapped(line, columns, CONTINUATION));
}

/** Returns LINE in rows of COLUMNS, broken between words where possible. All rows but the first begin with
 *  MARK, so that no text from outside can be at the beginning of a row. */
function wrapped(line: string, columns: number, mark: string): string[] {
  const rows: string[] = [];
  let row = '';
  let width = 0;
  const endRow = () => {
    rows.push(row.trimEnd());
    row = mark;
    width = widthOf(mark);
  };
  for (const word of line.split(/(?<= )/)) {
    if (width + widthOf(word.trimEnd()) > columns && row !== '' && row !== mark) endRow();
    for (const letter of word) {
      if (letter !== ' ' && width + widthOf(letter) > columns) endRow();
      row += letter;
      width += widthOf(letter);
    }
  }
  return [...rows, row];
}

const TAB_COLUMNS = 8;

/** Returns the number of columns of TEXT in a terminal, or a higher number. Emoji, and characters that can be
 *  as wide, count as two columns. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  const wide = /[\u1100-\u11ff\u2e80-\u{10ffff}]|\p{Emoji_Presentation}/u;
  const widths = [...text].map((letter) => (letter === '\t' ? TAB_COLUMNS : wide.test(letter) ? 2 : 1));
  return widths.reduce((sum, width) => sum + width, 0);
}
