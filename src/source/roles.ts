// Finds the places where a source text names a symbol other than as a function, and the role of the symbol there, such
// as class or type.

import { definedSymbol, methodListIndex, STANDARD_DEFINERS } from './definition.ts';
import { type Features, type Form, formsWithin, nameOf, symbolNameOf } from './form.ts';
import { MAKERS } from './instances.ts';
import { isKeywordName, withoutPackage } from './lexer.ts';
import { mayContain } from './mentioning.ts';
import { homeOfOption } from './packages.ts';
import type { SourceText } from './text.ts';
import { TopLevelForms } from './top-level.ts';
import { namesSymbol, type SoughtName } from './uses.ts';
import { walkSource } from './walk.ts';

/** The role of a symbol at a place of a text:
 *
 * - superclass: in the superclasses or the :INCLUDE of a definition, or as its metaclass
 * - specializer: as a class in the lambda list of a method
 * - instance: the class argument of a call such as MAKE-INSTANCE or FIND-CLASS
 * - handler: in a clause of HANDLER-CASE or HANDLER-BIND
 * - type: as a type, in a declaration or a test
 * - combination: as a method combination, or as the qualifier of a method
 * - export: in a package definition, or as an argument of a function such as EXPORT or IMPORT
 * - data: in quoted data, or as the key of a CASE
 * - code: anywhere else in code */
export type Role =
  | 'superclass'
  | 'specializer'
  | 'instance'
  | 'handler'
  | 'type'
  | 'combination'
  | 'export'
  | 'data'
  | 'code';

/** A place in a text with the symbol. `top` is the start of its top-level form. */
interface NamedAs {
  start: number;
  top: number;
  role: Role;
}

/** A list around a symbol: its operator, and the index of the element that is or contains the symbol. */
interface Step {
  list: Form;
  operator: string;
  index: number;
}

/** A Role, or another kind of mention: the name that a form defines, the operator of a call, or a lexical variable
 * where it is bound or declared. */
type Place = Role | 'definition' | 'call' | 'variable';

/** Returns the places in SOURCE that name the symbol SOUGHT, except its definitions, calls of a function of that name,
 * and lexical variables of that name. FEATURES decide what #+ and #- include. The `current` of SOUGHT is the package at
 * the start of SOURCE. */
export function namedIn(source: SourceText, features: Features, sought: SoughtName): NamedAs[] {
  if (!mayContain(source.text, [sought.name])) return [];
  return [...new TopLevelForms(source, features).mentioning([sought.name])].flatMap(({ form, current }) =>
    namedInForm(form, { ...sought, current: current ?? sought.current }),
  );
}

function namedInForm(top: Form, sought: SoughtName): NamedAs[] {
  const found: { start: number; place: Place }[] = [];
  for (const part of formsWithin(top)) {
    if (part.notation !== 'atom') continue;
    if (isDesignator(part, sought)) found.push({ start: part.start, place: 'export' });
    else if (namesSymbol(part.name, sought)) found.push({ start: part.start, place: placeOf(part) });
  }
  // `variable` is true for a global variable: a binding is then a use of it. Otherwise a form that binds the name makes
  // it a lexical variable.
  const isLexical = !sought.variable && found.some(({ place }) => place === 'variable');
  return found.flatMap(({ start, place }) => {
    const role = place === 'variable' ? 'code' : place;
    if (role === 'definition' || role === 'call' || (role === 'code' && isLexical)) return [];
    return [{ start, top: top.start, role }];
  });
}

/** Returns the places in SOURCE that make an instance of a class computed at run time. FEATURES decide what #+ and #-
 * include. */
export function computedIn(
  source: SourceText,
  features: Features,
): { start: number; top: number; role: 'computed' }[] {
  const found: ReturnType<typeof computedIn> = [];
  walkSource(source, features, ['MAKE-INSTANCE', 'MAKE-CONDITION'], (top) => ({
    visit: ({ start }, [first, argument], data) => {
      const makes = ['MAKE-INSTANCE', 'MAKE-CONDITION'].includes(nameOf(first));
      if (!makes || data || argument === undefined || nameOf(argument.first) === 'QUOTE') return;
      found.push({ start, top: top.start, role: 'computed' });
    },
  }));
  return found;
}

/** Returns true when PART, in an option of a package definition, is a string or symbol such as #:NAME for the sought
 * symbol. */
function isDesignator(part: Form, { name, packages }: SoughtName): boolean {
  if (part.designatedString !== name || part.index === 0) return false;
  const home = part.parent && homeOfOption(part.parent);
  if (home === undefined || home === part) return false;
  return packages === undefined || packages.has(home.designatedString ?? '');
}

/** Maximum number of lists around a symbol to examine. */
const STEPS = 50;

