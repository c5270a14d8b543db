// Reads a page of the newest records, without blocking the event loop.

import { CallError } from '../errors.ts';
import type { CallContext } from '../kernel/tool.ts';
import { checkWhole, type PageArguments, pageOf } from './paging.ts';

/** The records from which a page is read. `items` yields the newest one first. Items for which `matches` returns false
 * are left out. */
export interface RecordQuery<Item> {
  items: Iterable<Item>;
  matches: (item: Item) => boolean;
}

/** A page of the items that match. `rows` are those after the first `offset`. `total` is the number of matching items.
 * `atLeast` is true when there may be more, because counting stopped early. */
export interface Newest<Item> {
  rows: Item[];
  offset: number;
  total: number;
  atLeast: boolean;
}

/** When a page has all its rows, the search for further matches goes on only to count them. It ends when more than this
 * many items were read in all. */
const COUNT_LIMIT = 100;
/** Milliseconds after which reading yields to the event loop, so that the call can be cancelled. */
const TURN_MS = 5;

/** Returns the page that ARGS request of the records in KEPT; by default it has 20 rows. Throws a CallError when the
 * call is cancelled, and when Lisp code in the image gives no limit and would get only some of the rows. */
export async function newestOf<Item>(
  args: PageArguments,
  context: CallContext,
  kept: RecordQuery<Item>,
): Promise<Newest<Item>> {
  const newest = await readNewest(pageOf(args, context, 20), kept, context.signal);
  checkWhole(args, context, newest.total);
  return newest;
}

async function readNewest<Item>(
  { offset, limit }: { offset: number; limit: number },
  { items, matches }: RecordQuery<Item>,
  signal: AbortSignal | undefined,
): Promise<Newest<Item>> {
  const rows: Item[] = [];
  let [examined, total] = [0, 0];
  let turn = performance.now();
  for (const item of items) {
    examined += 1;
    if (performance.now() - turn > TURN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      if (signal?.aborted) throw new CallError('The call was cancelled before all records were read.');
      turn = performance.now();
    }
    if (!matches(item)) continue;
    total += 1;
    if (total > offset && rows.length < limit) rows.push(item);
    if (total > offset + limit && examined > COUNT_LIMIT) return { rows, offset, total, atLeast: true };
  }
  return { rows, offset, total, atLeast: false };
}

/** Returns the number of items, as the beginning of a header. WHAT is the noun for one item. */
export function totalText({ total, atLeast }: { total: number; atLeast: boolean }, what: string): string {
  return `${atLeast ? 'At least ' : ''}${total} ${total === 1 ? what : `${what}s`}`;
}

/** Matches an ISO time. The groups are the date, and the time of day to the second. */
const ISO_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)[.\d]*Z$/;

/** Returns the text that READ returns for every one of ROWS, so that the header can show it. Returns undefined when the
 * texts differ, or when there is only one row. */
export function shared<Row>(
  rows: readonly Row[],
  read: (row: Row) => string | undefined,
): string | undefined {
  const texts = new Set(rows.map(read));
  return rows.length > 1 && texts.size === 1 ? [...texts][0] : undefined;
}

/** Returns the date of a record whose time is an ISO time; undefined for another time. */
export function dateOf({ time }: { time: string }): string | undefined {
  return ISO_TIME.exec(time)?.[1];
}

/** Returns the ISO time TIME without fractions of a second, such as 2026-11-30T14:38:30Z. STATED is the date that the
 * header of the answer shows. If TIME has the same date, the result is only 14:38:30Z. */
export function recordTimeText(time: string, stated: string | undefined): string {
  return time.replace(ISO_TIME, (_, date, clock) => (date === stated ? `${clock}Z` : `${date}T${clock}Z`));
}
