// Looks up several names or files in one call, one after the other, and joins the answers.

import { CallError } from '../errors.ts';
import { fittingRows, joinSections } from '../kernel/reply.ts';
import type { Result } from '../kernel/tool.ts';

/** The parameter for several names. A tool can also have a parameter for one name, if the tool contract (see
 * docs/develop/contracts.md) requires this. */
export const NAMES = {
  name: 'names',
  type: 'array',
  items: { type: 'string' },
} as const;

/** Calls LOOK for NAME and for each of NAMES, and joins the texts to one result. SEVERAL is true when there is more
 * than one name. If not all texts fit into the answer, the other names are only listed, unless `whole` is true.
 * `parameter` is the name of the tool's parameter for NAMES. */
export async function lookedUpEach(
  name: string | undefined,
  names: readonly string[] = [],
  look: (name: string, several: boolean) => Promise<Result>,
  { parameter = 'names', whole = false } = {},
): Promise<Result> {
  // Models that give several names often repeat one of them as the required single name, or leave that empty.
  const named = name === undefined || (name === '' && names.length > 0) ? [] : [name];
  const all = [...new Set([...named, ...names])];
  const [only, ...others] = all;
  if (only === undefined)
    throw new CallError(`${parameter} is empty; give at least one ${parameter.slice(0, -1)}.`);
  if (others.length === 0) return look(only, false);
  const results: Result[] = [];
  for (const each of all) results.push(await look(each, true));
  const texts = results.map(({ text }) => text);
  const shown = whole ? texts : fittingRows(texts);
  const left = all.slice(shown.length);
  return {
    data: results.map(({ data }) => data),
    text: joinSections([
      ...shown,
      left.length > 0 &&
        `Not shown, as the answer is full: ${left.join(', ')}. Ask for those in another call.`,
    ]),
    ...(results.every(({ absent }) => absent) && { absent: true }),
    unfound: results.some(({ unfound }) => unfound),
  };
}
