/** Decides which keywords in a text stand for a symbol: those of its parameters and initargs, and of what takes them. */

import type { Part, Tree } from './tree.ts';

/** What takes a keyword that stands for a symbol, by bare names. Structures take it where they are written as #S(...). */
export interface Takers {
  functions: Set<string>;
  classes: Set<string>;
  structures: Set<string>;
}

/** Returns takers that are none. */
export function noTakers(): Takers {
  return { functions: new Set(), classes: new Set(), structures: new Set() };
}

/** Functions of Common Lisp whose methods give initargs to the classes that they are for. */
const INITIALIZING = new Set(['INITIALIZE-INSTANCE', 'REINITIALIZE-INSTANCE', 'SHARED-INITIALIZE']);

/** Whether PART is a keyword parameter of a lambda list, of which the keyword has the same name. */
export function namesKeyword(part: Part): boolean {
  return lambdaListOf(part) !== undefined;
}

/** Returns the lambda list of which PART is a keyword parameter, with a default or without. */
function lambdaListOf(part: Part): Part | undefined {
  if (isParameter(part)) return part.around;
  const { around } = part;
  return part.index === 0 && around !== undefined && isParameter(around) ? around.around : undefined;
}

/** Whether PART stands directly behind &KEY in a list. */
export function isParameter(part: Part): boolean {
  return part.section === '&KEY';
}

/** Notes in TAKERS what in TREE of TEXT has a keyword parameter of a symbol that is NAMED, or a slot with it and an initarg
 *  of its name. */
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

/** Whether PART, a keyword in TEXT, stands where one of TAKERS takes it. */
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

/** Whether PARAMETER, a list that begins with a keyword, declares that of a parameter: in the type of a function, or with
 *  a variable of another name. */
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

/** Whether PART stands in the call LIST of TEXT as a keyword that TAKERS take. */
function isInCall(part: Part, list: Part, text: string, takers: Takers): boolean {
  const [operator, ...args] = list.items.slice(0, Math.min(part.index, 3));
  const { functions, classes, structures } = takers;
  if (/#s$/i.test(text.slice(Math.max(0, list.start - 2), list.start)))
    return structures.has(operator?.name ?? '') && part.index % 2 === 1;
  const quoted = args.filter(({ marks }) => /^#?'$/.test(marks.at(-1) ?? ''));
  const called = [operator?.name ?? '', ...quoted.map(({ name }) => name)];
  if (called.some((name) => functions.has(name))) return true;
  if (quoted.some(({ name, index }) => classes.has(name) && (part.index - index) % 2 === 1)) return true;
  return called.includes('CALL-NEXT-METHOD') && takesInDefinition(definitionAround(list), takers);
}

/** Whether DEFINITION is of one of TAKERS: of a function, or of a method that initializes a class. */
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

/** Returns the class whose instances DEFINITION initializes, when it is a method that does so. */
function classInitialized({ name, form }: Definition): string | undefined {
  if (!INITIALIZING.has(name)) return undefined;
  const lambdaList = form.items.slice(2).find(({ kind }) => kind === 'list');
  return lambdaList?.items[0]?.items[1]?.name;
}

/** Returns the definition in which the list INNER stands: the innermost list around it with an operator that begins with
 *  DEF, or of a local function, or a constructor of a structure. */
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
