// Estimates how common a word is in tools, from a table of published tools (the public tools).

import TABLE from './background.json' with { type: 'json' };

/** The average number of words in each field of a public tool. */
export const PUBLIC_LENGTHS: Readonly<Record<string, number>> = TABLE.lengths;

let counts: ReadonlyMap<string, number> | undefined;

/** Returns how many public tools have TERM, a stem; undefined when it is too rare for the table. */
function publicCount(term: string): number | undefined {
  // The table is parsed by the first search, not at start.
  counts ??= new Map(
    TABLE.terms.split(' ').map((entry) => {
      const [text = '', count] = entry.split(':');
      return [text, Number(count)];
    }),
  );
  return counts.get(term);
}

/** True when public tools use TERM, a stem. */
export function isPublicTerm(term: string): boolean {
  return publicCount(term) !== undefined;
}

/** Returns the smoothed share of public tools that have TERM, from 0 to 1. */
export function publicShare(term: string): number {
  return ((publicCount(term) ?? 0) + 0.5) / (TABLE.tools + 1);
}
