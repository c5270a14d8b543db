// Renders the abilities of live-lisp that an SBCL does not support.

import type { Lacking } from '../image/wire/messages.ts';

/** Returns a phrase for each ability that this SBCL does not support. An ability with a substitute has no
 * phrase. */
export function lackingPhrases({ without, fallbacks }: Lacking): string[] {
  return fallbacks.filter(({ ability }) => without.includes(ability)).map(({ instead }) => instead);
}

/** Returns the line that lists the missing abilities, or undefined when none is missing. */
export function lackingLine(lacking: Lacking): string | undefined {
  const phrases = lackingPhrases(lacking);
  return phrases.length === 0 ? undefined : `Less with this SBCL: ${phrases.join('; ')}.`;
}
