// Decides how long an answer may be and how lists and sections are laid out; the only place that cuts text.

/** Characters of one text; clients begin to cut or to store away at about 50,000. */
const TEXT_LIMIT = 40_000;
/** Characters of the lines of a list; the rest is for what stands around it. */
const LIST_LIMIT = 38_000;

/** Characters of an answer that is JSON, and must not be cut. */
export const JSON_LIMIT = LIST_LIMIT;

/** Returns TEXT, or its first and last parts, of LIMIT characters together, with a line between them that says how much is
 *  missing. */
export function boundText(text: string, limit = TEXT_LIMIT): string {
  if (text.length <= limit) return text;
  const half = limit / 2;
  const omitted = text.length - 2 * half;
  return `${wellFormed(text.slice(0, half))}\n[... ${omitted} characters left out ...]\n${wellFormed(text.slice(-half))}`;
}

/** Characters of one line of a file in a list, and how many of them stand before what is shown in it. */
const LINE_LIMIT = 200;
const LINE_BEFORE = 60;

/** Returns LINE without the white space around it, or the part around INDEX when it is long. */
export function boundLine(line: string, index: number): string {
  const start = index > LINE_LIMIT - LINE_BEFORE ? index - LINE_BEFORE : 0;
  const end = start + LINE_LIMIT;
  const shown = wellFormed(line.slice(start, end)).trim();
  return `${start > 0 ? '... ' : ''}${shown}${line.length > end ? ' ...' : ''}`;
}

/** Returns TEXT without halves of characters at its ends, where it was cut. */
function wellFormed(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}

/** Returns as many of ROWS as one answer, or ROOM characters, have room for; there is always room for the first. */
export function fittingRows(rows: string[], room = LIST_LIMIT): string[] {
  let left = room;
  const end = rows.findIndex((row, index) => {
    left -= lengthInList(row);
    return left < 0 && index > 0;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** Returns of each of LISTS as many rows as one answer has room for beside OTHERS characters. What the short lists leave is for
 *  the long ones. */
export function fittingLists(lists: readonly string[][], others: number): string[][] {
  const sizes = new Map(lists.map((rows) => [rows, rows.reduce((sum, row) => sum + lengthInList(row), 0)]));
  const shortFirst = [...lists].sort((one, other) => (sizes.get(one) ?? 0) - (sizes.get(other) ?? 0));
  let left = LIST_LIMIT - others;
  const shown = new Map<string[], string[]>();
  for (const [index, rows] of shortFirst.entries()) {
    const fitting = fittingRows(rows, left / (shortFirst.length - index));
    shown.set(rows, fitting);
    left -= fitting.reduce((sum, row) => sum + lengthInList(row), 0);
  }
  return lists.map((rows) => shown.get(rows) ?? []);
}

function lengthInList(row: string): number {
  return row.length + 3;
}

/** Returns TEXT, or as many of its first lines as LIMIT and one answer have room for, and how many more there are. */
export function boundLines(text: string, limit: number): string {
  const lines = text.split('\n');
  const shown = fittingRows(lines.slice(0, limit));
  const more = lines.length - shown.length;
  return more === 0 ? text : `${shown.join('\n')}\n... ${more} more ${more === 1 ? 'line' : 'lines'}`;
}

/** Returns ROWS as a list, two spaces before each, with a last `...` when there are MORE (C13). */
export function listText(rows: string[], more: boolean): string {
  return [...rows, ...(more ? ['...'] : [])].map((row) => `  ${row}`).join('\n');
}

/** Part of a list: how many of its TOTAL rows are SHOWN from OFFSET on. */
export interface Page {
  offset: number;
  shown: number;
  total: number;
}

/** Returns whether there are rows after PAGE. */
export function hasMore({ offset, shown, total }: Page): boolean {
  return offset + shown < total;
}

/** Returns the note below the header of a list of WHAT when PAGE begins behind its last row, or false (C13). */
export function beyondNote({ offset, shown, total }: Page, what: string): string | false {
  if (shown > 0 || total === 0) return false;
  const all = total === 1 ? 'there is only one' : `there are ${total} ${what}`;
  return `Note: ${all}, and none from offset ${offset} on.`;
}

/** Returns the note behind a PAGE of WHAT whose header does not tell how many there are (C13), or false. */
export function pageNote(page: Page, what: string): string | false {
  return hasMore(page)
    ? `Note: ${page.total} ${what}; limit and offset reach the rest.`
    : beyondNote(page, what);
}

/** Returns ROWS as lists below their headers, which the rows of a list have in common. The last list ends in `...`
 *  when there are MORE. Without rows it is HEADER alone. */
export function listsText(rows: { header: string; text: string }[], more: boolean, header = ''): string {
  if (rows.length === 0) return `${header}\n`;
  const headers = [...new Set(rows.map((row) => row.header))];
  const lists = headers.map((each) => {
    const texts = rows.filter((row) => row.header === each).map(({ text }) => text);
    return `${each}\n\n${listText(texts, more && each === headers.at(-1))}`;
  });
  return lists.join('\n\n');
}

/** Returns SECTIONS that are not empty with a blank line between them. */
export function joinSections(sections: (string | undefined | false)[]): string {
  return sections.filter((section) => section).join('\n\n');
}

/** Returns TEXT with every line moved right by COUNT spaces. */
export function indent(text: string, count: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(count));
}

/** Returns TEXT as a paragraph under LABEL, or undefined without text. */
export function labelled(label: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  return text.includes('\n') ? `${label}:\n${indent(text, 2)}` : `${label}: ${text}`;
}
