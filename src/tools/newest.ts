// Reads a page of the newest records without blocking the event loop, and stops counting the rest early.

import { CallError } from '../errors.ts';
import type { CallContext } from '../kernel/tool.ts';
import { checkWhole, type PageArguments, pageOf } from './paging.ts';

/** The records to list: ITEMS, newest first. Those for which MATCHES returns false are left out. */
export interface RecordQuery<Item> {
  items: Iterable<Item>;
  matches: (item: Item) => boolean;
}

/** A page of the matching items. ROWS follow the first OFFSET matches. TOTAL is the number of matches
 *  counted. AT_LEAST is true when counting stopped early, so that there may be more. */
export interface Newest<Item> {
  rows: Item[];
  offset: number;
  total: number;
  atLeast: boolean;
}

/** Counting stops when the page is full and more than this many items were read. */
const COUNTED = 100;
/** Reading yields to the event loop after this many milliseconds: a long search must not delay a
 *  cancellation. */
const TURN_MS = 5;

/** Returns the rows that ARGS ask for, 20 when they set no limit. Throws a CallError when the call is
 *  cancelled, or when code would get only some of the rows. */
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
  let [seen, total] = [0, 0];
  let turn = performance.now();
  for (const item of items) {
    seen += 1;
    if (performance.now() - turn > TURN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      if (signal?.aborted) throw new CallError('The call was cancelled before all was read.');
      turn = performance.now();
    }
    if (!matches(item)) continue;
    total += 1;
    if (total > offset && rows.length < limit) rows.push(item);
    if (total > offset + limit && seen > COUNTED) return { rows, offset, total, atLeast: true };
  }
  return { rows, offset, total, atLeast: false };
}

/** Returns the number of items as the beginning of a header. WHAT is the noun for one item. */
export function totalText({ total, atLeast }: { total: number; atLeast: boolean }, what: string): string {
  return `${atLeast ? 'At least ' : ''}${total} ${total === 1 ? what : `${what}s`}`;
}

/** Matches an ISO time: its date, and its hour, minute and second. */
const ISO_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)[.\d]*Z$/;

/** Returns what READ gives for each of several ROWS if that is the same, so that the header can say it once. */
export function shared<Row>(
  rows: readonly Row[],
  read: (row: Row) => string | undefined,
): string | undefined {
  const texts = new Set(rows.map(read));
  return rows.length > 1 && texts.size === 1 ? [...texts][0] : undefined;
}

/** Returns the date of the record that has the ISO time TIME. */
export function dateOf({ time }: { time: string }): string | undefined {
  return ISO_TIME.exec(time)?.[1];
}

/** Returns TIME, an ISO time, to the second. Leaves out its date when that is SAID, a date that the reader has seen. */
export function recordTimeText(time: string, said: string | undefined): string {
  return time.replace(ISO_TIME, (_, date, clock) => (date === said ? `${clock}Z` : `${date}T${clock}Z`));
}
