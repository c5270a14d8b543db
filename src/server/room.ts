// Decides how much of a message a client surely shows, and where the lines of one are broken.

import { withoutIsolates } from '../visible.ts';

/** What a client shows of a message. */
export interface Room {
  /** Rows of a terminal, and columns of each. */
  rows: number;
  columns: number;
  /** Rows of these that its human surely sees, when those are fewer. */
  sure?: number;
  /** It shows more of a message in one line, which it wraps between words, than of one in several. */
  joined?: true;
}

/** The lines of a message. */
export interface Message {
  lines: readonly string[];
  /** One of ours that stands last and is to be copied, so it is not broken. */
  last?: string;
}

/** Returns the text of a message, as a client with ROOM is sent it. */
export function messageIn({ lines, last }: Message, room: Room): string {
  const end = last === undefined ? [] : [last];
  return room.joined ? joined([...lines, ...end]) : [...rowsOf(lines, room), ...end].join('\n');
}

/** Returns whether all of a message is shown in ROOM. */
export function fits(message: Message, room: Room): boolean {
  const lines = message.last === undefined ? message.lines : [...message.lines, message.last];
  // No letter has more than two units, so what is far too long need not be laid out.
  const most = 2 * room.rows * room.columns;
  return (
    lines.reduce((sum, { length }) => sum + length, 0) <= most && rowsOf(lines, room).length <= room.rows
  );
}

/** Returns whether the human surely sees MESSAGE, which was made for ROOM. */
export function surelySeen(message: string, { rows, sure = rows }: Room): boolean {
  return message.split('\n').length <= sure;
}

/** Returns MESSAGE with as much of the beginning of LINE behind its lines as ROOM has place for. */
export function withBeginning(message: Message, line: string, room: Room): Message {
  const letters = [...line.slice(0, room.rows * room.columns)];
  const longer = (count: number) => ({
    ...message,
    lines: [...message.lines, `${letters.slice(0, count).join('')} [...]`],
  });
  const count = largest(letters.length, (each) => fits(longer(each), room));
  return count === 0 ? message : longer(count);
}

/** Returns the largest number up to LIMIT for which IS holds, as it does for all below; 0 when it holds for none. */
export function largest(limit: number, is: (count: number) => boolean): number {
  let [low, high] = [0, limit];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (is(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Stands where a line ends; one in the text of a line is shown as its code, so that it ends none. */
const LINE_END = '\u23ce';

/** Whoever shows only one line shows no isolates either. */
function joined(lines: readonly string[]): string {
  const shown = lines.map((line) => withoutIsolates(line).replaceAll(LINE_END, '<U+23CE>'));
  return shown.join(` ${LINE_END} `);
}

/** Begins a row that goes on with the line above. */
const GOES_ON = '\u2026 ';

function rowsOf(lines: readonly string[], { columns, joined: isJoined }: Room): string[] {
  if (isJoined) return wrapped(joined(lines), columns, '');
  return lines.flatMap((line) => wrapped(line, columns, GOES_ON));
}

/** Returns LINE in rows of COLUMNS, broken between words where that is possible. All but the first begin with MARK, so that
 *  no text from outside can begin a row. */
function wrapped(line: string, columns: number, mark: string): string[] {
  const rows: string[] = [];
  let row = '';
  let width = 0;
  const end = () => {
    rows.push(row.trimEnd());
    row = mark;
    width = widthOf(mark);
  };
  for (const word of line.split(/(?<= )/)) {
    if (width + widthOf(word.trimEnd()) > columns && row !== '' && row !== mark) end();
    for (const letter of word) {
      if (letter !== ' ' && width + widthOf(letter) > columns) end();
      row += letter;
      width += widthOf(letter);
    }
  }
  return [...rows, row];
}

const TAB_COLUMNS = 8;

/** Returns how many columns TEXT takes at most: letters of other than alphabets can take two, and small pictures do. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  const wide = /[\u1100-\u11ff\u2e80-\u{10ffff}]|\p{Emoji_Presentation}/u;
  const widths = [...text].map((letter) => (letter === '\t' ? TAB_COLUMNS : wide.test(letter) ? 2 : 1));
  return widths.reduce((sum, width) => sum + width, 0);
}
