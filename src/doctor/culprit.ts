// Decides how it is found out which parts of the agent an image does not work with.

/** A list that leaves out no part, but has the image start without its saved core. */
export const ONLY_CORE: readonly string[] = ['nothing'];

/** What an image must do without to work: its saved core, or PARTS of the agent. */
export type Culprit = { kind: 'core' } | { kind: 'parts'; parts: readonly string[] };

/** Returns what an image must do without to work, as WORKS tells for lists of parts. It works without ALL of them. Tries
 *  about as many lists as the number of all parts has binary digits, for each part that is at fault. */
export async function findCulprit(
  all: readonly string[],
  works: (without: readonly string[]) => Promise<boolean>,
): Promise<Culprit> {
  if (await works(ONLY_CORE)) return { kind: 'core' };
  const parts: string[] = [];
  let rest = all;
  do {
    const count = await leastCount(rest.length, (count) => works([...parts, ...rest.slice(0, count)]));
    // With all before it, and not without it, an image works.
    parts.push(...rest.slice(count - 1, count));
    rest = rest.slice(0, count - 1);
  } while (rest.length > 0 && !(await works(parts)));
  return { kind: 'parts', parts };
}

/** Returns the least number from 1 to MOST that SUFFICES. The number MOST does, 0 does not. */
async function leastCount(most: number, suffices: (count: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, most];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await suffices(middle)) high = middle;
    else low = middle;
  }
  return high;
}
