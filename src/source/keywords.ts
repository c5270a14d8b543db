/** Finds the keywords that a rename of a symbol must rename too: keyword parameters, initargs, and keywords in
 * calls. First `addKeywordTakers` finds the definitions that take the keyword, then `takesKeyword` judges each keyword
 * in the texts. The forms are read without features, so they have `prefixes`. The `symbolName` of :X is X. */

import { definedSymbol, isDefiner, methodListIndex } from './definition.ts';
import type { Form } from './form.ts';
import { atomsIn } from './mentioning.ts';

/** The names, without packages, of functions, classes and structures that take the keyword of a renamed symbol. When X
 * is renamed, (defun area (&key x)) adds AREA to `functions`, so that the :x in (area :x 1) is renamed too. Structures
 * and their constructors come from the image (see derived.ts). */
export interface KeywordTakers {
  functions: Set<string>;
  classes: Set<string>;
  structures: Set<string>;
}

export function noKeywordTakers(): KeywordTakers {
  return { functions: new Set(), classes: new Set(), structures: new Set() };
}

/** Functions that initialize instances: a keyword parameter of their methods is an initarg of the class. */
const INITIALIZING = new Set(['INITIALIZE-INSTANCE', 'REINITIALIZE-INSTANCE', 'SHARED-INITIALIZE']);

/** Returns true when PART is a parameter variable whose keyword has the same name, as X in (&key (x 1)). */
export function namesKeyword(part: Form): boolean {
  return listOfParameter(part) !== undefined;
}

/** Returns the lambda list in which PART is a keyword parameter, with or without a default; undefined when there is
 * none. */
function listOfParameter(part: Form): Form | undefined {
  if (isParameter(part)) return part.parent;
  const { parent } = part;
  return part.index === 0 && parent !== undefined && isParameter(parent) ? parent.parent : undefined;
}

/** Returns true when PART is an element after &KEY in a lambda list, such as (X 1), not a form inside one. */
export function isParameter(part: Form): boolean {
  return sectionOf(part) === '&KEY';
}

/** Maps a lambda list to an array that has, for each element, the last lambda list keyword before it, such as &KEY, or
 * ''. */
const sections = new WeakMap<Form, readonly string[]>();

function sectionOf({ parent, index }: Form): string {
  if (parent === undefined) return '';
  const known = sections.get(parent) ?? sectionsOf(parent);
  sections.set(parent, known);
  return known[index] ?? '';
}

function sectionsOf({ elements }: Form): string[] {
  let section = '';
  return elements.map(({ symbolName }) => {
    const before = section;
    if (symbolName.startsWith('&')) section = symbolName;
    return before;
  });
}

/** Adds to TAKERS the functions, classes and structures in FORM that have a symbol as keyword parameter or initarg.
 * NAMED returns true for a part that is this symbol. */
export function addKeywordTakers(form: Form, named: (part: Form) => boolean, takers: KeywordTakers): void {
  // Maps a list to the name of the symbol in it.
  const symbolsIn = new Map<Form | undefined, string>();
  const initargs: Form[] = [];
  for (const part of atomsIn(form)) {
    if (part.symbolName === '') continue;
    if (isInitarg(part)) initargs.push(part);
    if (!named(part)) continue;
    symbolsIn.set(part.parent, part.symbolName);
    const lambdaList = listOfParameter(part);
    if (lambdaList !== undefined) addDefinition(definitionAround(lambdaList), takers);
  }
  // A slot definition such as (x :initarg :x): the initarg counts only if it has the name of the symbol.
  for (const { parent: slot, symbolName } of initargs) {
    const definition = slot && symbolsIn.get(slot) === symbolName ? definitionAround(slot) : undefined;
    if (definition !== undefined) takers.classes.add(definition.name);
  }
}

function addDefinition(definition: Definer | undefined, takers: KeywordTakers): void {
  if (definition === undefined) return;
  const ofClass = classInitialized(definition);
  if (ofClass !== undefined) takers.classes.add(ofClass);
  else takers.functions.add(definition.name);
}

/** Returns true when the keyword PART names a parameter or initarg of one of TAKERS. It can stand in a call, after
 * :INITARG, in :DEFAULT-INITARGS, in a declaration, or in a lambda list. */
export function takesKeyword(part: Form, takers: KeywordTakers): boolean {
  const list = part.parent;
  if (list === undefined) return false;
  if (part.index === 0) return isDeclared(list, takers);
  if (isInitarg(part)) return isOfClass(definitionAround(list), takers);
  if (list.first?.symbolName === 'DEFAULT-INITARGS')
    return part.index % 2 === 1 && list.parent !== undefined && isOfClass(asDefinition(list.parent), takers);
  return isInCall(part, list, takers);
}

function isInitarg(part: Form): boolean {
  return part.parent?.elements[part.index - 1]?.symbolName === 'INITARG' && part.text.startsWith(':');
}

