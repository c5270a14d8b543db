/** Finds the lists in Common Lisp forms that are not evaluated as forms, such as bindings, clauses and declarations.
 * Their first element is not an operator. Also finds the places that a form sets. */

import { methodListIndex } from './definition.ts';
import { elementsOf, type Form, nameOf, symbolNameOf } from './form.ts';
import { isKeywordName, PACKAGE_MARKER } from './lexer.ts';

/** Maps each list that is not evaluated as a form to the evaluated forms in it. */
type Parts = Map<Form, readonly Form[]>;

/** A function that takes the elements of a form and returns those lists among them that are not evaluated (see
 * Parts). */
type Syntax = (elements: readonly Form[]) => Parts;

/** A function that takes a list which is not evaluated and returns the evaluated forms in it. */
type FormsIn = (list: Form) => readonly Form[];

/** Returns the lists among ELEMENTS of a form that are not evaluated, each with the evaluated forms in it. */
export function nonForms(elements: readonly Form[]): Parts {
  const name = nameOf(elements[0]);
  // A method in a DEFGENERIC, (:method ...), has no name.
  if (name === `${PACKAGE_MARKER}METHOD`) return methodList(elements, 1);
  // An operator counts in any package, but a keyword is none.
  const syntax = isKeywordName(name) ? undefined : SYNTAX.get(symbolNameOf(elements[0]));
  return syntax?.(elements) ?? new Map();
}

/** Maps an operator to a function for its forms. The function finds the lists in a form that are not evaluated. */
const SYNTAX: ReadonlyMap<string, Syntax> = new Map([
  ...each('LET LET* PROG PROG* SYMBOL-MACROLET HANDLER-BIND RESTART-BIND', at(1, eachOf(afterFirst))),
  ...each('DO DO*', at(1, eachOf(afterFirst)), at(2, elementsOf)),
  ...each(
    'DOLIST DOTIMES DO-SYMBOLS DO-EXTERNAL-SYMBOLS DO-ALL-SYMBOLS WITH-OPEN-FILE WITH-OPEN-STREAM WITH-SIMPLE-RESTART',
    at(1, afterFirst),
  ),
  ...each('WITH-OUTPUT-TO-STRING WITH-INPUT-FROM-STRING PPRINT-LOGICAL-BLOCK', at(1, afterFirst)),
  ...each('WITH-HASH-TABLE-ITERATOR WITH-PACKAGE-ITERATOR', at(1, afterFirst)),
  ...each('COND', from(1, elementsOf)),
  ...each('CASE ECASE CCASE TYPECASE ETYPECASE CTYPECASE', from(2, afterFirst)),
  ...each('HANDLER-CASE RESTART-CASE', from(2, inFunction)),
  ...each('PRINT-UNREADABLE-OBJECT', at(1, elementsOf)),
  ...each('ASSERT', at(2, elementsOf)),
  ...each('DECLARE DECLAIM DEFPACKAGE', from(1, nothing)),
  ...each('EVAL-WHEN THE MULTIPLE-VALUE-SETQ', at(1, nothing)),
  ...each('FLET LABELS MACROLET', at(1, eachOf(inFunction))),
  ...each('LAMBDA MULTIPLE-VALUE-BIND DESTRUCTURING-BIND', at(1, defaultsIn)),
  ...each('DEFUN DEFMACRO DEFTYPE DEFGENERIC DEFINE-COMPILER-MACRO DEFINE-SETF-EXPANDER', at(2, defaultsIn)),
  ...each('DEFINE-MODIFY-MACRO', at(2, defaultsIn)),
  ...each('DEFSETF', at(2, defaultsIn), at(3, nothing)),
  ...each('DEFINE-METHOD-COMBINATION', at(2, defaultsIn), at(3, eachOf(afterFirst))),
  ...each('DEFMETHOD', methodList),
  // All options of a slot count as evaluated forms, even its type.
  ...each('DEFCLASS DEFINE-CONDITION', at(2, nothing), at(3, eachOf(afterFirst))),
  ...each('WITH-SLOTS WITH-ACCESSORS', at(1, eachOf(afterFirst))),
  ...each('DEFSTRUCT', at(1, eachOf(structureOption)), from(2, afterFirst)),
  ...each('LOOP', loopPatterns),
]);

/** Returns an entry of the map SYNTAX for each name in OPERATORS, a text with spaces between the names. The Syntax of
 * each entry finds what any of SYNTAXES finds. */
function each(operators: string, ...syntaxes: Syntax[]): [string, Syntax][] {
  const syntax: Syntax = (elements) => new Map(syntaxes.flatMap((one) => [...one(elements)]));
  return operators.split(' ').map((operator) => [operator, syntax]);
}

/** Returns the Syntax for an operator in whose forms the element INDEX is not evaluated, such as LET: element 1 is a
 * list of bindings. FORMS_IN takes this element, and returns the evaluated forms in it. */
function at(index: number, formsIn: FormsIn): Syntax {
  return (elements) => parts(elements.slice(index, index + 1), formsIn);
}

/** Returns the Syntax for an operator whose forms are not evaluated from the element INDEX on, such as COND: its
 * elements are clauses. FORMS_IN takes such an element, and returns the evaluated forms in it. */
function from(index: number, formsIn: FormsIn): Syntax {
  return (elements) => parts(elements.slice(index), formsIn);
}

