/** Finds the places of a name in a Lisp text. */

import { type Features, type Form, readForm, within } from './form.ts';
import { MARK } from './lexer.ts';
import { canHave } from './mentioning.ts';
import { TopLevelForms } from './position.ts';
import type { SourceText } from './text.ts';
import type { TopLevelForm } from './top-level.ts';
import { namesSymbol, type Used } from './uses.ts';

/** A mention of a name. INDEX is that of the name, or of the `(` or #' directly before it. CALLED is true when one of
 *  these precedes it, and it is not quoted. */
export interface Mention {
  index: number;
  called: boolean;
}

/** Returns the uses of NAME, a symbol of any package, in FORM of SOURCE under FEATURES, and the number of definitions
 *  of NAME in FORM. */
export function mentionsOf(
  source: string,
  { start }: TopLevelForm,
  features: Features,
  name: string,
): { uses: Mention[]; definitions: number } {
  const uses: Mention[] = [];
  let definitions = 0;
  const form = readForm(source, start, features);
  const quotes: { end: number; quoted: boolean }[] = [];
  for (const part of form ? within(form) : []) {
    while ((quotes.at(-1)?.end ?? part.end) < part.end) quotes.pop();
    if (part.mark === "'" || part.mark === ',') quotes.push({ end: part.end, quoted: part.mark === "'" });
    if (part.bare !== name || part.name?.startsWith(MARK)) continue;
    const before = elementBefore(part);
    const opened = part.around?.token;
    const opening = opened === "#'" || (opened === '(' && before === undefined);
    if (part.index === 1 && opened === '(' && before?.bare.startsWith('DEF')) definitions++;
    else
      uses.push({
        index: (opening ? part.around : part)?.start ?? 0,
        called: opening && !quotes.at(-1)?.quoted,
      });
  }
  return { uses, definitions };
}

/** Returns the element before PART in its list; undefined when PART is the first, or behind a prefix or a dot. */
function elementBefore({ around, index }: Form): Form | undefined {
  return around?.inner === undefined ? around?.elements[index - 1] : undefined;
}

/** Returns the offsets of the symbol USED in SOURCE under FEATURES, except where the operator DEFINER defines it. */
export function symbolsIn(source: SourceText, features: Features, used: Used, definer: string): number[] {
  const found: number[] = [];
  if (!canHave(source.text, [used.name])) return found;
  const forms = new TopLevelForms(source, features);
  for (const start of forms.starts()) {
    const end = forms.end(start);
    if (!canHave(source.text.slice(start, end), [used.name])) continue;
    const named = { ...used, current: forms.packageAt(start) };
    const form = forms.at(start);
    for (const part of form ? within(form) : [])
      if (part.mark === 'atom' && namesSymbol(part.name, named) && elementBefore(part)?.bare !== definer)
        found.push(part.start);
  }
  return found;
}
