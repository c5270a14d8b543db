/** Decides which lists in a form of Common Lisp are no forms: bindings, clauses, declarations. Their first elements are no
 *  operators. */

import { bareName, elementsOf, type Form, resolve } from './form.ts';
import { MARK } from './lexer.ts';

/** Lists that are no forms, each with the forms in it that are evaluated. */
type Parts = Map<Form, Form[]>;

/** Gives the lists among the elements of a form that are no forms. */
type Syntax = (elements: readonly Form[]) => Parts;

/** Returns the lists among ELEMENTS, those of a form, that are no forms, each with the forms in it that are evaluated. */
export function nonForms(elements: readonly Form[]): Parts {
  const name = resolve(elements[0])?.name ?? '';
  // A method in a DEFGENERIC has no name.
  if (name === `${MARK}METHOD`) return methodList(elements, 1);
  return (name.startsWith(MARK) ? undefined : SYNTAX.get(bareName(elements[0])))?.(elements) ?? new Map();
}

/** What stands in place of forms, by the operators behind which it does. */
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

/** Says that the element at INDEX is no form, with the FORMS in it. */
function at(index: number, forms: (part: Form) => Form[]): Syntax {
  return (elements) => parts(elements.slice(index, index + 1), forms);
}

/** Says that none from INDEX on is a form, with the FORMS in each. */
function from(index: number, forms: (part: Form) => Form[]): Syntax {
  return (elements) => parts(elements.slice(index), forms);
}

/** Gives those of LISTS that are lists, with the FORMS in each. */
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

/** Gives what is evaluated of a local function, or of a clause with a lambda list: the defaults in that, and the body. */
function inFunction(definition: Form): Form[] {
  const [, list, ...body] = elementsOf(definition);
  return [...defaultsIn(list), ...body];
}

/** Gives the forms in a lambda list: the defaults of parameters. */
function defaultsIn(list: Form | undefined): Form[] {
  let optional = false;
  return elementsOf(list).flatMap((parameter) => {
    optional ||= ['&OPTIONAL', '&KEY', '&AUX'].includes(resolve(parameter)?.name ?? '');
    return optional ? behindName(parameter).slice(0, 1) : defaultsIn(parameter);
  });
}

/** Says that the lambda list of a method, of ELEMENTS, is no form. It is the first list from FIRST on, as a name and
 *  qualifiers stand before it. What EQL specializers have is evaluated. */
function methodList(elements: readonly Form[], first = 2): Parts {
  const list = elements.slice(first).find((element) => resolve(element)?.kind === 'cons');
  if (list === undefined) return new Map();
  const specializers = elementsOf(list).map((parameter) => elementsOf(parameter)[1]);
  const evaluated = specializers
    .filter((each) => bareName(elementsOf(each)[0]) === 'EQL')
    .flatMap(behindName);
  return new Map([[list, [...evaluated, ...defaultsIn(list)]]]);
}

/** Gives the forms in an option of DEFSTRUCT: the defaults of a constructor, or of included slots. */
function structureOption(option: Form): Form[] {
  const [name, of, ...rest] = elementsOf(option);
  if (bareName(name) === 'INCLUDE') return rest.flatMap(behindName);
  return bareName(name) === 'CONSTRUCTOR' ? defaultsIn(rest[0]) : of === undefined ? [] : [of];
}

/** Words of LOOP behind which a list has the names of variables, or is a type. */
const BEFORE_NAMES: readonly string[] = ['FOR', 'AS', 'WITH', 'AND', 'OF-TYPE'];

/** Says which lists in a LOOP of ELEMENTS are no forms. */
function behindWords(elements: readonly Form[]): Parts {
  const behind = elements.filter((_, index) => BEFORE_NAMES.includes(bareName(elements[index - 1])));
  return parts(behind, nothing);
}
