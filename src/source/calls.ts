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
  /** Whether it stands as the place of a SETF, where a function of that name is not called. */
  place?: true;
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

interface Walk extends Wanted {
  setf: boolean;
  top: number;
  found: Mention[];
  seen: Set<Form>;
  places: Set<Form>;
}

/** Returns the mentions of CALLEE, a bare name, in SOURCE under FEATURES. HOMES are the names
 *  of packages in which it is accessible. SETF says that the function is `(setf CALLEE)`. */
export function mentionsIn(
  source: SourceText,
  features: ReadonlySet<string>,
  callee: string,
  homes: ReadonlySet<string>,
  setf: boolean,
): Mention[] {
  const found: Mention[] = [];
  walkSource(source, features, [callee], (top, home) => {
    const wanted = { name: callee, homes, bare: home === undefined || homes.has(home) };
    const places = new Set<Form>();
    return {
      visit: (form, elements, data, seen) =>
        note(form, elements, { ...wanted, setf, top, found, seen, places }, data),
      skips: (elements) => shadows(elements, wanted),
    };
  });
  return found;
}

/** Tells whether a form of ELEMENTS defines a local function or macro of the callee's name: what it has is of that. */
function shadows([operator, bindings]: readonly Form[], wanted: Wanted): boolean {
  if (!LOCAL.includes(operatorOf(operator))) return false;
  return (elementsOf(bindings) ?? []).some((binding) => isNamed(elementsOf(binding)?.[0], wanted));
}

function note(form: Form, elements: readonly Form[], state: Walk, data: boolean): void {
  const [first, second] = elements;
  if (state.setf) {
    noteSetf(form, elements, state, data);
    return;
  }
  const { start } = form;
  const { top, places } = state;
  if (operatorOf(first) === 'SETF')
    for (const place of elements.filter((_, index) => index % 2 === 1)) places.add(place);
  const place = places.has(form) && { place: true as const };
  if (isNamed(first, state)) state.found.push({ start, top, ...callOf(elements.slice(1), data), ...place });
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

function isReference(form: Form | undefined, wanted: Wanted): boolean {
  const [operator, name] = elementsOf(form) ?? [];
  return ['FUNCTION', 'QUOTE'].includes(operatorOf(operator)) && isNamed(name, wanted);
}

/** Returns whether FORM is the symbol that is WANTED. */
export function isNamed(form: Form | undefined, { name: wanted, homes, bare }: Wanted): boolean {
  const atom = resolve(form);
  if (atom?.kind !== 'atom' || bareName(atom) !== wanted) return false;
  const name = atom.name ?? '';
  const mark = name.lastIndexOf(MARK);
  return mark === -1 ? bare : homes.has(name.slice(0, mark).replace(MARK, ''));
}
