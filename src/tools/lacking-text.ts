// Renders the abilities of live-lisp that an SBCL does not support.

import type { Lacking } from '../image/wire/messages.ts';

/** Returns a phrase for each ability that the image lacks with this SBCL, such as "macroexpand_form cannot
 *  expand all forms within a form". An ability that works without some of its internals has no phrase. */
export function lackingPhrases({ without, fallbacks }: Lacking): string[] {
  return fallbacks.filter(({ ability }) => without.includes(ability)).map(({ instead }) => instead);
}

/** Returns the line that lists the missing abilities, or undefined when none is missing. */
export function lackingLine(lacking: Lacking): string | undefined {
  const phrases = lackingPhrases(lacking);
  return phrases.length === 0 ? undefined : `Less with this SBCL: ${phrases.join('; ')}.`;
}
