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

/** Returns the offset in NOW of the form at START in BEFORE. Compares operators and names. If several forms have the
 * same operator and name, also compares qualifiers and specializers, then texts, numbers of required parameters, and
 * positions. Returns undefined when no form or several forms match. */
export function formAgain(start: number, before: TopLevelForms, now: TopLevelForms): number | undefined {
  const [olds, news] = [outlineOf(before), outlineOf(now)];
  const old = olds.find((each) => each.start === start);
  if (old === undefined) return undefined;
  const sameName = (other: Entry) => hasName(other, old.definition);
  const sameMethod = (other: Entry) => sameName(other) && other.definition?.method === old.definition?.method;
  const sameText = (other: Entry) => other.text === old.text;
  const sameRequired = (other: Entry) => sameMethod(other) && other.required() === old.required();
  for (const same of old.definition ? [sameName, sameMethod, sameText, sameRequired] : [sameText]) {
    const again = news.filter(same);
    // A definition with another name or other specializers is another definition.
    if (again.length === 0 && same === sameMethod) return undefined;
    if (again.length === 1 && olds.filter(same).length === 1) return again[0]?.start;
  }
  if (old.definition === undefined) return undefined;
  const starts = (entries: readonly Entry[]) => entries.filter(sameMethod).map((entry) => entry.start);
  return formInOrder(start, before, now, starts(olds), starts(news));
}

/** Returns the offset in NOW of the form at START in BEFORE, by its position among similar forms. OLD_STARTS and
 * NEW_STARTS are the offsets of these similar forms in both texts. Counts only the similar forms between the nearest
 * unchanged forms around the form. Returns undefined when their numbers in NOW and BEFORE differ. */
export function formInOrder(
  start: number,
  before: TopLevelForms,
  now: TopLevelForms,
  oldStarts: readonly number[],
  newStarts: readonly number[],
): number | undefined {
  if (oldStarts.length === 0 || newStarts.length === 0) return undefined;
  const unchanged = unchangedForms(outlineOf(before), outlineOf(now));
  const last = unchanged.findLast((each) => each.old < start);
  const next = unchanged.find((each) => each.old > start);
  const between = (starts: readonly number[], from = -1, to = Number.POSITIVE_INFINITY) =>
    starts.filter((each) => from < each && each < to);
  const olds = between(oldStarts, last?.old, next?.old);
  const news = between(newStarts, last?.now, next?.now);
  return olds.length === news.length ? news[olds.indexOf(start)] : undefined;
}

/** Finds the forms whose text occurs exactly once in OLDS and exactly once in NEWS. Returns the two offsets of each
 * form, sorted by the offset in OLDS. */
function unchangedForms(olds: readonly Entry[], news: readonly Entry[]): { old: number; now: number }[] {
  const [oldByText, newByText] = [onlyByText(olds), onlyByText(news)];
  return olds.flatMap(({ text, start }) => {
    const now = newByText.get(text);
    return now === undefined || oldByText.get(text) === undefined ? [] : [{ old: start, now }];
  });
}

/** Returns the offsets of ENTRIES by text; undefined for a text that several entries have. */
function onlyByText(entries: readonly Entry[]): Map<string, number | undefined> {
  const byText = new Map<string, number | undefined>();
  for (const { text, start } of entries) byText.set(text, byText.has(text) ? undefined : start);
  return byText;
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
