/** Decides where a source calls or mentions a function, and with which arguments. */

import { type Argument, argumentOf, elementsOf } from './fits.ts';
import { bareName, type Form, resolve } from './form.ts';
import { formatCalls } from './format-calls.ts';
import { MARK, upperCase } from './lexer.ts';
import type { SourceText } from './text.ts';
import { operatorOf, walkSource } from './walk.ts';

/** A call or mention that begins at START. ARGS are those of a call; HOW says what else it is. */
export interface Mention {
  start: number;
  /** Where the function is named, or the place that is set, when that is a form in the call. */
  also?: number;
  /** Where the top-level form begins. */
  top: number;
  args?: Argument[];
  how?: string;
}

/** The operators of Common Lisp that define functions and macros for a part of the code. */
const LOCAL: readonly string[] = ['FLET', 'LABELS', 'MACROLET'];

/** A symbol as it is looked for in a part of a source. */
export interface Wanted {
  /** Its name without a package. */
  name: string;
  /** Packages by which it may be qualified; a lower part of the name of another is another symbol. */
  homes: ReadonlySet<string>;
  /** Whether the name alone is the symbol in the package that the text is read in. */
  bare: boolean;
}

/** A function or macro that is looked for. */
export interface Callee extends Omit<Wanted, 'bare'> {
  /** Whether it is `(setf NAME)`. */
  setf: boolean;
  /** Whether it is a macro, which SETF expands in a place. */
  macro?: boolean | undefined;
}

interface Walk extends Callee, Wanted {
  top: number;
  found: Mention[];
  seen: Set<Form>;
}

/** Returns the mentions of CALLEE in SOURCE under FEATURES. */
export function mentionsIn(source: SourceText, features: ReadonlySet<string>, callee: Callee): Mention[] {
  const found: Mention[] = [];
  const tops: number[] = [];
  walkSource(source, features, [callee.name], (top, home, seen) => {
    tops.push(top);
    const bare = home === undefined || callee.homes.has(home);
    const state = { ...callee, bare, top, found, seen };
    return {
      visit: (form, elements, data) => note(form, elements, state, data),
      within: (elements, data) => withoutPlaces(elements, unshadowed(elements, state, data), state),
    };
  });
  if (!callee.setf) found.push(...formatMentions(source.text, callee, tops));
  return found;
}

/** Returns the places in TEXT where a FORMAT directive ~/NAME/ calls the function NAME. TOPS are the starts of the top-level
 *  forms that contain the name. */
function formatMentions(text: string, { name, homes }: Callee, tops: readonly number[]): Mention[] {
  let form = -1;
  return formatCalls(text).flatMap(({ start, written, home }) => {
    while ((tops[form + 1] ?? Number.POSITIVE_INFINITY) <= start) form++;
    const top = tops[form];
    const isCallee = top !== undefined && homes.has(home) && upperCase(written.replace(/^.*:/, '')) === name;
    return isCallee ? [{ start, top, how: 'called by FORMAT' }] : [];
  });
}

/** Gives those of ELEMENTS, of a form, in which the name can be the callee. What a local function or macro of that name
 *  has in its scope is of that. */
function unshadowed(elements: readonly Form[], state: Walk, data: boolean): readonly Form[] {
  const operator = operatorOf(elements[0]);
  if (!LOCAL.includes(operator)) return elements;
  const names = (elementsOf(elements[1]) ?? []).map((binding) => elementsOf(binding)?.[0]);
  if (!names.some((name) => isName(name, state))) return elements;
  return operator === 'LABELS' || data ? [] : elements.slice(0, 2);
}

/** Gives PARTS of a form of ELEMENTS. A place of the callee that SETF sets is of another function, so only what is in it
 *  comes. */
function withoutPlaces(elements: readonly Form[], parts: readonly Form[], state: Walk): readonly Form[] {
  if (state.setf || state.macro || !['SETF', 'PSETF'].includes(operatorOf(elements[0]))) return parts;
  return parts.flatMap((part, index) => {
    const [name, ...args] = (index % 2 === 1 && elementsOf(part)) || [];
    return isNamed(name, state) ? args : [part];
  });
}

