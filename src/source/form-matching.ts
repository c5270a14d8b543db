/** Finds a form in the current text of a file: one that an older text of the file had, or the one that defines a
 * name. */

import { type Definition, definitionOf, methodKey } from './definition.ts';
import { definitionDetails } from './definition-details.ts';
import { formsWithin } from './form.ts';
import { definitionNameOf, partsOfName } from './qualified.ts';
import type { TopLevelForms } from './top-level.ts';

/** The name of a definition whose text is unknown. `name` is `PACKAGE::NAME`; `method` has the qualifiers and
 * specializers of a method. */
export interface DefinitionName {
  name: string;
  method?: string | undefined;
}

/** A top-level form, with the properties that identify it. */
interface Entry {
  start: number;
  text: string;
  definition: Definition | undefined;
  /** Returns the number of required parameters; undefined when the text does not show a lambda list. */
  required: () => number | undefined;
}

const outlines = new WeakMap<TopLevelForms, Entry[]>();

/** Returns the offset in NOW of the form at START in BEFORE. Forms match by operator and name, if needed by
 *  qualifiers and specializers or the number of required parameters too, or by text. Returns undefined unless
 *  exactly one form matches in each text. */
export function formAgain(start: number, before: TopLevelForms, now: TopLevelForms): number | undefined {
  const [olds, news] = [outlineOf(before), outlineOf(now)];
  const old = olds.find((each) => each.start === start);
  if (old === undefined) return undefined;
  const sameName = (other: Entry) => hasName(other, old.definition);
  const keys = [
    sameName,
    (other: Entry) => sameName(other) && other.definition?.method === old.definition?.method,
    (other: Entry) => sameName(other) && other.required() === old.required(),
  ];
  for (const same of old.definition ? keys : []) {
    const again = news.filter(same);
    if (again.length === 0) return undefined;
    if (again.length === 1 && olds.filter(same).length === 1) return again[0]?.start;
  }
  const equal = (other: Entry) => other.text === old.text;
  const again = news.filter(equal);
  return again.length === 1 && olds.filter(equal).length === 1 ? again[0]?.start : undefined;
}

function hasName({ definition }: Entry, wanted: Definition | undefined): boolean {
  return (
    definition !== undefined && definition.operator === wanted?.operator && definition.name === wanted.name
  );
}

/** Returns the offset of the only form of NOW that defines the given name; undefined when no form or several forms
 * do. */
export function formDefining({ name, method }: DefinitionName, now: TopLevelForms): number | undefined {
  const naming = [...now.mentioning([partsOfName(name).symbol])]
    .map(({ form }) => ({ start: form.start, definition: definitionOf(form) }))
    .filter(({ definition }) => definition?.name === definitionNameOf(name));
  if (naming.length <= 1) return naming[0]?.start;
  const wanted = method && methodKey(method);
  const fitting = naming.filter(({ definition }) => wanted !== undefined && definition?.method === wanted);
  return fitting.length === 1 ? fitting[0]?.start : undefined;
}

/** Returns true when the form at START of NOW contains the symbol of the definition. */
export function formMentions(start: number, { name }: DefinitionName, now: TopLevelForms): boolean {
  const { symbol } = partsOfName(name);
  const form = now.formFrom(start);
  if (form !== undefined) for (const part of formsWithin(form)) if (part.symbolName === symbol) return true;
  return false;
}

function outlineOf(forms: TopLevelForms): Entry[] {
  const known = outlines.get(forms);
  if (known !== undefined) return known;
  const entries = forms.allExtents().flatMap(({ start }) => {
    const form = forms.formFrom(start);
    if (form === undefined) return [];
    const required = () => definitionDetails(forms.formFrom(start))?.lambdaList?.required;
    return [{ start, text: form.text, definition: definitionOf(form), required }];
  });
  outlines.set(forms, entries);
  return entries;
}
