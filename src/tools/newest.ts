// Decides how much of what is kept is read for a list of the newest, and that nobody waits for that.

import { CallError } from '../errors.ts';
import type { CallContext } from '../kernel/tool.ts';
import { checkWhole, type PageArguments, pageOf } from './paging.ts';

/** What a list of the newest is made of: what READ gives, the newest first, as far as it MATCHES. READ counts in READING
 *  how many octets it has read so far. */
export interface Kept<Item> {
  read: (reading: { octets: number }) => Iterable<Item>;
  matches: (item: Item) => boolean;
}

/** Rows of a list after the first OFFSET, and how many of all were counted. AT_LEAST says that there can be more. */
export interface Newest<Item> {
  rows: Item[];
  offset: number;
  total: number;
  atLeast: boolean;
}

/** Octets after which nothing is only counted any more: they take 2 to 4 ms, and hold some hundred records. */
const COUNTED = 64 * 1024;
/** Milliseconds of reading after which others have their turn: a long search must not keep a cancel waiting. */
const TURN_MS = 5;

/** Returns the rows that ARGS ask for, 20 when they set no limit. Throws a CallError when the call is cancelled, and for
 *  code that would get only a part. */
export async function newestOf<Item>(
  args: PageArguments,
  context: CallContext,
  kept: Kept<Item>,
): Promise<Newest<Item>> {
  const newest = await readNewest(pageOf(args, context, 20), kept, context.signal);
  checkWhole(args, context, newest.total);
  return newest;
}

async function readNewest<Item>(
  { offset, limit }: { offset: number; limit: number },
  { read, matches }: Kept<Item>,
  signal: AbortSignal | undefined,
): Promise<Newest<Item>> {
  const reading = { octets: 0 };
  const rows: Item[] = [];
  let total = 0;
  let turn = performance.now();
  for (const item of read(reading)) {
    if (performance.now() - turn > TURN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      if (signal?.aborted) throw new CallError('The call was cancelled before all was read.');
      turn = performance.now();
    }
    if (!matches(item)) continue;
    total += 1;
    if (total > offset && rows.length < limit) rows.push(item);
    if (total > offset + limit && reading.octets > COUNTED) return { rows, offset, total, atLeast: true };
  }
  return { rows, offset, total, atLeast: false };
}

/** Returns how many of WHAT there are, as the beginning of a header. */
export function countText({ total, atLeast }: { total: number; atLeast: boolean }, what: string): string {
  return `${atLeast ? 'At least ' : ''}${total} ${total === 1 ? what : `${what}s`}`;
}
