/** Checks whether the arguments of a call fit a lambda list. Both are read from source text. */

import { elementsOf, type Form, readForm, spineOf, symbolNameOf } from './form.ts';
import { PACKAGE_MARKER } from './lexer.ts';

/** The numbers of required and optional arguments that a lambda list accepts. If `rest` is true, it accepts any number
 * of further arguments. */
export interface LambdaList {
  required: number;
  optional: number;
  rest: boolean;
  /** Names of the keywords; undefined without &key. */
  keys?: string[];
  /** Whether any keyword is accepted, as with &allow-other-keys. */
  otherKeys: boolean;
  /** Nested lambda lists of a macro, by the index of the required parameter that has one; absent when there are
   * none. */
  inner?: Map<number, LambdaList>;
}

/** One argument of a call. Only a keyword has `keyword`, and only a list has `list`; any other argument is {}. If
 * `unknown` is true, the text does not show the argument, which may stand for any number of arguments. */
export type Argument = { keyword?: string; unknown?: boolean; list?: Form };

/** Returns true when FORM is a list without a dot, or empty. */
function isProper(form: Form): boolean {
  const { elements, tail } = spineOf(form);
  if (tail === undefined) return true;
  // Only the atom () has no name: that of a string, for example, is ''.
  return elements.length === 0 && tail.kind === 'atom' && (tail.name === undefined || tail.name === 'NIL');
}

/** Nested lambda lists of a macro are not checked below this depth. */
const MAX_DEPTH = 100;

/** Returns the arguments that the lambda list FORM accepts; undefined when this cannot be determined. If MACRO is true,
 * required parameters may be lambda lists themselves. DEPTH is the number of lambda lists around FORM. */
export function lambdaListOf(form: Form | undefined, macro = false, depth = 0): LambdaList | undefined {
  if (form === undefined) return undefined;
  const { elements, tail } = spineOf(form);
  const proper = isProper(form);
  // The last symbol of a dotted lambda list binds the rest.
  if (!proper && (elements.length === 0 || tail?.kind !== 'atom')) return undefined;
  const list: LambdaList = {
    required: 0,
    optional: 0,
    rest: !proper,
    otherKeys: false,
  };
  let mode: 'required' | 'optional' | 'rest' | 'keys' | 'aux' = 'required';
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i];
    const name = symbolNameOf(element);
    if (element?.kind === 'read-time' || element?.kind === 'comma') return undefined;
    const takesVariable = name === '&WHOLE' || name === '&ENVIRONMENT';
    if (takesVariable) i++;
    else if (name === '&ALLOW-OTHER-KEYS') list.otherKeys = true;
    else if (name === '&REST' || name === '&BODY' || name === '&MORE') {
      list.rest = true;
      mode = 'rest';
    } else if (name === '&KEY') {
      list.keys = [];
      mode = 'keys';
    } else if (name.startsWith('&')) mode = name === '&OPTIONAL' ? 'optional' : 'aux';
    else if (mode === 'required') {
      const inner =
        macro && depth < MAX_DEPTH && element?.kind === 'cons'
          ? lambdaListOf(element, true, depth + 1)
          : undefined;
      if (inner) {
        list.inner ??= new Map();
        list.inner.set(list.required, inner);
      }
      list.required++;
    } else if (mode === 'optional') list.optional++;
    else if (mode === 'keys') list.keys?.push(keyOf(element));
  }
  return list;
}

function keyOf(form: Form | undefined): string {
  if (form?.kind !== 'cons') return symbolNameOf(form);
  const [variable] = elementsOf(form);
  const [keyword] = variable?.kind === 'cons' ? elementsOf(variable) : [];
  return symbolNameOf(keyword ?? variable);
}

/** Returns the arguments that the lambda list TEXT accepts; undefined if TEXT is not a list. MACRO is true for the list
 * of a macro. */
export function parsedLambdaList(
  text: string,
  features: ReadonlySet<string> = new Set(),
  macro = false,
): LambdaList | undefined {
  if (/^\s*(nil|\(\s*\))\s*$/i.test(text)) return { required: 0, optional: 0, rest: false, otherKeys: false };
  const form = readForm(text, 0, features);
  return form?.kind === 'cons' ? lambdaListOf(form, macro) : undefined;
}

