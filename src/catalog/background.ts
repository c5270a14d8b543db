// Decides how much a word tells in any catalog: how many of the tools that others have published have it.

import TABLE from './background.json' with { type: 'json' };

/** How many words each field of a public tool has on average. */
export const USUAL_LENGTHS: Readonly<Record<string, number>> = TABLE.lengths;

let counts: ReadonlyMap<string, number> | undefined;

/** Returns how many public tools have TERM, a stem; undefined when hardly any has. */
function publicCount(term: string): number | undefined {
  // The first search reads the table.
  counts ??= new Map(
    TABLE.terms.split(' ').map((entry) => {
      const [text = '', count] = entry.split(':');
      return [text, Number(count)];
    }),
  );
  return counts.get(term);
}

/** Returns whether public tools use TERM, a stem. */
export function isUsual(term: string): boolean {
  return publicCount(term) !== undefined;
}

/** Returns the share of public tools that have TERM. */
export function usualShare(term: string): number {
  return ((publicCount(term) ?? 0) + 0.5) / (TABLE.tools + 1);
}