/** Returns the lists around PART, the innermost first. A quoted form counts as a list (QUOTE FORM). */
function stepsFrom(part: Form): Step[] {
  const steps: Step[] = [];
  for (
    let inner = part, list = part.parent;
    list !== undefined && steps.length < STEPS;
    inner = list, list = list.parent
  ) {
    const [first] = list.elements;
    if (first === undefined) continue;
    steps.push({ list, operator: nameOf(first), index: list.inner === inner ? 1 : inner.index });
  }
  return steps;
}

/** Maps an operator to the index of the argument that is the quoted name of a class. */
const CLASS_ARGUMENTS: ReadonlyMap<string, number> = new Map([
  ...MAKERS,
  ...['FIND-CLASS', 'ALLOCATE-INSTANCE'].map((operator) => [operator, 1] as const),
]);

const TYPE_FUNCTIONS: ReadonlySet<string> = new Set(
  'TYPEP SUBTYPEP COERCE CONCATENATE MAP MERGE MAKE-SEQUENCE UPGRADED-ARRAY-ELEMENT-TYPE DEFTYPE'.split(' '),
);

/** Operators of compound type specifiers whose arguments can be types. */
const COMPOUNDS: ReadonlySet<string> = new Set(
  'OR AND NOT CONS VECTOR ARRAY SIMPLE-ARRAY FUNCTION VALUES &OPTIONAL &REST &KEY'.split(' '),
);

const EXPORTING: ReadonlySet<string> = new Set(
  'EXPORT UNEXPORT IMPORT SHADOW SHADOWING-IMPORT UNINTERN INTERN FIND-SYMBOL'.split(' '),
);

const TYPECASES = ['TYPECASE', 'ETYPECASE', 'CTYPECASE'];
const CASES = ['CASE', 'ECASE', 'CCASE'];

function placeOf(part: Form): Place {
  const steps = stepsFrom(part);
  if (isDefined(part)) return 'definition';
  for (let at = 0; at < steps.length; at++) {
    const found = roleAt(steps, at, at === 0 ? part : (steps[at - 1] as Step).list);
    if (found !== undefined) return found;
    // In a compound type, as in (or null NAME) or (NAME 10), the symbol has the role of the whole type. In other lists
    // it does not.
    const { index, operator } = steps[at] as Step;
    const mayBeType = index === 0 || operator === '' || COMPOUNDS.has(withoutPackage(operator));
    if (!mayBeType) break;
  }
  return placeInCode(steps);
}

/** Returns true when PART is the name that a standard definition defines: the NAME in (DEFUN NAME), (DEFSTRUCT (NAME
 * options)) or (DEFUN (setf NAME)). */
function isDefined(part: Form): boolean {
  const { parent, index } = part;
  const isNameIn = (list: Form | undefined) => {
    const defined = list && definedSymbol(list);
    return defined?.symbol === part && STANDARD_DEFINERS.has(defined.operator);
  };
  // Checks only a part in the place of a name, because a list can have very many other parts.
  return (index === 1 && isNameIn(parent)) || (index <= 1 && parent?.index === 1 && isNameIn(parent.parent));
}

/** Returns true when the list STEP begins with one of OPERATORS, and its element INDEX is or contains the symbol. */
function isAt(index: number, step: Step | undefined, ...operators: readonly string[]): boolean {
  return step?.index === index && operators.includes(withoutPackage(step.operator));
}

/** Returns true when the list STEP begins with one of OPERATORS, and its element INDEX or a later one is or contains
 * the symbol. */
function isFrom(index: number, step: Step | undefined, ...operators: readonly string[]): boolean {
  return step !== undefined && step.index >= index && operators.includes(withoutPackage(step.operator));
}

/** STEPS are the lists around a symbol, the innermost first. Returns the role that STEPS[AT] and the lists around it
 * give to the symbol; undefined for none. INNER is the element of STEPS[AT] that is or contains the symbol. */
function roleAt(steps: readonly Step[], at: number, inner: Form): Place | undefined {
  const step = steps[at] as Step;
  const [outer, third] = steps.slice(at + 1);
  if (step.operator === 'QUOTE') return quotedRole(outer, step.list);
  // INNER is the first element of its list, as NAME is in (handler-case FORM (NAME ...)).
  if (step.index === 0) {
    if (step.list.parent?.notation === '#s') return 'instance';
    if (isFrom(2, outer, 'HANDLER-CASE') || isAt(1, third, 'HANDLER-BIND')) return 'handler';
    if (isFrom(2, outer, ...TYPECASES)) return 'type';
    if (isFrom(2, outer, ...CASES)) return 'data';
  }
  if (isSpecializer(step, third)) return 'specializer';
  if (isAt(2, outer, 'DEFCLASS', 'DEFINE-CONDITION')) return 'superclass';
  if (isKeywordName(step.operator) && isAt(1, step, 'INCLUDE', 'METACLASS')) return 'superclass';
  if (isKeywordName(step.operator) && isAt(1, step, 'METHOD-COMBINATION')) return 'combination';
  // A qualifier stands between the name of a method and its lambda list.
  if (isFrom(2, step, 'DEFMETHOD') && step.index < methodListIndex(step.list.elements)) return 'combination';
  if (isAt(1, step, 'THE') || isAt(2, step, 'CHECK-TYPE')) return 'type';
  if (follows(inner, step.list, ['TYPE', 'OF-TYPE'])) return 'type';
  // In (case KEY ((NAME ...) ...)).
  if (outer?.index === 0 && isFrom(2, third, ...CASES)) return 'data';
  return declaredRole(step, outer, third);
}

