// Computes how much of a message a client surely shows, and breaks the message into rows.

import { withoutIsolates } from '../visible.ts';

/** How much of a message a client shows. */
export interface Room {
  rows: number;
  columns: number;
  /** How many of these rows the human surely sees; absent when the human sees all. */
  sureRows?: number;
  /** True when messages for the client are joined into one line. The client wraps this line between words,
   *  and so shows more of it than of a message in several lines. */
  joined?: true;
}

export interface FormMessage {
  lines: readonly string[];
  /** The last line, written by live-lisp. It is not broken into rows, because people copy it. */
  footer?: string;
}

/** Returns the text of a message for a client with ROOM. */
export function messageIn({ lines, footer }: FormMessage, room: Room): string {
  const end = footer === undefined ? [] : [footer];
  return room.joined ? inOneLine([...lines, ...end]) : [...rowsOf(lines, room), ...end].join('\n');
}

/** True when ROOM has space for the whole message. */
export function fits(message: FormMessage, room: Room): boolean {
  const lines = message.footer === undefined ? message.lines : [...message.lines, message.footer];
  // A character has at most two code units, so a text with far too many is refused without more work.
  const maxUnits = 2 * room.rows * room.columns;
  return (
    lines.reduce((sum, { length }) => sum + length, 0) <= maxUnits && rowsOf(lines, room).length <= room.rows
  );
}

/** True when the human surely sees all of MESSAGE, which messageIn made for ROOM. */
export function surelySeen(message: string, { rows, sureRows = rows }: Room): boolean {
  return message.split('\n').length <= sureRows;
}

/** Returns MESSAGE with one more line: as much of the beginning of LINE as fits into ROOM. */
export function withBeginning(message: FormMessage, line: string, room: Room): FormMessage {
  const letters = [...line.slice(0, room.rows * room.columns)];
  const longer = (count: number) => ({
    ...message,
    lines: [...message.lines, `${letters.slice(0, count).join('')} [...]`],
  });
  const count = largest(letters.length, (each) => fits(longer(each), room));
  return count === 0 ? message : longer(count);
}

/** Returns the largest number up to LIMIT for which PREDICATE, true for all smaller ones, is true; or 0. */
export function largest(limit: number, predicate: (count: number) => boolean): number {
  let [low, high] = [0, limit];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (predicate(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Marks the end of each line in a message that is joined into one line. Where this character occurs within a
 *  line, its code is shown instead, so that no text can fake the end of a line. */
const LINE_END = '\u23ce';

/** Joins LINES into one line. Clients that need one line do not show isolates (U+2066 to U+2069), so codes
 *  replace the characters inside isolates. */
function inOneLine(lines: readonly string[]): string {
  const shown = lines.map((line) => withoutIsolates(line).replaceAll(LINE_END, '<U+23CE>'));
  return shown.join(` ${LINE_END} `);
}

/** The beginning of a row that continues the line of the row above. */
const CONTINUATION = '\u2026 ';

function rowsOf(lines: readonly string[], { columns, joined: isJoined }: Room): string[] {
  if (isJoined) return wrapped(inOneLine(lines), columns, '');
  return lines.flatMap((line) => wrapped(line, columns, CONTINUATION));
}

/** Returns LINE in rows of COLUMNS, broken between words where possible. All rows except the first begin with
 *  MARK, so that no text from outside can stand at the beginning of a row. */
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

/** Returns the number of columns that TEXT takes in a terminal, or a higher number. Emoji, and all characters
 *  that may be as wide, count as two columns. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  const wide = /[\u1100-\u11ff\u2e80-\u{10ffff}]|\p{Emoji_Presentation}/u;
  const widths = [...text].map((letter) => (letter === '\t' ? TAB_COLUMNS : wide.test(letter) ? 2 : 1));
  return widths.reduce((sum, width) => sum + width, 0);
}
