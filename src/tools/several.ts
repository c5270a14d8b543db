// Decides how several names are looked up in one call: one after the other, answered in one text.

import { CallError } from '../errors.ts';
import { joinSections } from '../kernel/reply.ts';
import type { Result } from '../kernel/tool.ts';

/** The names beside the one that the contract has, or in its place. */
export const NAMES = {
  name: 'names',
  type: 'array',
  items: { type: 'string' },
  description: 'Several names at once, in place of one',
} as const;

/** Returns what LOOK finds for NAME, when that is given, and for each of NAMES, in one text. */
export async function lookedUpEach(
  name: string | undefined,
  names: readonly string[] = [],
  look: (name: string) => Promise<Result>,
): Promise<Result> {
  const [only, ...others] = [...(name === undefined ? [] : [name]), ...names];
  if (only === undefined) throw new CallError('names is empty; give at least one name.');
  if (others.length === 0) return look(only);
  const results: Result[] = [];
  for (const each of [only, ...others]) results.push(await look(each));
  return {
    data: results.map(({ data }) => data),
    text: joinSections(results.map(({ text }) => text)),
    ...(results.every(({ absent }) => absent) && { absent: true }),
  };
}
