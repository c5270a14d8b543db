/** Knows which lists in Common Lisp forms are no forms: bindings, clauses, declarations. Their first element is no
 *  operator. */

import { bareName, elementsOf, type Form, resolve } from './form.ts';
import { MARK } from './lexer.ts';

/** Lists that are no forms, each with the forms in it that are evaluated. */
type Parts = Map<Form, Form[]>;

/** Returns the lists among the elements of a form that are no forms. */
type Syntax = (elements: readonly Form[]) => Parts;

/** Returns those of ELEMENTS, of a form, that are lists but no forms, each with the forms in it that are evaluated. */
export function nonForms(elements: readonly Form[]): Parts {
  const name = resolve(elements[0])?.name ?? '';
  // A method in a DEFGENERIC has no name.
  if (name === `${MARK}METHOD`) return methodList(elements, 1);
  return (name.startsWith(MARK) ? undefined : SYNTAX.get(bareName(elements[0])))?.(elements) ?? new Map();
}

/** By operator: the elements that are no forms. */
const SYNTAX: ReadonlyMap<string, Syntax> = new Map([
  ...each('LET LET* PROG PROG* SYMBOL-MACROLET HANDLER-BIND RESTART-BIND', at(1, eachOf(behindName))),
  ...each('DO DO*', at(1, eachOf(behindName)), at(2, elementsOf)),
  ...each(
    'DOLIST DOTIMES DO-SYMBOLS DO-EXTERNAL-SYMBOLS DO-ALL-SYMBOLS WITH-OPEN-FILE WITH-OPEN-STREAM WITH-SIMPLE-RESTART',
    at(1, behindName),
  ),
  ...each('WITH-OUTPUT-TO-STRING WITH-INPUT-FROM-STRING PPRINT-LOGICAL-BLOCK', at(1, behindName)),
  ...each('WITH-HASH-TABLE-ITERATOR WITH-PACKAGE-ITERATOR', at(1, behindName)),
  ...each('COND', from(1, elementsOf)),
  ...each('CASE ECASE CCASE TYPECASE ETYPECASE CTYPECASE', from(2, behindName)),
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
  ...each('DEFINE-METHOD-COMBINATION', at(2, defaultsIn), at(3, eachOf(behindName))),
  ...each('DEFMETHOD', methodList),
  ...each('DEFCLASS DEFINE-CONDITION', at(2, nothing), at(3, eachOf(behindName))),
  ...each('WITH-SLOTS WITH-ACCESSORS', at(1, eachOf(behindName))),
  ...each('DEFSTRUCT', at(1, eachOf(structureOption)), from(2, behindName)),
  ...each('LOOP', behindWords),
]);

function each(operators: string, ...syntaxes: Syntax[]): [string, Syntax][] {
  const syntax: Syntax = (elements) => new Map(syntaxes.flatMap((one) => [...one(elements)]));
  return operators.split(' ').map((operator) => [operator, syntax]);
}

/** Returns the syntax in which the element at INDEX is no form; FORMS extracts the forms in it. */
function at(index: number, forms: (part: Form) => Form[]): Syntax {
  return (elements) => parts(elements.slice(index, index + 1), forms);
}

/** Returns the syntax in which no element from INDEX on is a form; FORMS extracts the forms in each. */
function from(index: number, forms: (part: Form) => Form[]): Syntax {
  return (elements) => parts(elements.slice(index), forms);
}

/** Maps each list among LISTS to the forms in it, as FORMS extracts them. */
function parts(lists: readonly Form[], forms: (part: Form) => Form[]): Parts {
  return new Map(lists.filter((list) => resolve(list)?.kind === 'cons').map((list) => [list, forms(list)]));
}

function nothing(): Form[] {
  return [];
}

function behindName(list: Form | undefined): Form[] {
  return elementsOf(list).slice(1);
}

function eachOf(forms: (part: Form) => Form[]): (list: Form) => Form[] {
  return (list) => elementsOf(list).flatMap(forms);
}

/** Returns the evaluated forms of a local function or a clause with a lambda list: parameter defaults, and the body. */
function inFunction(definition: Form): Form[] {
  const [, list, ...body] = elementsOf(definition);
  return [...defaultsIn(list), ...body];
}

/** Returns the forms in a lambda list: the defaults of its parameters. */
function defaultsIn(list: Form | undefined): Form[] {
  let optional = false;
  return elementsOf(list).flatMap((parameter) => {
    optional ||= ['&OPTIONAL', '&KEY', '&AUX'].includes(resolve(parameter)?.name ?? '');
    return optional ? behindName(parameter).slice(0, 1) : defaultsIn(parameter);
  });
}

/** Returns the lambda list of a method, which is no form, with the evaluated forms in it: objects of EQL specializers,
 *  and defaults. It is the first list of ELEMENTS from index FIRST on, behind name and qualifiers. */
function methodList(elements: readonly Form[], first = 2): Parts {
  const list = elements.slice(first).find((element) => resolve(element)?.kind === 'cons');
  if (list === undefined) return new Map();
  const specializers = elementsOf(list).map((parameter) => elementsOf(parameter)[1]);
  const evaluated = specializers
    .filter((each) => bareName(elementsOf(each)[0]) === 'EQL')
    .flatMap(behindName);
  return new Map([[list, [...evaluated, ...defaultsIn(list)]]]);
}

/** Returns the forms in an option of DEFSTRUCT: defaults of a constructor or of included slots. */
function structureOption(option: Form): Form[] {
  const [name, of, ...rest] = elementsOf(option);
  if (bareName(name) === 'INCLUDE') return rest.flatMap(behindName);
  return bareName(name) === 'CONSTRUCTOR' ? defaultsIn(rest[0]) : of === undefined ? [] : [of];
}

/** LOOP words behind which a list holds variable names or is a type. */
const BEFORE_NAMES: readonly string[] = ['FOR', 'AS', 'WITH', 'AND', 'OF-TYPE'];

/** Returns the lists in a LOOP of ELEMENTS that are no forms. */
function behindWords(elements: readonly Form[]): Parts {
  const behind = elements.filter((_, index) => BEFORE_NAMES.includes(bareName(elements[index - 1])));
  return parts(behind, nothing);
}
