// Renders the abilities that live-lisp lacks with the SBCL in use, because this SBCL lacks internals that they need.

import type { Lacking } from '../image/wire/messages.ts';

/** Returns a phrase for each ability that this SBCL lacks. Abilities that have a full substitute are left out. */
export function lackingPhrases({ without, fallbacks }: Lacking): string[] {
  return fallbacks.filter(({ ability }) => without.includes(ability)).map(({ instead }) => instead);
}

/** Returns the line that lists the missing abilities; undefined when none is missing. */
export function lackingLine(lacking: Lacking): string | undefined {
  const phrases = lackingPhrases(lacking);
  return phrases.length === 0 ? undefined : `Less with this SBCL: ${phrases.join('; ')}.`;
}