function note(form: Form, elements: readonly Form[], state: Walk, data: boolean): void {
  const [first, second] = elements;
  const { start } = form;
  const { top } = state;
  if (state.setf) noteSetf(form, elements, state, data);
  else if (isNamed(first, state)) state.found.push({ start, top, ...callOf(elements.slice(1), data) });
  if (operatorOf(first) === 'FUNCTION' && isName(second, state)) {
    state.found.push({ start, top, how: 'as a function' });
  } else if (operatorOf(first) === 'QUOTE' && isName(second, state)) {
    state.found.push({ start, top, how: 'as a name' });
  } else if (bareName(first) === 'FUNCALL' && second && isReference(second, state)) {
    state.seen.add(second);
    state.found.push({ start, top, also: second.start, ...callOf(elements.slice(2), data) });
  }
}

/** Notes the places of the callee that FORM sets. Their function gets the new value first. */
function noteSetf(form: Form, elements: readonly Form[], state: Walk, data: boolean): void {
  for (const place of placesIn(elements)) {
    const [name, ...args] = elementsOf(place) ?? [];
    if (!isNamed(name, state)) continue;
    const call = callOf(args, data);
    state.found.push({
      start: form.start,
      also: place.start,
      top: state.top,
      ...(call.args ? { args: [{}, ...call.args] } : call),
    });
  }
}

/** Chooses among COUNT arguments by their INDEX. */
type Choice = (index: number, count: number) => boolean;
const FIRST: Choice = (index) => index === 0;
const SECOND: Choice = (index) => index === 1;
const EVEN: Choice = (index) => index % 2 === 0;
const ALL: Choice = () => true;
const BUT_LAST: Choice = (index, count) => index < count - 1;

/** Which arguments of the operators of Common Lisp are places that they set. */
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

/** Which parts of a place are places that are set when it is. */
const SET_WITHIN: ReadonlyMap<string, Choice> = new Map([
  ['VALUES', ALL],
  ['GETF', FIRST],
  ['THE', SECOND],
  ['LDB', SECOND],
  ['MASK-FIELD', SECOND],
]);

/** Gives the places that the form of ELEMENTS sets, and those in them. */
function placesIn(elements: readonly Form[]): readonly Form[] {
  const isSet = SET.get(bareName(elements[0]));
  if (isSet === undefined) return [];
  const places = elements.slice(1).filter((_, index, args) => isSet(index, args.length));
  for (const place of places) {
    const [operator, ...parts] = elementsOf(place) ?? [];
    const isSetWithin = SET_WITHIN.get(operatorOf(operator));
    if (isSetWithin) places.push(...parts.filter((_, index) => isSetWithin(index, parts.length)));
  }
  return places;
}

function callOf(args: readonly Form[], data: boolean): { args?: Argument[]; how?: string } {
  return data ? { how: 'in a backquote or as data' } : { args: args.map(argumentOf) };
}

function isReference(form: Form | undefined, state: Walk): boolean {
  const [operator, name] = elementsOf(form) ?? [];
  return ['FUNCTION', 'QUOTE'].includes(operatorOf(operator)) && isName(name, state);
}

/** Tells whether FORM is the whole name of the callee. */
function isName(form: Form | undefined, state: Walk): boolean {
  if (!state.setf) return isNamed(form, state);
  const [operator, symbol] = elementsOf(form) ?? [];
  return operatorOf(operator) === 'SETF' && isNamed(symbol, state);
}

/** Returns whether FORM is the symbol that is WANTED. */
export function isNamed(form: Form | undefined, { name: wanted, homes, bare }: Wanted): boolean {
  const atom = resolve(form);
  if (atom?.kind !== 'atom' || bareName(atom) !== wanted) return false;
  const name = atom.name ?? '';
  const mark = name.lastIndexOf(MARK);
  return mark === -1 ? bare : homes.has(name.slice(0, mark).replace(MARK, ''));
}
