/** Decides which lists in a form bind names. The first element of such a list is no operator. */

import { bareName, elementsOf, type Form, resolve } from './form.ts';

/** Operators of Common Lisp behind which a list of bindings stands: a name, or a list of one and of forms. */
const LETS: ReadonlySet<string> = new Set(['LET', 'LET*', 'PROG', 'PROG*', 'DO', 'DO*', 'SYMBOL-MACROLET']);

/** Operators behind which one binding stands. */
const ONES: ReadonlySet<string> = new Set(['DOLIST', 'DOTIMES', 'DO-SYMBOLS', 'DO-EXTERNAL-SYMBOLS']);

/** Operators behind which a list of names or a lambda list stands, and how many elements come before. */
const LAMBDA_LISTS: ReadonlyMap<string, number> = new Map([
  ...['LAMBDA', 'MULTIPLE-VALUE-BIND', 'DESTRUCTURING-BIND'].map((name) => [name, 1] as const),
  ...['DEFUN', 'DEFMACRO', 'DEFTYPE', 'DEFGENERIC', 'DEFINE-COMPILER-MACRO', 'DEFINE-SETF-EXPANDER'].map(
    (name) => [name, 2] as const,
  ),
  ...['DEFSETF', 'DEFINE-MODIFY-MACRO'].map((name) => [name, 2] as const),
]);

/** Operators with a list of slots, each a name or a list of one, and how many elements come before. */
const SLOTS: ReadonlyMap<string, number> = new Map([
  ...['DEFCLASS', 'DEFINE-CONDITION'].map((name) => [name, 3] as const),
  ...['WITH-SLOTS', 'WITH-ACCESSORS'].map((name) => [name, 1] as const),
]);

/** Operators with a list of local functions. */
const LOCAL: ReadonlySet<string> = new Set(['FLET', 'LABELS', 'MACROLET']);

/** Returns the parts of a form of ELEMENTS that bind names, each with the forms in it that are evaluated. */
export function bindingsIn(elements: readonly Form[]): Map<Form, Form[]> {
  const operator = resolve(elements[0])?.name ?? '';
  const [, second] = elements;
  if (LETS.has(operator)) return inPlace(second, elementsOf(resolve(second)).flatMap(behindName));
  if (ONES.has(operator)) return inPlace(second, behindName(second));
  if (LOCAL.has(operator)) return inPlace(second, elementsOf(resolve(second)).flatMap(bodyOfLocal));
  const slots = SLOTS.get(operator);
  if (slots !== undefined)
    return inPlace(elements[slots], elementsOf(resolve(elements[slots])).flatMap(behindName));
  if (operator === 'DEFSTRUCT')
    return new Map(elements.slice(2).flatMap((slot) => [...inPlace(slot, behindName(slot))]));
  const list = elements[operator === 'DEFMETHOD' ? methodList(elements) : lambdaListAt(operator, elements)];
  return inPlace(list, defaultsIn(list));
}

function inPlace(part: Form | undefined, forms: Form[]): Map<Form, Form[]> {
  return resolve(part)?.kind === 'cons' && part ? new Map([[part, forms]]) : new Map();
}

/** Gives the index of the lambda list among ELEMENTS. A method in a DEFGENERIC has no name. */
function lambdaListAt(operator: string, elements: readonly Form[]): number {
  if (operator !== 'METHOD' && bareName(elements[0]) === 'METHOD') return methodList(elements, 1);
  return LAMBDA_LISTS.get(operator) ?? elements.length;
}

/** Gives the index of the first list among ELEMENTS from FIRST on: before it stand a name and qualifiers. */
function methodList(elements: readonly Form[], first = 2): number {
  const index = elements.slice(first).findIndex((element) => resolve(element)?.kind === 'cons');
  return index === -1 ? elements.length : first + index;
}

function behindName(binding: Form | undefined): Form[] {
  return elementsOf(resolve(binding)).slice(1);
}

/** Gives the defaults in a local function's lambda list, and its body. */
function bodyOfLocal(definition: Form): Form[] {
  const [, list, ...body] = elementsOf(resolve(definition));
  return [...defaultsIn(list), ...body];
}

/** Gives the forms in a lambda list: the defaults of parameters. */
function defaultsIn(list: Form | undefined): Form[] {
  let optional = false;
  return elementsOf(resolve(list)).flatMap((parameter) => {
    optional ||= ['&OPTIONAL', '&KEY', '&AUX'].includes(resolve(parameter)?.name ?? '');
    return optional ? behindName(parameter).slice(0, 1) : [];
  });
}
