/** Decides where a source calls or mentions a function, and with which arguments. */

import { type Argument, argumentOf, elementsOf } from './fits.ts';
import { bareName, type Form, resolve } from './form.ts';
import { MARK } from './lexer.ts';
import type { SourceText } from './text.ts';
import { operatorOf, walkSource } from './walk.ts';

/** A call or mention that begins at START. ARGS are those of a call; HOW says what else it is. */
export interface Mention {
  start: number;
  /** Where the function is named, when that is a form in the call. */
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
  walkSource(source, features, [callee.name], (top, home, seen) => {
    const bare = home === undefined || callee.homes.has(home);
    const state = { ...callee, bare, top, found, seen };
    return {
      visit: (form, elements, data) => note(form, elements, state, data),
      within: (elements, data) => withoutPlaces(elements, unshadowed(elements, state, data), state),
    };
  });
  return found;
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
  if (state.setf) {
    noteSetf(form, elements, state, data);
    return;
  }
  const { start } = form;
  const { top } = state;
  if (isNamed(first, state)) state.found.push({ start, top, ...callOf(elements.slice(1), data) });
  else if (operatorOf(first) === 'FUNCTION' && isNamed(second, state)) {
    state.found.push({ start, top, how: 'as a function' });
  } else if (operatorOf(first) === 'QUOTE' && isNamed(second, state)) {
    state.found.push({ start, top, how: 'as a name' });
  } else if (bareName(first) === 'FUNCALL' && second && isReference(second, state)) {
    state.seen.add(second);
    state.found.push({ start, top, also: second.start, ...callOf(elements.slice(2), data) });
  }
}

/** Notes places in a SETF form, whose function gets the new value first. */
function noteSetf(form: Form, elements: readonly Form[], state: Walk, data: boolean): void {
  if (bareName(elements[0]) !== 'SETF') return;
  elements.slice(1).forEach((place, index) => {
    const parts = elementsOf(place) ?? [];
    if (index % 2 === 0 && isNamed(parts[0], state)) {
      const call = callOf(parts.slice(1), data);
      state.found.push({
        start: form.start,
        top: state.top,
        ...(call.args ? { args: [{}, ...call.args] } : call),
      });
    }
  });
}

function callOf(args: readonly Form[], data: boolean): { args?: Argument[]; how?: string } {
  return data ? { how: 'in a backquote or as data' } : { args: args.map(argumentOf) };
}

function isReference(form: Form | undefined, state: Walk): boolean {
  const [operator, name] = elementsOf(form) ?? [];
  return ['FUNCTION', 'QUOTE'].includes(operatorOf(operator)) && isNamed(name, state);
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