/** Returns the Argument for FORM, which stands as an argument in a call. */
export function argumentOf(form: Form): Argument {
  const { kind, name = '' } = form;
  if (kind === 'read-time') return { unknown: true };
  if (kind === 'cons' || isProper(form)) return { list: form };
  return kind === 'atom' && name.startsWith(PACKAGE_MARKER) && name.length > 1
    ? { keyword: name.slice(1) }
    : {};
}

/** The result of a check: true when the call fits, the reason when it does not, undefined when this cannot be
 * determined. */
type FitResult = string | true | undefined;

/** Checks whether ARGS, the arguments of a call, fit the lambda list LIST. AS_WRITTEN is true when ARGS are not
 * evaluated, as in the call of a macro. Then a list among them is never a form whose value is a keyword. */
export function checkFit(list: LambdaList, args: readonly Argument[], asWritten = false): FitResult {
  if (args.some(({ unknown }) => unknown)) return undefined;
  const positional = list.required + list.optional;
  if (args.length < list.required) return `${counted(args.length)}, at least ${list.required} needed`;
  const open = list.rest || list.keys !== undefined;
  if (!open && args.length > positional) return `${counted(args.length)}, at most ${positional} taken`;
  const fits = innerFit(list, args);
  return list.keys === undefined || fits !== true ? fits : keysFit(list, args.slice(positional), asWritten);
}

/** Checks whether ARGS, the arguments of a macro call, fit the lambda lists nested in the lambda list of the macro. */
function innerFit(
  { inner = new Map<number, LambdaList>() }: LambdaList,
  args: readonly Argument[],
): FitResult {
  const fits = [...inner].map(([position, list]): FitResult => {
    const given = args[position]?.list;
    if (given === undefined) return `argument ${position + 1} is no list`;
    const fit = isProper(given) ? checkFit(list, elementsOf(given).map(argumentOf), true) : undefined;
    return typeof fit === 'string' ? `argument ${position + 1}: ${fit}` : fit;
  });
  return fits.find((fit) => typeof fit === 'string') ?? (fits.includes(undefined) ? undefined : true);
}

function keysFit(
  { keys = [], otherKeys }: LambdaList,
  args: readonly Argument[],
  asWritten: boolean,
): FitResult {
  if (args.length % 2 === 1) return 'an odd number of keyword arguments';
  const given = args.filter((_, index) => index % 2 === 0);
  const known = new Set(keys);
  if (otherKeys || given.some(({ keyword }) => keyword === 'ALLOW-OTHER-KEYS')) return true;
  const strange = given.find(({ keyword }) => keyword !== undefined && !known.has(keyword));
  if (strange) return `:${strange.keyword} is not one of its keywords`;
  if (asWritten && given.some(({ list }) => list !== undefined))
    return 'a list stands where a keyword is needed';
  return given.every(({ keyword }) => keyword !== undefined) ? true : undefined;
}

function counted(count: number): string {
  return `${count} ${count === 1 ? 'argument' : 'arguments'}`;
}

/** Returns the reason why METHOD, the lambda list of a method, is not congruent with LIST of its generic function.
 * Returns undefined when it is. */
export function disagreement(list: LambdaList, method: LambdaList): string | undefined {
  if (method.required !== list.required)
    return `${method.required} required parameters, the generic function has ${list.required}`;
  if (method.optional !== list.optional)
    return `${method.optional} optional parameters, the generic function has ${list.optional}`;
  const open = list.rest || list.keys !== undefined;
  if (open !== (method.rest || method.keys !== undefined)) {
    return open ? 'takes neither &rest nor &key' : 'takes &rest or &key, but the generic function does not';
  }
  if (method.keys === undefined || method.otherKeys) return undefined;
  const taken = new Set(method.keys);
  const missing = (list.keys ?? []).filter((key) => !taken.has(key));
  return missing.length > 0 ? `does not take ${missing.map((key) => `:${key}`).join(', ')}` : undefined;
}