/** PARAMETER is a list whose first element is a keyword. Returns true when it declares a keyword parameter of one of
 * TAKERS: as (:name type) in an FTYPE declaration, or as (:name variable) in a parameter ((:name variable) ...). */
function isDeclared(parameter: Form, takers: KeywordTakers): boolean {
  const { parent } = parameter;
  if (isParameter(parameter)) {
    const declaration = parent?.parent?.parent;
    const [operator, , ...declared] = declaration?.elements ?? [];
    return (
      operator?.symbolName === 'FTYPE' && declared.some(({ symbolName }) => takers.functions.has(symbolName))
    );
  }
  if (parent === undefined || parameter.index > 0 || !isParameter(parent) || parent.parent === undefined)
    return false;
  return takesInDefinition(definitionAround(parent.parent), takers);
}

/** Returns true when PART is an argument of the call LIST, and TAKERS has the called function, or the class or
 * structure of which the call makes an instance. */
function isInCall(part: Form, list: Form, takers: KeywordTakers): boolean {
  // The called function can also be quoted, in one of the first two arguments: (apply #'make-instance 'area :x 1).
  const [operator, ...args] = list.elements.slice(0, Math.min(part.index, 3));
  const { functions, classes, structures } = takers;
  // In #S(AREA :X 1) keywords have odd indices. In (make-instance 'area :x 1) they are at odd distances from
  // the class.
  if (list.prefixes.at(-1) === '#s')
    return structures.has(operator?.symbolName ?? '') && part.index % 2 === 1;
  const quoted = args.map((arg) => ({ name: quotedName(arg), index: arg.index }));
  const called = [operator?.symbolName ?? '', ...quoted.map(({ name }) => name)];
  if (quoted.some(({ name, index }) => classes.has(name) && (part.index - index) % 2 === 1)) return true;
  // Keywords and their values are the last arguments of a call. In a call of APPLY, a list of further ones follows. A form
  // in a call of MULTIPLE-VALUE-CALL, or after a comma in a template, can stand for any number of arguments.
  const after = list.elements.slice(part.index + (operator?.symbolName === 'APPLY' ? 1 : 0));
  const isCounted =
    operator?.symbolName !== 'MULTIPLE-VALUE-CALL' && !after.some(({ prefixes }) => prefixes.includes(','));
  if (isCounted && after.length % 2 === 1) return false;
  if (called.some((name) => functions.has(name))) return true;
  return called.includes('CALL-NEXT-METHOD') && takesInDefinition(definitionAround(list), takers);
}

/** Returns the name of the symbol that FORM quotes, as 'X, #'X, (quote X) or (function X); '' when it quotes none. */
function quotedName({ prefixes, symbolName, isList, first, elements }: Form): string {
  if (isList && elements.length === 2 && /^(?:QUOTE|FUNCTION)$/.test(first?.symbolName ?? ''))
    return elements[1]?.symbolName ?? '';
  return /^#?'$/.test(prefixes.at(-1) ?? '') ? symbolName : '';
}

function takesInDefinition(definition: Definer | undefined, { functions, classes }: KeywordTakers): boolean {
  if (definition === undefined) return false;
  const ofClass = classInitialized(definition);
  return ofClass === undefined ? functions.has(definition.name) : classes.has(ofClass);
}

function isOfClass(definition: Definer | undefined, { classes }: KeywordTakers): boolean {
  return definition !== undefined && classes.has(definition.name);
}

/** A definition around a parameter: its form, and the name, without package, that it defines. */
interface Definer {
  name: string;
  form: Form;
}

/** Returns the name of the class whose instances DEFINITION initializes, if it is a method of one of the functions
 * INITIALIZING; else undefined. */
function classInitialized({ name, form }: Definer): string | undefined {
  if (!INITIALIZING.has(name)) return undefined;
  return form.elements[methodListIndex(form.elements)]?.elements[0]?.elements[1]?.symbolName;
}

/** Returns the innermost definition around INNER: a list whose operator begins with DEF, a local function, or a
 * :CONSTRUCTOR option of a structure. Returns undefined when there is none. */
function definitionAround(inner: Form): Definer | undefined {
  for (let form = inner.parent; form !== undefined; form = form.parent) {
    const [operator, named] = form.elements;
    const bindings = form.parent;
    const local = /^(?:FLET|LABELS|MACROLET)$/.test(bindings?.parent?.first?.symbolName ?? '');
    if (local && bindings?.index === 1 && operator?.symbolName) return { name: operator.symbolName, form };
    if (operator?.symbolName === 'CONSTRUCTOR' && named !== undefined)
      return { name: named.symbolName, form };
    const definition = asDefinition(form);
    if (definition !== undefined) return definition;
  }
  return undefined;
}

function asDefinition(form: Form): Definer | undefined {
  if (!isDefiner(form.first?.symbolName ?? '')) return undefined;
  const { symbol } = definedSymbol(form);
  return symbol && { name: symbol.symbolName, form };
}