/** Returns a map from each non-empty list of LISTS to the evaluated forms that FORMS_IN returns for it. */
function parts(lists: readonly Form[], formsIn: FormsIn): Parts {
  return new Map(lists.filter((list) => list.kind === 'cons').map((list) => [list, formsIn(list)]));
}

function nothing(): Form[] {
  return [];
}

function afterFirst(list: Form | undefined): Form[] {
  return elementsOf(list).slice(1);
}

function eachOf(formsIn: FormsIn): FormsIn {
  return (list) => elementsOf(list).flatMap(formsIn);
}

/** Returns the evaluated forms in the DEFINITION of a local function, or in a clause with a lambda list: the parameter
 * defaults and the body. */
function inFunction(definition: Form): Form[] {
  const [, list, ...body] = elementsOf(definition);
  return [...defaultsIn(list), ...body];
}

/** The lambda list keywords whose parameters can have default values. */
const OPTIONAL: readonly string[] = ['&OPTIONAL', '&KEY', '&AUX'];

function defaultsIn(list: Form | undefined): Form[] {
  const defaults: Form[] = [];
  const lists = [list];
  while (lists.length > 0) {
    const parameters = elementsOf(lists.pop());
    const first = parameters.findIndex((parameter) => OPTIONAL.includes(nameOf(parameter)));
    const required = first === -1 ? parameters : parameters.slice(0, first);
    for (const parameter of parameters.slice(required.length))
      defaults.push(...afterFirst(parameter).slice(0, 1));
    // A required parameter of a macro can be a lambda list.
    for (const parameter of required.toReversed()) lists.push(parameter);
  }
  return defaults;
}

/** Returns the lambda list of a method with the evaluated forms in it: objects of EQL specializers, and defaults. The
 * lambda list is the first list among ELEMENTS, the elements of the method's form, from index FIRST on. */
function methodList(elements: readonly Form[], first = 2): Parts {
  const list = elements[methodListIndex(elements, first)];
  if (list?.kind !== 'cons') return new Map();
  const specializers = elementsOf(list).map((parameter) => elementsOf(parameter)[1]);
  const evaluated = specializers
    .filter((specializer) => symbolNameOf(elementsOf(specializer)[0]) === 'EQL')
    .flatMap(afterFirst);
  return new Map([[list, [...evaluated, ...defaultsIn(list)]]]);
}

/** Returns the evaluated forms in OPTION of a DEFSTRUCT: defaults of parameters or slots, or its value. */
function structureOption(option: Form): Form[] {
  const [name, value, ...rest] = elementsOf(option);
  if (symbolNameOf(name) === 'INCLUDE') return rest.flatMap(afterFirst);
  if (symbolNameOf(name) === 'CONSTRUCTOR') return defaultsIn(rest[0]);
  return value === undefined ? [] : [value];
}

/** Words of LOOP after which a pattern of variables or a type comes. So a list after such a word is not evaluated. */
const BEFORE_NAMES: readonly string[] = ['FOR', 'AS', 'WITH', 'AND', 'OF-TYPE'];

/** Returns the lists among ELEMENTS of a LOOP that are variables or types, not forms. */
function loopPatterns(elements: readonly Form[]): Parts {
  const patterns = elements.filter((_, index) => BEFORE_NAMES.includes(symbolNameOf(elements[index - 1])));
  return parts(patterns, nothing);
}

/** Chooses the arguments of an operator that are places: true when the argument at `index` of `count` is one. */
type Choice = (index: number, count: number) => boolean;
const FIRST: Choice = (index) => index === 0;
const SECOND: Choice = (index) => index === 1;
const EVEN: Choice = (index) => index % 2 === 0;
const ALL: Choice = () => true;
const BUT_LAST: Choice = (index, count) => index < count - 1;

/** Maps an operator that sets places to the choice of its arguments that are places. */
const SET: ReadonlyMap<string, Choice> = new Map([
  ['SETF', EVEN],
  ['PSETF', EVEN],
  ['INCF', FIRST],
  ['DECF', FIRST],
  ['POP', FIRST],
  ['REMF', FIRST],
  ['PUSH', SECOND],
  ['PUSHNEW', SECOND],
  ['ROTATEF', ALL],
  ['SHIFTF', BUT_LAST],
]);

/** A place can contain places, which are then set too, as in (setf (values a b) ...). Maps the operator of such a place
 * to the choice of its arguments that are places. */
const SET_WITHIN: ReadonlyMap<string, Choice> = new Map([
  ['VALUES', ALL],
  ['GETF', FIRST],
  ['THE', SECOND],
  ['LDB', SECOND],
  ['MASK-FIELD', SECOND],
]);

/** Returns the places that the form with ELEMENTS sets, nested ones included. */
export function placesIn(elements: readonly Form[]): readonly Form[] {
  const isSet = SET.get(symbolNameOf(elements[0]));
  if (isSet === undefined) return [];
  const places = elements.slice(1).filter((_, index, args) => isSet(index, args.length));
  // The loop also visits the places that it adds.
  for (const place of places) {
    const [operator, ...args] = elementsOf(place);
    const isSetWithin = SET_WITHIN.get(symbolNameOf(operator));
    if (isSetWithin) places.push(...args.filter((_, index) => isSetWithin(index, args.length)));
  }
  return places;
}
