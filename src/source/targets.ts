/** Finds the forms of a Lisp text that define a name. Judges only by how a form looks: (OPERATOR NAME ...). */

import { headOf } from './again.ts';
import { onOneLine } from './definitions.ts';
import { elementsOf, type Form } from './form.ts';
import { formsMentioning } from './mentioning.ts';
import type { TopLevelForms } from './position.ts';

/** What to find. NAME is `NAME` or `SETF NAME`. METHODS are possible qualifiers and specializers, each as the METHOD
 *  of a Head; a form that has others does not count. */
export interface Wanted {
  name: string;
  operator?: string;
  methods?: readonly string[];
}

/** A form that defines the name. */
export interface Target {
  start: number;
  end: number;
  /** Offset of the #+ or #- before it, or its own start. */
  lead: number;
  /** Start of the top-level form that it is or is in. */
  top: number;
  operator: string;
  /** Its qualifiers and specializers; '' without any. */
  method: string;
  /** The name as written, and the package in which it is read. */
  written: string;
  home: string;
  /** How the form begins: operator, name, and a method's qualifiers and specializers. */
  head: string;
}

/** How deep definitions are searched for within forms that have no name, as in (eval-when (...) (defun name ...)). */
const DEPTH = 3;

/** Returns the forms that WANTED most likely means; see `preferred`. */
export function targetsNamed(forms: TopLevelForms, wanted: Wanted): Target[] {
  return preferred(allNamed(forms, wanted), wanted);
}

/** Returns all forms that name WANTED, methods included. */
export function allNamed(forms: TopLevelForms, wanted: Wanted): Target[] {
  return formsMentioning(forms, wanted.name).flatMap((top) => {
    const form = forms.at(top);
    const place = { top, lead: forms.lead(top), home: forms.homeAt(top) };
    return form ? within(form, wanted, place, 0) : [];
  });
}

/** Returns those of ALL that WANTED most likely means: only definitions if there are any, and of a generic function and
 *  its methods only the generic function. */
function preferred(all: Target[], { operator, methods }: Wanted): Target[] {
  const found = methods === undefined ? all : all.filter(({ method }) => methods.includes(method));
  // No method has these specializers: the list asked for may be the lambda list of a function.
  if (found.length === 0 && operator !== 'DEFMETHOD') return all;
  if (operator !== undefined) return found;
  const defining = found.filter((each) => each.operator.startsWith('DEF'));
  const others = defining.filter((each) => each.operator !== 'DEFMETHOD');
  return [others, defining, found].find(({ length }) => length > 0) ?? [];
}

/** The top-level form that is searched: its start, the #+ or #- before it, and its package. */
type Place = Pick<Target, 'top' | 'lead' | 'home'>;

function within(form: Form, wanted: Wanted, place: Place, depth: number): Target[] {
  const [operator, name, ...rest] = elementsOf(form);
  if (operator?.kind !== 'atom' || name === undefined) return [];
  const target = targetOf(form, wanted, place);
  if (target?.operator.startsWith('DEF')) return [target];
  const written = name.text;
  const names = (name.kind !== 'cons' && !/^\(\s*\)$/.test(written)) || /^\(setf\s/i.test(written);
  const inner =
    names || depth === DEPTH ? [] : [name, ...rest].flatMap((each) => within(each, wanted, place, depth + 1));
  // A form that begins with the name can be a binding, as in (let (table) (defun table ...)).
  const defining = inner.filter(({ operator }) => operator.startsWith('DEF'));
  if (defining.length > 0 || target === undefined) return defining.length > 0 ? defining : inner;
  return [target];
}

function targetOf(form: Form, wanted: Wanted, place: Place): Target | undefined {
  const [operator, name, ...rest] = elementsOf(form);
  if (operator === undefined || name === undefined) return undefined;
  const head = headOf(form);
  const bare = head?.name ?? stringIn(name);
  const named = name.kind === 'cons' && !bare?.startsWith('SETF ') ? (elementsOf(name)[0] ?? name) : name;
  const is = (one: string | undefined, other: string) => one === undefined || one === other;
  const same = bare === wanted.name && is(wanted.operator, head?.operator ?? operator.text.toUpperCase());
  if (!same) return undefined;
  const list = rest.findIndex(({ kind }) => kind === 'cons');
  const parts = head?.operator === 'DEFMETHOD' ? rest.slice(0, list + 1) : [];
  const shown = [operator, name, ...parts].map((part) => onOneLine(part.text));
  return {
    ...place,
    start: form.start,
    end: form.end,
    lead: form.start === place.top ? place.lead : (form.lead ?? form.start),
    operator: head?.operator ?? '',
    method: head?.method ?? '',
    written: onOneLine(named.text),
    head: `(${shown.join(' ')})`,
  };
}

/** Returns the name in PART, in upper case, when PART is a string, as in (defsystem "name" ...). */
function stringIn(part: Form): string | undefined {
  return part.isString ? part.text.slice(1, -1).toUpperCase() : undefined;
}
