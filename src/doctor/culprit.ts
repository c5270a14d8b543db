// Finds the parts of the agent that must be left out so that an image works.

/** A list of parts that names no real part of the agent. Given any list, an image does not start from its
 *  saved core. So with this list it starts without the core but with all parts. */
export const ONLY_CORE: readonly string[] = ['nothing'];

/** What must be left out so that an image works: its saved core, or PARTS of the agent. */
export type Culprit = { kind: 'core' } | { kind: 'parts'; parts: readonly string[] };

/** Returns what must be left out so that an image works. WORKS resolves to true if an image works without a
 *  list of parts; it must do so for ALL. The binary search takes about log2(ALL.length) tests for each part
 *  at fault. */
export async function findCulprit(
  all: readonly string[],
  works: (without: readonly string[]) => Promise<boolean>,
): Promise<Culprit> {
  if (await works(ONLY_CORE)) return { kind: 'core' };
  const parts: string[] = [];
  let rest = all;
  do {
    const count = await leastCount(rest.length, (count) => works([...parts, ...rest.slice(0, count)]));
    // An image works without the first COUNT parts, but not without the first COUNT - 1, so the last of these
    // parts is at fault.
    parts.push(...rest.slice(count - 1, count));
    rest = rest.slice(0, count - 1);
  } while (rest.length > 0 && !(await works(parts)));
  return { kind: 'parts', parts };
}

/** Returns the least number from 1 to MOST for which SUFFICES is true. SUFFICES must be true for MOST, and is
 *  taken as false for 0. */
async function leastCount(most: number, suffices: (count: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, most];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await suffices(middle)) high = middle;
    else low = middle;
  }
  return high;
}
