// Finds names that are derived from the name of a symbol, such as those of accessors, and computes their new names.

import type { RenameFacts, StructureData } from '../../image/wire/operations.ts';
import { type Form, formsWithin } from '../../source/form.ts';
import { type KeywordTakers, noKeywordTakers } from '../../source/keywords.ts';
import { unqualifiedName } from '../../source/qualified.ts';

/** The effects of a rename on other names. `names` maps derived names to new names. `takers` are definitions that
 * accept the symbol's name as a keyword. */
export interface DerivedNames {
  names: Map<string, string>;
  takers: KeywordTakers;
}

/** Returns the names that are derived from the symbol of FACTS, which is renamed to TO. FORMS are the top-level forms
 * that define the symbol. A name in the text of these forms is explicit, so it is not derived. Nor is a name that is
 * made from one that is written there, such as from the AREA- in (:conc-name area-). */
export function derivedNames(facts: RenameFacts, to: string, forms: readonly Form[]): DerivedNames {
  const from = unqualifiedName(facts.name);
  const written = new Set(forms.flatMap(namesWritten));
  const derived: DerivedNames = { names: new Map(), takers: noKeywordTakers() };
  for (const structure of facts.structures ?? []) ofStructure(structure, from, to, written, derived);
  const isWritten = (name: string) =>
    [...written].some(
      (each) => each === name || (each !== from && each.includes(from) && name.startsWith(each)),
    );
  for (const name of facts.made ?? []) {
    const made = derived.names.has(name) || isWritten(name) ? undefined : madeOf(name, from, to);
    if (made !== undefined) derived.names.set(name, made);
  }
  return derived;
}

/** Adds to `names` the functions of a structure that get another name when FROM is renamed to TO, each with its new
 * name. Leaves out names in WRITTEN: DEFSTRUCT does not derive these, because the definition contains them. If the
 * structure has a slot FROM, adds to `takers` the structure and the constructors that take the keyword :FROM. */
function ofStructure(
  { name, slots = [], constructors = [], takingSlots = [], predicate, copier }: StructureData,
  from: string,
  to: string,
  written: ReadonlySet<string>,
  { names, takers }: DerivedNames,
): void {
  const own = unqualifiedName(name) === from;
  if (own) {
    for (const each of [...constructors, predicate, copier]) {
      const made = each === undefined || written.has(each) ? undefined : madeOf(each, from, to);
      if (each !== undefined && made !== undefined) names.set(each, made);
    }
  }
  for (const [slot, accessor] of slots) {
    const prefix = accessor.slice(0, accessor.length - slot.length);
    const follows = own && prefix === `${from}-` && !written.has(prefix);
    const made = (follows ? `${to}-` : prefix) + (slot === from ? to : slot);
    if (made !== accessor) names.set(accessor, made);
  }
  if (!slots.some(([slot]) => slot === from)) return;
  takers.structures.add(unqualifiedName(name));
  for (const each of takingSlots) takers.functions.add(each);
}

/** Returns NAME with the word FROM replaced by TO. Returns undefined unless the word occurs exactly once. */
function madeOf(name: string, from: string, to: string): string | undefined {
  const word = from.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const found = [...name.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'gu'))];
  const [only] = found;
  if (only === undefined || found.length > 1) return undefined;
  return name.slice(0, only.index) + to + name.slice(only.index + from.length);
}

/** Returns the names of the symbols in FORM, and the contents of its strings, since a DEFSTRUCT may have these too. */
function namesWritten(form: Form): string[] {
  return [...formsWithin(form)].map((each) => (each.isString ? each.text.slice(1, -1) : each.symbolName));
}
