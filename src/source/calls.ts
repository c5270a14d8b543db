/** Decides where a source calls or mentions a function, and with which arguments. */

import { type Argument, argumentOf, elementsOf } from './fits.ts';
import { bareName, type Form, readForm, resolve } from './form.ts';
import { MARK } from './lexer.ts';
import { TopLevelForms } from './position.ts';
import { nonForms } from './syntax.ts';
import type { SourceText } from './text.ts';

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

/** A function or macro that is looked for. */
export interface Callee {
  /** Its bare name. */
  name: string;
  /** Packages by which it may be qualified; a lower part of the name of another is another symbol. */
  homes: ReadonlySet<string>;
  /** Whether it is `(setf NAME)`. */
  setf: boolean;
  /** Whether it is a macro, which SETF expands in a place. */
  macro?: boolean | undefined;
}

interface Walk extends Callee {
  /** Whether the name alone is the callee in the package that the text is read in. */
  bare: boolean;
  top: number;
  found: Mention[];
  seen: Set<Form>;
}

/** Returns the mentions of CALLEE in SOURCE under FEATURES. */
export function mentionsIn(source: SourceText, features: ReadonlySet<string>, callee: Callee): Mention[] {
  const found: Mention[] = [];
  if (!source.text.toUpperCase().includes(callee.name)) return found;
  const forms = new TopLevelForms(source, features);
  for (let n = 0; ; n++) {
    const top = forms.start(n);
    if (top === undefined) return found;
    const end = forms.start(n + 1) ?? source.text.length;
    if (!source.text.slice(top, end).toUpperCase().includes(callee.name)) continue;
    const form = readForm(source.text, top, features);
    const home = forms.packageAt(top);
    const bare = home === undefined || callee.homes.has(home);
    if (form) walk(form, { ...callee, bare, top, found, seen: new Set() }, 0, false);
  }
}

/** Notes what FORM mentions. DEPTH counts backquotes around it, QUOTED says that it is data. */
function walk(start: Form, state: Walk, depth: number, quoted: boolean): void {
  const form = resolve(start);
  if (form === undefined || state.seen.has(form)) return;
  if (form.kind === 'comma') {
    if (form.car) walk(form.car, state, Math.max(0, depth - 1), quoted);
    return;
  }
  // The reader evaluates what stands behind #. wherever that is.
  if (form.kind === 'made' && form.car) walk(form.car, state, 0, false);
  if (form.kind !== 'cons') return;
  state.seen.add(form);
  const elements = elementsOf(form) ?? partsOf(form);
  const data = depth > 0 || quoted;
  note(form, elements, state, data);
  const operator = operatorOf(elements[0]);
  const inner = form.template ? depth + 1 : depth;
  const lists = quoted || inner > 0 ? new Map<Form, Form[]>() : nonForms(elements);
  for (const place of setPlaces(elements, state)) lists.set(place, (elementsOf(place) ?? []).slice(1));
  for (const element of unshadowed(elements, state, data))
    for (const each of lists.get(element) ?? [element])
      walk(each, state, inner, quoted || operator === 'QUOTE');
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

/** Gives the places of the callee that a SETF form of ELEMENTS sets: they are of another function. */
function setPlaces([operator, ...rest]: readonly Form[], state: Walk): Form[] {
  if (state.setf || state.macro || !['SETF', 'PSETF'].includes(operatorOf(operator))) return [];
  return rest.filter((place, index) => index % 2 === 0 && isCallee(elementsOf(place)?.[0], state));
}

/** Gives the elements of a list with a dot. */
function partsOf(form: Form): Form[] {
  const parts: Form[] = [];
  let cell: Form | undefined = form;
  for (; cell?.kind === 'cons' && parts.length < 10_000; cell = resolve(cell.cdr))
    if (cell.car) parts.push(cell.car);
  return cell ? [...parts, cell] : parts;
}

function operatorOf(form: Form | undefined): string {
  return resolve(form)?.name ?? '';
}

function note(form: Form, elements: readonly Form[], state: Walk, data: boolean): void {
  const [first, second] = elements;
  if (state.setf) {
    noteSetf(form, elements, state, data);
    return;
  }
  const { start } = form;
  const { top } = state;
  if (isCallee(first, state)) state.found.push({ start, top, ...callOf(elements.slice(1), data) });
  else if (operatorOf(first) === 'FUNCTION' && isCallee(second, state)) {
    state.found.push({ start, top, how: 'as a function' });
  } else if (operatorOf(first) === 'QUOTE' && isCallee(second, state)) {
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
    if (index % 2 === 0 && isCallee(parts[0], state)) {
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
  return ['FUNCTION', 'QUOTE'].includes(operatorOf(operator)) && isCallee(name, state);
}

/** Tells whether FORM is the whole name of the callee. */
function isName(form: Form | undefined, state: Walk): boolean {
  if (!state.setf) return isCallee(form, state);
  const [operator, symbol] = elementsOf(form) ?? [];
  return operatorOf(operator) === 'SETF' && isCallee(symbol, state);
}

/** Tells whether FORM is the symbol of the callee's name. */
function isCallee(form: Form | undefined, { name: callee, homes, bare }: Walk): boolean {
  const atom = resolve(form);
  if (atom?.kind !== 'atom' || bareName(atom) !== callee) return false;
  const name = atom.name ?? '';
  const mark = name.lastIndexOf(MARK);
  return mark === -1 ? bare : homes.has(name.slice(0, mark).replace(MARK, ''));
}