/** Returns true when one of WORDS precedes INNER in LIST, as in (:type INNER) or (of-type INNER). */
function follows(inner: Form, list: Form, words: readonly string[]): boolean {
  return inner.index > 0 && words.includes(symbolNameOf(list.elements[inner.index - 1]));
}

/** Returns true when STEP is a parameter (VARIABLE CLASS) in the lambda list of METHOD. */
function isSpecializer(step: Step, method: Step | undefined): boolean {
  if (step.index !== 1 || step.list.elements.length !== 2 || method === undefined) return false;
  if (isFrom(0, method, 'DEFMETHOD')) return method.index === methodListIndex(method.list.elements);
  // METHOD can also be an option (:method ...) of a DEFGENERIC.
  return (
    isKeywordName(method.operator) &&
    isFrom(0, method, 'METHOD') &&
    method.index === methodListIndex(method.list.elements, 1)
  );
}

/** Returns the role of a symbol in a declaration; undefined when it is not in a declaration. STEP, OUTER and THIRD are
 * the lists around the symbol, the innermost first. */
function declaredRole(step: Step, outer: Step | undefined, third: Step | undefined): Place | undefined {
  const isProclaimed = outer?.operator === 'QUOTE' && isFrom(0, third, 'PROCLAIM');
  if (!isFrom(0, outer, 'DECLARE', 'DECLAIM') && !isProclaimed) return undefined;
  return step.index === 0 || isAt(1, step, 'TYPE', 'FTYPE') ? 'type' : 'variable';
}

/** Returns the role that OUTER gives to the symbol in QUOTED, which is the element (QUOTE FORM) of OUTER. */
function quotedRole(outer: Step | undefined, quoted: Form): Place {
  const operator = withoutPackage(outer?.operator ?? '');
  if (outer === undefined) return 'data';
  if (CLASS_ARGUMENTS.get(operator) === outer.index) return 'instance';
  if (TYPE_FUNCTIONS.has(operator) || follows(quoted, outer.list, ['ELEMENT-TYPE'])) return 'type';
  if (EXPORTING.has(operator)) return 'export';
  // As in (apply #'make-instance 'name arguments).
  const passed = outer.list.elements.slice(0, Math.min(outer.index, 3));
  return passed.some((each) => CLASS_ARGUMENTS.has(symbolNameOf(each.elements[1]))) ? 'instance' : 'data';
}

/** Maps an operator that binds variables to the index of its list of variables or bindings. */
const BINDERS: ReadonlyMap<string, number> = new Map([
  ...'LET LET* PROG PROG* LAMBDA DO DO* MULTIPLE-VALUE-BIND DESTRUCTURING-BIND WITH-SLOTS WITH-ACCESSORS'
    .split(' ')
    .map((operator) => [operator, 1] as const),
  ...'DEFUN DEFMACRO DEFGENERIC DEFTYPE DEFINE-COMPILER-MACRO'
    .split(' ')
    .map((operator) => [operator, 2] as const),
]);

/** Matches operators, such as DOLIST, whose first argument is a list that begins with the bound variable. */
const BINDS_FIRST = /^(?:WITH-|DO-|DOLIST$|DOTIMES$)/;

/** Returns the role of a symbol in code when `roleAt` finds none. STEPS are the lists around the symbol, the innermost
 * first. */
function placeInCode(steps: readonly Step[]): Place {
  const [step, outer, third] = steps;
  if (step === undefined) return 'code';
  const isFirst = step.index === 0;
  if (bindsIn(outer) || (isFirst && bindsIn(third))) return 'variable';
  if (isFirst && outer?.index === 1 && BINDS_FIRST.test(withoutPackage(outer.operator))) return 'variable';
  if (['FOR', 'AS', 'WITH'].includes(symbolNameOf(step.list.elements[step.index - 1]))) return 'variable';
  if (steps.some(({ operator }) => operator === 'QUOTE')) return 'data';
  return isFirst || step.operator === 'FUNCTION' ? 'call' : 'code';
}

/** Returns true when the element of STEP that contains a symbol is a list of bindings or a lambda list. */
function bindsIn(step: Step | undefined): boolean {
  if (step === undefined) return false;
  const operator = withoutPackage(step.operator);
  return operator === 'DEFMETHOD'
    ? step.index === methodListIndex(step.list.elements)
    : BINDERS.get(operator) === step.index;
}
