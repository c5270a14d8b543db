// Limits the length of answers, and formats lists and sections. No other module limits the length of a whole answer.

/** Maximum number of characters of a text. Clients begin to cut or store texts at about 50,000 characters. */
const TEXT_LIMIT = 40_000;
/** Maximum number of characters of the rows of a list. The difference to TEXT_LIMIT is space for the text around the
 * list. */
const LIST_LIMIT = 38_000;

/** Maximum number of characters of an answer that is JSON, which cannot be cut. */
export const JSON_LIMIT = LIST_LIMIT;

/** Returns TEXT. If it has more than LIMIT characters, its middle is replaced by a line that gives the number of
 * omitted characters. */
export function boundText(text: string, limit = TEXT_LIMIT): string {
  if (text.length <= limit) return text;
  const half = limit / 2;
  const omitted = text.length - 2 * half;
  return `${wellFormed(text.slice(0, half))}\n[... ${omitted} characters left out ...]\n${wellFormed(text.slice(-half))}`;
}

/** Returns TEXT. If it is longer than LIMIT characters, returns its first LIMIT characters and `...`. */
export function cutText(text: string, limit: number): string {
  return text.length > limit ? `${wellFormed(text.slice(0, limit))}...` : text;
}

/** Maximum number of characters of a source line in a list. */
const LINE_LIMIT = 200;
/** Number of these characters that come before the position of interest. */
const LINE_BEFORE = 60;

/** Returns LINE without white space at its ends. Of a long line, returns only the part around INDEX. */
export function boundLine(line: string, index: number): string {
  const start = index > LINE_LIMIT - LINE_BEFORE ? index - LINE_BEFORE : 0;
  const end = start + LINE_LIMIT;
  const shown = wellFormed(line.slice(start, end)).trim();
  return `${start > 0 ? '... ' : ''}${shown}${line.length > end ? ' ...' : ''}`;
}

/** Returns TEXT without an incomplete surrogate pair at its beginning or end, where a cut can leave one. */
function wellFormed(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}

/** Returns as many of the first ROWS as fit into one answer, or into ROOM characters. Returns at least one. */
export function fittingRows(rows: string[], room = LIST_LIMIT): string[] {
  let remaining = room;
  const end = rows.findIndex((row, index) => {
    remaining -= lengthInList(row);
    return remaining < 0 && index > 0;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** Returns as many of the last ROWS as fit into one answer. Returns at least one. */
export function lastFittingRows(rows: string[]): string[] {
  return fittingRows(rows.toReversed()).reverse();
}

/** Cuts LISTS so that they fit into one answer, which must keep room for RESERVED_CHARACTERS other characters. Returns
 * the first rows of each list. Long lists use the space that short lists do not need. */
export function fittingLists(lists: readonly string[][], reservedCharacters: number): string[][] {
  const sizes = new Map(lists.map((rows) => [rows, rows.reduce((sum, row) => sum + lengthInList(row), 0)]));
  const shortFirst = [...lists].sort((one, other) => (sizes.get(one) ?? 0) - (sizes.get(other) ?? 0));
  let remaining = LIST_LIMIT - reservedCharacters;
  const shown = new Map<string[], string[]>();
  for (const [index, rows] of shortFirst.entries()) {
    const fitting = fittingRows(rows, remaining / (shortFirst.length - index));
    shown.set(rows, fitting);
    remaining -= fitting.reduce((sum, row) => sum + lengthInList(row), 0);
  }
  return lists.map((rows) => shown.get(rows) ?? []);
}

/** Returns the number of characters that ROW takes in `listText`: with its indentation and a newline. */
function lengthInList(row: string): number {
  return row.length + 3;
}

/** Returns the first LIMIT lines of TEXT, or as many as fit into an answer. A last line gives the number of the omitted
 * ones. */
export function boundLines(text: string, limit: number): string {
  const lines = text.split('\n');
  const shown = fittingRows(lines.slice(0, limit));
  const hiddenCount = lines.length - shown.length;
  return hiddenCount === 0
    ? text
    : `${shown.join('\n')}\n... ${hiddenCount} more ${hiddenCount === 1 ? 'line' : 'lines'}`;
}

/** Returns ROWS as lines, indented by two spaces. If MORE is true, `...` follows. */
export function listText(rows: string[], more: boolean): string {
  return [...rows, ...(more ? ['...'] : [])].map((row) => `  ${row}`).join('\n');
}

/** A page of a list: `shown` of `total` rows. `offset` is the index of the first one. */
interface Page {
  offset: number;
  shown: number;
  total: number;
}

/** Returns true when there are rows after PAGE. */
export function hasMore({ offset, shown, total }: Page): boolean {
  return offset + shown < total;
}

/** Returns a note when the offset of the page is beyond the last row of the list, else false. WHAT is a plural noun for
 * the rows. */
export function beyondNote({ offset, shown, total }: Page, what: string): string | false {
  if (shown > 0 || total === 0) return false;
  const all = total === 1 ? 'there is only one' : `there are ${total} ${what}`;
  return `Note: ${all}, and none from offset ${offset} on.`;
}

/** Returns a note with the total number of rows if there are rows after PAGE, else the result of `beyondNote`. For
 * lists whose header does not give this number. WHAT is a plural noun for the rows. */
export function pageNote(page: Page, what: string): string | false {
  return hasMore(page)
    ? `Note: ${page.total} ${what}; limit and offset reach the rest.`
    : beyondNote(page, what);
}

/** Returns a list of as many of ROWS as fit into an answer, with a note about the others. ROWS begin at the index
 * OFFSET of a list of TOTAL rows. WHAT is a plural noun for the rows. */
export function pagedList(rows: string[], offset: number, total: number, what: string): string {
  const shown = fittingRows(rows);
  const page = { offset, shown: shown.length, total };
  return [listText(shown, hasMore(page)), pageNote(page, what)].filter(Boolean).join('\n');
}

/** Returns a list for each different header in ROWS. If MORE is true, `...` follows the last list. Without rows,
 * returns EMPTY_HEADER and a newline. */
export function listsText(rows: { header: string; text: string }[], more: boolean, emptyHeader = ''): string {
  if (rows.length === 0) return `${emptyHeader}\n`;
  const headers = [...new Set(rows.map((row) => row.header))];
  const lists = headers.map((header) => {
    const texts = rows.filter((row) => row.header === header).map(({ text }) => text);
    return `${header}\n\n${listText(texts, more && header === headers.at(-1))}`;
  });
  return lists.join('\n\n');
}

/** Returns COUNT and NOUN, with an `s` unless COUNT is 1. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns the first MOST of ITEMS, separated by commas, with the number of the omitted ones. */
export function fewOf(items: readonly string[], most: number): string {
  const more = items.length > most ? ` and ${items.length - most} more` : '';
  return items.slice(0, most).join(', ') + more;
}

/** Joins the non-empty SECTIONS with a blank line between them. */
export function joinSections(sections: (string | undefined | false)[]): string {
  return sections.filter((section) => section).join('\n\n');
}

/** Returns TEXT with each line that is not empty indented by COUNT spaces. */
export function indent(text: string, count: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(count));
}

/** Returns TEXT after LABEL and a colon; if it has several lines, indented below LABEL. Returns undefined when TEXT is
 * empty or undefined. */
export function labelled(label: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  return text.includes('\n') ? `${label}:\n${indent(text, 2)}` : `${label}: ${text}`;
}
