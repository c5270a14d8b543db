// Decides how it reads what live-lisp cannot do with an SBCL.

import type { Lacking } from '../image/wire/messages.ts';

/** Returns a phrase for each thing that is LACKING, such as "errors tell no frames". An ability that works without
 *  some of its internals has no phrase. */
export function lackingPhrases({ without, fallbacks }: Lacking): string[] {
  return fallbacks.filter(({ ability }) => without.includes(ability)).map(({ instead }) => instead);
}

/** Returns the line that tells what is LACKING; undefined where nothing is. */
export function lackingLine(lacking: Lacking): string | undefined {
  const phrases = lackingPhrases(lacking);
  return phrases.length === 0 ? undefined : `Less with this SBCL: ${phrases.join('; ')}.`;
}
