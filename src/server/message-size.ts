// Computes how much space a message needs in a client, and breaks the message into rows.

import { withoutIsolates } from '../visible.ts';

/** The space that a client has for a message. */
export interface MessageSize {
  rows: number;
  columns: number;
  /** Number of these rows that the human certainly sees; absent when the human sees all rows. */
  sureRows?: number;
  /** True when messages for the client must be a single line. The client wraps this line between words, and so shows
   * more text than with several lines. */
  joined?: true;
}

export interface FormMessage {
  lines: readonly string[];
  /** The last line, which live-lisp writes itself. People copy it, so it is not broken into rows. */
  footer?: string;
}

/** Returns the message as text for a client with SIZE. */
export function messageIn({ lines, footer }: FormMessage, size: MessageSize): string {
  const end = footer === undefined ? [] : [footer];
  return size.joined ? inOneLine([...lines, ...end]) : [...rowsOf(lines, size), ...end].join('\n');
}

/** Returns true when SIZE has space for the whole message. */
export function fits(message: FormMessage, size: MessageSize): boolean {
  const lines = message.footer === undefined ? message.lines : [...message.lines, message.footer];
  // A character consists of at most two code units, so a text that is much too long is refused without counting
  // characters.
  const maxUnits = 2 * size.rows * size.columns;
  return (
    lines.reduce((sum, { length }) => sum + length, 0) <= maxUnits && rowsOf(lines, size).length <= size.rows
  );
}

/** Returns true when the human certainly sees all of MESSAGE, which messageIn returned for the same size. */
export function surelyVisible(message: string, { rows, sureRows = rows }: MessageSize): boolean {
  return message.split('\n').length <= sureRows;
}

/** Returns MESSAGE with one more line: as much of the beginning of LINE as fits into SIZE. */
export function withBeginning(message: FormMessage, line: string, size: MessageSize): FormMessage {
  const letters = [...line.slice(0, size.rows * size.columns)];
  const longer = (count: number) => ({
    ...message,
    lines: [...message.lines, `${letters.slice(0, count).join('')} [...]`],
  });
  const count = largest(letters.length, (each) => fits(longer(each), size));
  return count === 0 ? message : longer(count);
}

/** Returns the largest number up to LIMIT for which PREDICATE is true; 0 if there is none. If PREDICATE is true for a
 * number, it must be true for all smaller ones. */
export function largest(limit: number, predicate: (count: number) => boolean): number {
  let [low, high] = [0, limit];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (predicate(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Marks the end of a line when several lines are joined into one. Within a line, this character is replaced by its
 * code, so that no text can fake the end of a line. */
const LINE_END = '\u23ce';

/** Joins LINES into one line. Clients that need one line do not apply isolates (U+2066 to U+2069), so these are
 * replaced by their codes. */
function inOneLine(lines: readonly string[]): string {
  const shown = lines.map((line) => withoutIsolates(line).replaceAll(LINE_END, '<U+23CE>'));
  return shown.join(` ${LINE_END} `);
}

/** The beginning of a row that continues the previous row. */
const CONTINUATION = '\u2026 ';

function rowsOf(lines: readonly string[], { columns, joined: isJoined }: MessageSize): string[] {
  if (isJoined) return wrapped(inOneLine(lines), columns, '');
  return lines.flatMap((line) => wrapped(line, columns, CONTINUATION));
}

/** Returns LINE as rows of COLUMNS characters, broken between words where possible. MARK begins all rows but the first,
 * so that text from other sources cannot begin a row. */
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

/** Returns the width of TEXT in columns of a terminal, or a higher number. Emoji, and other characters that can be
 * wide, count as two columns. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  const wide = /[\u1100-\u11ff\u2e80-\u{10ffff}]|\p{Emoji_Presentation}/u;
  const widths = [...text].map((letter) => (letter === '\t' ? TAB_COLUMNS : wide.test(letter) ? 2 : 1));
  return widths.reduce((sum, width) => sum + width, 0);
}
