/** Reads the definition that a form makes: its operator, its name and, for a method, the qualifiers and specializers.
 * Judges a form only by its shape, so a call has a Definition too. */

import { elementsOf, type Form, symbolNameOf } from './form.ts';
import { PACKAGE_MARKER, type Token, tokenName, tokensOf, upperCase, withoutPackage } from './lexer.ts';

/** The definition that a form (OPERATOR NAME ...) makes. */
export interface Definition {
  /** The operator without its package. */
  operator: string;
  /** The symbol in the name, without its package; preceded by `SETF ` for a setf function. */
  name: string;
  /** The qualifiers and specializers of a method, as `methodKey` returns them; '' for the other definitions of Common
   * Lisp. A form with an operator that is not standard has them too, because it may be a macro that defines methods. */
  method: string;
}

/** Returns the definition that FORM makes; undefined when FORM is not a list with an operator and a name. */
export function definitionOf(form: Form): Definition | undefined {
  const { operator, symbol, setf } = definedSymbol(form);
  const name = symbolNameOf(symbol);
  if (operator === '' || name === '') return undefined;
  return { operator, name: setf ? `SETF ${name}` : name, method: methodOf(form, operator) };
}

/** Returns the operator of FORM, without its package, and the symbol that FORM defines. The operator is '' when FORM is
 * not a list that begins with a symbol. */
export function definedSymbol(form: Form): { operator: string; symbol: Form | undefined; setf: boolean } {
  const [operator, second] = form.tokenKind === '(' ? form.elements : [];
  return { operator: operator?.symbolName ?? '', ...symbolInName(second) };
}

/** Returns the symbol in NAME, the name of a definition. This is NAME itself, its first element, or X in (setf X). */
export function symbolInName(name: Form | undefined): { symbol: Form | undefined; setf: boolean } {
  const parts = elementsOf(name);
  const setf = parts.length === 2 && symbolNameOf(parts[0]) === 'SETF';
  return { symbol: setf ? parts[1] : (parts[0] ?? name), setf };
}

/** Returns true when OPERATOR, a name without package, begins with DEF, as the operators of definitions do. */
export function isDefiner(operator: string): boolean {
  return operator.startsWith('DEF');
}

/** Returns true when a form (OPERATOR NAME ...) defines (setf NAME). OPERATOR has no package. */
export function definesPlace(operator: string): boolean {
  return operator === 'DEFSETF' || operator === 'DEFINE-SETF-EXPANDER';
}

/** Maps each operator of Common Lisp and SBCL that defines a name to the kind of the definition. Only DEFMETHOD makes
 * several definitions of one name. */
export const STANDARD_DEFINERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    DEFCLASS: 'CLASS',
    DEFSTRUCT: 'STRUCTURE CLASS',
    'DEFINE-CONDITION': 'CONDITION CLASS',
    DEFTYPE: 'TYPE',
    DEFUN: 'FUNCTION',
    DEFMACRO: 'MACRO',
    DEFGENERIC: 'GENERIC FUNCTION',
    DEFMETHOD: 'METHOD OF A GENERIC FUNCTION',
    DEFVAR: 'SPECIAL VARIABLE',
    DEFPARAMETER: 'SPECIAL VARIABLE',
    DEFCONSTANT: 'CONSTANT VARIABLE',
    DEFGLOBAL: 'GLOBAL VARIABLE',
    'DEFINE-LOAD-TIME-GLOBAL': 'GLOBAL VARIABLE',
    'DEFINE-SYMBOL-MACRO': 'SYMBOL MACRO',
    'DEFINE-METHOD-COMBINATION': 'METHOD COMBINATION',
    DEFSETF: 'SETF EXPANDER',
    'DEFINE-SETF-EXPANDER': 'SETF EXPANDER',
    'DEFINE-COMPILER-MACRO': 'COMPILER MACRO',
    'DEFINE-MODIFY-MACRO': 'MACRO',
  }),
);

/** The maximum number of elements among which the lambda list of a method is searched. A method has few qualifiers, but
 * a list of data can have very many elements. */
const SEARCHED_ELEMENTS = 12;

/** Returns the index of the lambda list in ELEMENTS, the elements of a method: the index of the first list from FROM
 * on; -1 when there is none. */
export function methodListIndex(elements: readonly Form[], from = 2): number {
  return elements.slice(0, SEARCHED_ELEMENTS).findIndex(({ isList }, index) => index >= from && isList);
}

function methodOf(form: Form, operator: string): string {
  if (operator !== 'DEFMETHOD' && STANDARD_DEFINERS.has(operator)) return '';
  const list = methodListIndex(form.elements);
  const qualifiers = form.elements.slice(2, Math.max(list, 2)).map((part) => methodKey(part.text));
  const parameters = list === -1 ? [] : elementsOf(form.elements[list]);
  const optional = parameters.findIndex((part) => symbolNameOf(part).startsWith('&'));
  const specializers = parameters.slice(0, optional === -1 ? undefined : optional).map(specializerOf);
  return [...qualifiers, ...specializers].join(' ');
}

/** Returns the methods that FORM may mean, each written as `method` of a Definition; [] when no list follows the name.
 * The list can be a lambda list or only specializers, so (defmethod area (circle)) means `T` or `CIRCLE`. */
export function methodsMeant(form: Form): string[] {
  const list = methodListIndex(form.elements);
  if (list === -1) return [];
  const parts = [...form.elements.slice(2, list), ...elementsOf(form.elements[list])];
  const alone = parts.map((part) => methodKey(part.text)).join(' ');
  return [...new Set([definitionOf(form)?.method ?? alone, alone])];
}

/** Returns the specializer of a method's PARAMETER: `CLASS`, `EQL OBJECT`, or T. */
function specializerOf(parameter: Form): string {
  const specializer = elementsOf(parameter)[1];
  return specializer === undefined ? 'T' : methodKey(specializer.text);
}

/** Returns a key of METHOD, the qualifiers and specializers as SBCL prints them or as a file writes them. Equal methods
 * have equal keys. The key contains literals, but no package names. */
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

/** Returns TEXT, a literal, in the spelling that all equal literals share. The reader ignores the case of a character's
 * name, and SBCL prints the space character as `#\ `. */
function literalWord(text: string): string {
  if (text === '#\\ ') return '#\\SPACE';
  const exact = text.startsWith('"') || (text.startsWith('#\\') && [...text].length === 3);
  return exact ? text : upperCase(text);
}
