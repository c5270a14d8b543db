// Finds the text of a definition that is in no file, in the history of evaluations.

import type { ReplHistory } from '../../records/repl-history.ts';
import { definitionsNamed } from '../../source/definitions.ts';
import { canHave, symbolIn } from '../../source/mentioning.ts';
import { TopLevelForms } from '../../source/position.ts';
import { SourceText } from '../../source/text.ts';

/** At most this many evaluations are searched. */
const LOOKED_AT = 1000;

/** Returns the newest form in HISTORY that defines SYMBOL (a name without package), and when it was evaluated. */
export function evaluatedForm(
  history: ReplHistory,
  symbol: string,
): { text: string; time: string } | undefined {
  let looked = 0;
  for (const { form, time, error } of history.newestFirst()) {
    if (looked++ >= LOOKED_AT) return undefined;
    // Most forms do not contain the name, and a text search costs less than reading.
    if (error !== undefined || !canHave(form, [symbolIn(symbol)])) continue;
    const forms = new TopLevelForms(new SourceText(form), new Set());
    const found = definitionsNamed(forms, symbol).at(-1);
    if (found !== undefined) return { text: form.slice(found.start, found.end), time };
  }
  return undefined;
}
