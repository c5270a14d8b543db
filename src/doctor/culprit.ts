// Finds the parts of the agent that must be left out for an image to work.

/** A list that leaves out no part, but makes the image start without its saved core. */
export const ONLY_CORE: readonly string[] = ['nothing'];

/** What an image must do without to work: its saved core, or PARTS of the agent. */
export type Culprit = { kind: 'core' } | { kind: 'parts'; parts: readonly string[] };

/** Returns what an image must do without to work. WORKS is true for a list of parts if an image works without them; it
 *  must be true for ALL. Each part at fault takes about log2(ALL.length) tests, by binary search. */
export async function findCulprit(
  all: readonly string[],
  works: (without: readonly string[]) => Promise<boolean>,
): Promise<Culprit> {
  if (await works(ONLY_CORE)) return { kind: 'core' };
  const parts: string[] = [];
  let rest = all;
  do {
    const count = await leastCount(rest.length, (count) => works([...parts, ...rest.slice(0, count)]));
    // The image works without the first COUNT parts, but not without one fewer: the last of them is at fault.
    parts.push(...rest.slice(count - 1, count));
    rest = rest.slice(0, count - 1);
  } while (rest.length > 0 && !(await works(parts)));
  return { kind: 'parts', parts };
}

/** Returns the least number from 1 to MOST for which SUFFICES is true. It must be true for MOST, and is false for 0. */
async function leastCount(most: number, suffices: (count: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, most];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await suffices(middle)) high = middle;
    else low = middle;
  }
  return high;
}
