/** Finds the keywords that must be renamed together with a symbol: those of the keyword parameters and of the initargs
 *  that have its name, in definitions and calls. */

import type { Part, Tree } from './tree.ts';

/** The bare names of functions, classes and structures that take a keyword with the name of a symbol. When X is
 *  renamed, (defun area (&key x)) puts AREA into FUNCTIONS; then the :x in (area :x 1) is renamed, too. STRUCTURES take
 *  it in #S(...). */
export interface Takers {
  functions: Set<string>;
  classes: Set<string>;
  structures: Set<string>;
}

/** Returns an empty Takers. */
export function noTakers(): Takers {
  return { functions: new Set(), classes: new Set(), structures: new Set() };
}

/** Common Lisp functions that initialize instances. A keyword parameter of one of their methods is an initarg of the
 *  class on which the method specializes. */
const INITIALIZING = new Set(['INITIALIZE-INSTANCE', 'REINITIALIZE-INSTANCE', 'SHARED-INITIALIZE']);

/** True when PART is the variable of a keyword parameter with a keyword of the same name, as X in (&key (x 1)). */
export function namesKeyword(part: Part): boolean {
  return lambdaListOf(part) !== undefined;
}

/** Returns the lambda list of which PART is a keyword parameter, with a default or without. */
function lambdaListOf(part: Part): Part | undefined {
  if (isParameter(part)) return part.around;
  const { around } = part;
  return part.index === 0 && around !== undefined && isParameter(around) ? around.around : undefined;
}

/** True when PART is an element of a lambda list behind &KEY, such as (X 1); not when it is in such an element. */
export function isParameter(part: Part): boolean {
  return part.section === '&KEY';
}

/** Adds to TAKERS the functions and classes that TREE, the parsed TEXT, defines with the symbol as a keyword parameter,
 *  or as a slot with an initarg of the same name. NAMED tells whether a part is the symbol. */
export function noteTakers(tree: Tree, text: string, named: (part: Part) => boolean, takers: Takers): void {
  const [withSymbol, withInitarg] = [
    new Map<Part | undefined, string>(),
    new Map<Part | undefined, string>(),
  ];
  for (const part of tree.atoms) {
    if (part.kind !== 'symbol') continue;
    if (isInitarg(part, text)) withInitarg.set(part.around, part.name);
    if (!named(part)) continue;
    withSymbol.set(part.around, part.name);
    const lambdaList = lambdaListOf(part);
    if (lambdaList !== undefined) noteDefinition(definitionAround(lambdaList), takers);
  }
  for (const [slot, name] of withInitarg) {
    const definition = slot && withSymbol.get(slot) === name ? definitionAround(slot) : undefined;
    if (definition !== undefined) takers.classes.add(definition.name);
  }
}

function noteDefinition(definition: Definition | undefined, takers: Takers): void {
  if (definition === undefined) return;
  const ofClass = classInitialized(definition);
  if (ofClass !== undefined) takers.classes.add(ofClass);
  else takers.functions.add(definition.name);
}

/** True when one of TAKERS takes PART, a keyword in TEXT. The keyword can stand in a call, after :INITARG, in the
 *  :DEFAULT-INITARGS of a class, in a declaration or in a lambda list. */
export function takesKeyword(part: Part, text: string, takers: Takers): boolean {
  const list = part.around;
  if (list === undefined) return false;
  if (part.index === 0) return isDeclared(list, takers);
  if (isInitarg(part, text)) return isOfClass(definitionAround(list), takers);
  if (list.items[0]?.name === 'DEFAULT-INITARGS')
    return part.index % 2 === 1 && list.around !== undefined && isOfClass(asDefinition(list.around), takers);
  return isInCall(part, list, text, takers);
}

/** Whether PART is the keyword behind :INITARG. */
function isInitarg(part: Part, text: string): boolean {
  return part.around?.items[part.index - 1]?.name === 'INITARG' && text[part.start] === ':';
}

