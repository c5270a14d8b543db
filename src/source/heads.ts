/** Reads the operator and name of a definition, and for a method the qualifiers and specializers. */

import { elementsOf, type Form, namedBy, symbolNameOf } from './form.ts';
import { PACKAGE_MARKER, type Token, tokenName, tokensOf, upperCase, withoutPackage } from './lexer.ts';

/** The head of a form. `name` is `NAME` or `SETF NAME`; `method` has a method's qualifiers and
 *  specializers. */
export interface Head {
  operator: string;
  name: string;
  method: string;
}

/** Returns the head of FORM; undefined when FORM is no list with an operator and a name. */
export function headOf(form: Form): Head | undefined {
  const [operator, second, ...rest] = elementsOf(form);
  const name = nameIn(second);
  if (operator?.kind !== 'atom' || !operator.name || !name) return undefined;
  const list = rest.findIndex((part) => part.kind === 'cons');
  const qualifiers = rest.slice(0, Math.max(list, 0)).map((part) => methodKey(part.text));
  const required = list === -1 ? [] : elementsOf(rest[list]);
  const optional = required.findIndex((part) => symbolNameOf(part).startsWith('&'));
  const specializers = required.slice(0, optional === -1 ? undefined : optional).map(specializerOf);
  return { operator: operator.name, name, method: [...qualifiers, ...specializers].join(' ') };
}

/** Returns the methods that FORM may mean, each as in the `method` of a Head; [] when no list follows the
 *  name. The list can be a lambda list or only specializers, so (defmethod area (circle)) means `T` or
 *  `CIRCLE`. */
export function methodsMeant(form: Form): string[] {
  const rest = elementsOf(form).slice(2);
  const list = rest.findIndex((part) => part.kind === 'cons');
  if (list === -1) return [];
  const parts = [...rest.slice(0, list), ...elementsOf(rest[list])];
  const alone = parts.map((part) => methodKey(part.text)).join(' ');
  return [...new Set([headOf(form)?.method ?? alone, alone])];
}

/** Returns PART, or its first element if it is a list, as `NAME` or `SETF NAME`. */
function nameIn(part: Form | undefined): string {
  const { symbol, setf } = namedBy(part);
  return `${setf ? 'SETF ' : ''}${symbolNameOf(symbol)}`;
}

/** Returns the specializer of a method's PARAMETER: `CLASS`, `EQL OBJECT`, or T. */
function specializerOf(parameter: Form): string {
  const specializer = elementsOf(parameter)[1];
  return specializer === undefined ? 'T' : methodKey(specializer.text);
}

/** Returns a key of METHOD, the qualifiers and specializers as SBCL prints them or as a file writes them.
 *  Equal methods have equal keys. A key has no package names, but all literals. */
export function methodKey(method: string): string {
  const names: string[] = [];
  for (const token of tokensOf(method)) if (!/^[()']$/.test(token.kind)) names.push(wordOf(token, method));
  return names.filter((name) => name !== 'QUOTE').join(' ');
}

/** Returns TOKEN's name without its package. The colons of keywords and uninterned symbols stay. */
function wordOf(token: Token, text: string): string {
  const written = text.slice(token.start, token.end);
  const name = token.kind === 'atom' ? tokenName(token.kind, written) : '';
  if (name === '') return literalWord(written);
  const mark = name.startsWith(PACKAGE_MARKER + PACKAGE_MARKER)
    ? '#:'
    : name.startsWith(PACKAGE_MARKER)
      ? ':'
      : '';
  return mark + withoutPackage(name);
}

/** Returns the spelling that equal literals like TEXT share. The reader ignores the case of a character's
 *  name, and SBCL prints the space character as `#\ `. */
function literalWord(text: string): string {
  if (text === '#\\ ') return '#\\SPACE';
  const exact = text.startsWith('"') || (text.startsWith('#\\') && [...text].length === 3);
  return exact ? text : upperCase(text);
}
