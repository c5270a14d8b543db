/** Finds the uses of a name in a form. A function is used as an operator, as #'F or as 'F, a variable wherever it
 *  stands. */

import { elementsOf, type Form, operatorOf } from './form.ts';
import { nonForms } from './syntax.ts';

/** A name whose uses are looked for. */
export interface Used {
  name: string;
  /** Whether it is `(setf NAME)`. */
  setf?: boolean;
  /** Whether it names a variable. */
  variable?: boolean;
  /** The names and nicknames of all packages in which the name means the symbol; undefined when unknown. */
  packages?: ReadonlySet<string>;
  /** The current package of the text, in which an unqualified symbol is read. */
  current?: string | undefined;
}

/** True when TOKEN, the name of a token with its package, is the symbol of USED. When the package of TOKEN or the
 *  packages of USED are not known, only the name counts. */
export function namesSymbol(token: string | undefined, { name, packages, current }: Used): boolean {
  if (token === undefined || !token.endsWith(name)) return false;
  const prefix = /^([^\0]*)\0{1,2}(?=.)/s.exec(token);
  const home = prefix === null ? current : prefix[1];
  if (token.slice(prefix?.[0].length ?? 0) !== name || home === '') return false;
  return home === undefined || packages === undefined || packages.has(home);
}

/** Returns the offsets of the uses of USED in FORM, in ascending order. Uses in backquotes count only when there are no
 *  others: the use is then in the code that a local macro expands into. */
export function usesIn(form: Form, used: Used): number[] {
  const found = { code: new Set<number>(), templates: new Set<number>() };
  const seen = new Set<number>();
  const left = [{ list: form.resolved, template: false }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { list, template } = next;
    if (list.kind === 'comma' && list.inner) left.push({ list: list.inner.resolved, template: false });
    if (list.kind !== 'cons' || seen.has(list.at)) continue;
    seen.add(list.at);
    const elements = elementsOf(list);
    const start = useIn(list, used, list === form);
    if (start !== undefined) found[template ? 'templates' : 'code'].add(start);
    if (operatorOf(elements[0]) === 'QUOTE') continue;
    const inner = template || list.template;
    // A binding, clause or parameter can begin with the name of a function and is no call.
    const lists = used.variable || inner ? new Map<Form, Form[]>() : nonForms(elements);
    for (const element of elements)
      for (const part of lists.get(element) ?? [element]) left.push({ list: part.resolved, template: inner });
  }
  return [...(found.code.size > 0 ? found.code : found.templates)].sort((one, other) => one - other);
}

/** Returns the offset where LIST itself, apart from lists in it, uses USED: the start of LIST, or, for a variable in
 *  the WHOLE form, the start of the variable. Returns undefined when LIST does not use it. */
export function useIn(list: Form, used: Used, whole = false): number | undefined {
  if (!used.variable) return isUse(list, used) ? list.start : undefined;
  const named = elementsOf(list).find(({ kind, name }) => kind === 'atom' && namesSymbol(name, used));
  return whole ? named?.start : named && list.start;
}

/** True when LIST calls USED or names it by FUNCTION or QUOTE. */
export function isUse(list: Form, used: Used): boolean {
  const operator = list.first?.resolved.name;
  if (operator !== 'QUOTE' && operator !== 'FUNCTION') return namesSymbol(operator, used);
  const [, argument] = elementsOf(list);
  if (argument?.kind === 'atom') return !used.setf && namesSymbol(argument.name, used);
  const [setf, place] = elementsOf(argument);
  return used.setf === true && setf?.name === 'SETF' && namesSymbol(place?.name, used);
}