/** True when PARAMETER, a list that begins with a keyword, declares a keyword parameter of one of TAKERS: (:name type)
 *  in an FTYPE, or (:name variable) in ((:name variable) default). */
function isDeclared(parameter: Part, { functions, ...takers }: Takers): boolean {
  const { around } = parameter;
  if (isParameter(parameter)) {
    const declaration = around?.around?.around;
    const [operator, , ...declared] = declaration?.items ?? [];
    return operator?.name === 'FTYPE' && declared.some(({ name }) => functions.has(name));
  }
  if (around === undefined || parameter.index > 0 || !isParameter(around) || around.around === undefined)
    return false;
  return takesInDefinition(definitionAround(around.around), { functions, ...takers });
}

/** True when PART is an argument of the call LIST of TEXT, and the called function or class is one of TAKERS. */
function isInCall(part: Part, list: Part, text: string, takers: Takers): boolean {
  const [operator, ...args] = list.items.slice(0, Math.min(part.index, 3));
  const { functions, classes, structures } = takers;
  // In #S(AREA :X 1) keywords have odd indices, in (make-instance 'area :x 1) odd distances from the class.
  if (/#s$/i.test(text.slice(Math.max(0, list.start - 2), list.start)))
    return structures.has(operator?.name ?? '') && part.index % 2 === 1;
  const quoted = args.filter(({ marks }) => /^#?'$/.test(marks.at(-1) ?? ''));
  const called = [operator?.name ?? '', ...quoted.map(({ name }) => name)];
  if (called.some((name) => functions.has(name))) return true;
  if (quoted.some(({ name, index }) => classes.has(name) && (part.index - index) % 2 === 1)) return true;
  return called.includes('CALL-NEXT-METHOD') && takesInDefinition(definitionAround(list), takers);
}

/** True when DEFINITION defines one of the functions in TAKERS, or a method that initializes one of the classes. */
function takesInDefinition(definition: Definition | undefined, { functions, classes }: Takers): boolean {
  if (definition === undefined) return false;
  const ofClass = classInitialized(definition);
  return ofClass === undefined ? functions.has(definition.name) : classes.has(ofClass);
}

function isOfClass(definition: Definition | undefined, { classes }: Takers): boolean {
  return definition !== undefined && classes.has(definition.name);
}

/** A form that defines NAME. */
interface Definition {
  name: string;
  form: Part;
}

/** Returns the class that DEFINITION initializes, if it is a method of INITIALIZE-INSTANCE or the like. */
function classInitialized({ name, form }: Definition): string | undefined {
  if (!INITIALIZING.has(name)) return undefined;
  const lambdaList = form.items.slice(2).find(({ kind }) => kind === 'list');
  return lambdaList?.items[0]?.items[1]?.name;
}

/** Returns the innermost definition around the list INNER: a list whose operator begins with DEF, a local function, or
 *  a :CONSTRUCTOR option of a structure. */
function definitionAround(inner: Part): Definition | undefined {
  for (let form = inner.around; form !== undefined; form = form.around) {
    const [operator, named] = form.items;
    const local = /^(?:FLET|LABELS|MACROLET)$/.test(form.around?.around?.items[0]?.name ?? '');
    if (local && operator?.kind === 'symbol') return { name: operator.name, form };
    if (operator?.name === 'CONSTRUCTOR' && named !== undefined) return { name: named.name, form };
    const definition = asDefinition(form);
    if (definition !== undefined) return definition;
  }
  return undefined;
}

/** Returns FORM as a definition, when its operator begins with DEF. */
function asDefinition(form: Part): Definition | undefined {
  const [operator, named] = form.items;
  if (!operator?.name.startsWith('DEF') || named === undefined) return undefined;
  // A function (setf NAME), or a structure with options.
  const name =
    named.kind !== 'list' ? named : named.items[0]?.name === 'SETF' ? named.items[1] : named.items[0];
  return { name: name?.name ?? '', form };
}
