// Finds the parts of the agent that must be left out so that an image works.

/** A list of parts to leave out that names no real part. An image with any such list does not start from
 *  its saved core, so this list leaves out only the core. */
export const ONLY_CORE: readonly string[] = ['nothing'];

/** The cause why no image works: its saved core, or PARTS of the agent. */
type Culprit = { kind: 'core' } | { kind: 'parts'; parts: readonly string[] };

/** Returns what must be left out so that an image works. WORKS resolves to whether an image works without a
 *  list of parts, true for ALL. Takes about log2(ALL.length) tests for each part at fault. */
export async function findCulprit(
  all: readonly string[],
  works: (without: readonly string[]) => Promise<boolean>,
): Promise<Culprit> {
  if (await works(ONLY_CORE)) return { kind: 'core' };
  const parts: string[] = [];
  let rest = all;
  do {
    const count = await leastCount(rest.length, (count) => works([...parts, ...rest.slice(0, count)]));
    // An image works without the first COUNT parts, but not without COUNT - 1: the last of them is at fault.
    parts.push(...rest.slice(count - 1, count));
    rest = rest.slice(0, count - 1);
  } while (rest.length > 0 && !(await works(parts)));
  return { kind: 'parts', parts };
}

/** Returns the least number from 1 to MOST for which SUFFICES is true, as it must be for MOST. */
async function leastCount(most: number, suffices: (count: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, most];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await suffices(middle)) high = middle;
    else low = middle;
  }
  return high;
}
