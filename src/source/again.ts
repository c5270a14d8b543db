/** Finds in the current text of a file a top-level form of an older text, or the form that defines a name. */

import { bareName, elementsOf, type Form, namedBy, within } from './form.ts';
import { bare, MARK, nameOf, type Token, tokensOf, upperCase } from './lexer.ts';
import { formsMentioning } from './mentioning.ts';
import type { TopLevelForms } from './position.ts';
import { headNameOf, partsOfName } from './qualified.ts';

/** A definition whose text is not known. NAME is `PACKAGE::NAME`, METHOD the qualifiers and specializers of a
 *  method. */
export interface Definition {
  name: string;
  method?: string | undefined;
}

/** What identifies a form: its operator, the name after it, and a method's qualifiers and specializers. */
export interface Head {
  operator: string;
  name: string;
  method: string;
}

/** A top-level form with what identifies it. */
interface Entry {
  start: number;
  text: string;
  head: Head | undefined;
}

const outlines = new WeakMap<TopLevelForms, Entry[]>();

/** Returns the offset in NOW of the form that begins at START in BEFORE. The match is certain when exactly
 *  one form in each text has its operator and name; or these and its qualifiers and specializers; or its text. Returns
 *  undefined otherwise. */
export function formAgain(start: number, before: TopLevelForms, now: TopLevelForms): number | undefined {
  const [olds, news] = [outlineOf(before), outlineOf(now)];
  const old = olds.find((each) => each.start === start);
  if (old === undefined) return undefined;
  const sameName = (other: Entry) => hasName(other, old.head);
  const keys = [sameName, (other: Entry) => sameName(other) && other.head?.method === old.head?.method];
  for (const same of old.head ? keys : []) {
    const again = news.filter(same);
    if (again.length === 0) return undefined;
    if (again.length === 1 && olds.filter(same).length === 1) return again[0]?.start;
  }
  const equal = (other: Entry) => other.text === old.text;
  const again = news.filter(equal);
  return again.length === 1 && olds.filter(equal).length === 1 ? again[0]?.start : undefined;
}

function hasName({ head }: Entry, wanted: Head | undefined): boolean {
  return head !== undefined && head.operator === wanted?.operator && head.name === wanted.name;
}

/** Returns the offset of the form of NOW that defines DEFINITION; undefined when there is none, or several. */
export function formDefining({ name, method }: Definition, now: TopLevelForms): number | undefined {
  const symbol = headNameOf(name);
  const naming = formsMentioning(now, symbol)
    .flatMap((at) => entryAt(now, at) ?? [])
    .filter(({ head }) => head?.name === symbol);
  if (naming.length <= 1) return naming[0]?.start;
  const wanted = method && namesIn(method);
  const fitting = naming.filter(({ head }) => wanted !== undefined && head?.method === wanted);
  return fitting.length === 1 ? fitting[0]?.start : undefined;
}

/** True when the form at START of NOW contains the symbol of DEFINITION. */
export function isNamed(start: number, { name }: Definition, now: TopLevelForms): boolean {
  const { symbol } = partsOfName(name);
  const form = now.at(start);
  if (form !== undefined) for (const part of within(form)) if (part.bare === symbol) return true;
  return false;
}

function outlineOf(forms: TopLevelForms): Entry[] {
  const known = outlines.get(forms);
  if (known !== undefined) return known;
  const entries = forms.starts().flatMap((at) => entryAt(forms, at) ?? []);
  outlines.set(forms, entries);
  return entries;
}

function entryAt(forms: TopLevelForms, at: number): Entry | undefined {
  const found = forms.at(at);
  return found && { start: found.start, text: found.text, head: headOf(found) };
}

/** Returns the head of FORM; undefined when FORM is no list with an operator and a name. */
export function headOf(form: Form): Head | undefined {
  const [operator, second, ...rest] = elementsOf(form);
  const name = nameIn(second);
  if (operator?.kind !== 'atom' || !operator.name || !name) return undefined;
  const list = rest.findIndex((part) => part.kind === 'cons');
  const qualifiers = rest.slice(0, Math.max(list, 0)).map((part) => namesIn(part.text));
  const required = list === -1 ? [] : elementsOf(rest[list]);
  const optional = required.findIndex((part) => bareName(part).startsWith('&'));
  const specializers = required.slice(0, optional === -1 ? undefined : optional).map(specializerOf);
  return { operator: operator.name, name, method: [...qualifiers, ...specializers].join(' ') };
}

/** Returns the methods that a user may mean by FORM, each as the METHOD of a Head. The list in FORM can
 *  be a lambda list, or a list of only specializers: (defmethod area (circle)) means `T` or `CIRCLE`. Returns [] when
 *  no list follows the name. */
export function methodsMeant(form: Form): string[] {
  const rest = elementsOf(form).slice(2);
  const list = rest.findIndex((part) => part.kind === 'cons');
  if (list === -1) return [];
  const parts = [...rest.slice(0, list), ...elementsOf(rest[list])];
  const alone = parts.map((part) => namesIn(part.text)).join(' ');
  return [...new Set([headOf(form)?.method ?? alone, alone])];
}

/** Returns the name that PART is or begins with: `NAME` or `SETF NAME`. */
function nameIn(part: Form | undefined): string {
  const { symbol, setf } = namedBy(part);
  return `${setf ? 'SETF ' : ''}${bareName(symbol)}`;
}

/** Returns the specializer of PARAMETER, of a method: `CLASS`, `EQL OBJECT`, or T. */
function specializerOf(parameter: Form): string {
  const specializer = elementsOf(parameter)[1];
  return specializer === undefined ? 'T' : namesIn(specializer.text);
}

/** Returns the names (without packages) and the literals in METHOD, joined by spaces. METHOD has the qualifiers and
 *  specializers of a method, as SBCL prints them or as they stand in a text. Methods with equal results can be the same. */
export function namesIn(method: string): string {
  const names: string[] = [];
  for (const token of tokensOf(method)) if (!/^[()']$/.test(token.kind)) names.push(wordOf(token, method));
  return names.filter((name) => name !== 'QUOTE').join(' ');
}

/** Returns TOKEN's name without package, but with the mark of a keyword or uninterned symbol; for a literal its
 *  text. */
function wordOf(token: Token, text: string): string {
  const written = text.slice(token.start, token.end);
  const name = token.kind === 'atom' ? nameOf(token.kind, written) : '';
  if (name === '') return literalWord(written);
  const mark = name.startsWith(MARK + MARK) ? '#:' : name.startsWith(MARK) ? ':' : '';
  return mark + bare(name);
}

/** Returns TEXT, a literal such as a string, number or character, in a spelling that equal literals share. The reader
 *  ignores the case of a character's name; SBCL prints the character for a space as `#\ `. */
function literalWord(text: string): string {
  if (text === '#\\ ') return '#\\SPACE';
  const exact = text.startsWith('"') || (text.startsWith('#\\') && [...text].length === 3);
  return exact ? text : upperCase(text);
}
