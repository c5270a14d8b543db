/** Finds the calls of a function in a source file, with their arguments, and its other mentions. */

import { bareName, elementsOf, type Form, operatorOf } from './form.ts';
import { formatCalls } from './format-calls.ts';
import { type Argument, argumentOf } from './lambda-list.ts';
import { upperCase } from './lexer.ts';
import { placesIn } from './syntax.ts';
import type { SourceText } from './text.ts';
import { isSoughtName, isSoughtSymbol, type SoughtName } from './uses.ts';
import { walkSource } from './walk.ts';

/** The kinds of mentions of a function that are no calls with arguments that can be checked. */
export type Mentioned = 'called by FORMAT' | 'as a function' | 'as a name' | 'in a backquote or as data';

/** A call or other mention of a function, which begins at offset START. ARGS are the arguments of a call,
 *  if they can be checked. Otherwise HOW says how the function is mentioned, such as 'as a name'. */
export interface CallMention {
  start: number;
  /** Start of the #'NAME or of the SETF place within the call, when the function is named there. */
  also?: number;
  /** Start of the top-level form. */
  top: number;
  args?: Argument[];
  how?: Mentioned;
  /** For a call in code: its form, and the elements of it. */
  call?: { form: Form; elements: readonly Form[] };
}

/** Common Lisp operators that bind local functions and macros. */
const LOCAL: readonly string[] = ['FLET', 'LABELS', 'MACROLET'];

/** A function or macro to find the mentions of. A macro NAME is mentioned by (setf (NAME ...) value),
 *  which expands it. For a function that form calls (SETF NAME) instead. */
export type Callee = SoughtName & { macro?: boolean | undefined };

interface Walk extends Callee {
  top: number;
  found: CallMention[];
  seen: Set<number>;
}

/** Returns the mentions of CALLEE in SOURCE, read under FEATURES. */
export function callMentionsIn(
  source: SourceText,
  features: ReadonlySet<string>,
  callee: Callee,
): CallMention[] {
  const found: CallMention[] = [];
  const tops: Form[] = [];
  walkSource(source, features, [callee.name], (top, current, seen) => {
    tops.push(top);
    const state = { ...callee, current, top: top.start, found, seen };
    return {
      visit: (form, elements, data) => note(form, elements, state, data),
      within: (elements, data) => withoutPlaces(elements, unshadowed(elements, state, data), state),
    };
  });
  if (!callee.setf) found.push(...formatMentions(source.text, callee, tops));
  return found;
}

/** Returns the mentions in TOPS, forms of TEXT, in which a FORMAT directive ~/NAME/ calls the callee. */
function formatMentions(text: string, { name, packages }: Callee, tops: readonly Form[]): CallMention[] {
  let form = 0;
  return formatCalls(text).flatMap(({ start, written, home }) => {
    while ((tops[form]?.end ?? Number.POSITIVE_INFINITY) <= start) form++;
    const top = tops[form]?.start ?? text.length;
    const isCallee = top < start && packages?.has(home) && upperCase(written.replace(/^.*:/, '')) === name;
    return isCallee ? [{ start, top, how: 'called by FORMAT' as const }] : [];
  });
}

/** Returns those of ELEMENTS, the elements of a form, that are outside the scope of a local function or macro
 *  with the callee's name. */
function unshadowed(elements: readonly Form[], state: Walk, data: boolean): readonly Form[] {
  const operator = operatorOf(elements[0]);
  if (!LOCAL.includes(operator)) return elements;
  const names = elementsOf(elements[1]).map((binding) => elementsOf(binding)[0]);
  if (!names.some((name) => isSoughtName(name, state))) return elements;
  return operator === 'LABELS' || data ? [] : elements.slice(0, 2);
}

/** Returns PARTS of the form that has ELEMENTS, with each SETF place (NAME ...) replaced by its arguments:
 *  such a place calls the function (setf NAME), not NAME. */
function withoutPlaces(elements: readonly Form[], parts: readonly Form[], state: Walk): readonly Form[] {
  if (state.setf || state.macro || !['SETF', 'PSETF'].includes(operatorOf(elements[0]))) return parts;
  return parts.flatMap((part, index) => {
    const [name, ...args] = index % 2 === 1 ? elementsOf(part) : [];
    return isSoughtSymbol(name, state) ? args : [part];
  });
}

/** Notes FORM in STATE if it calls or names the callee itself. DATA is true in quotes and backquotes. */
function note(form: Form, elements: readonly Form[], state: Walk, data: boolean): void {
  const [first, second] = elements;
  const { start } = form;
  const { top } = state;
  if (state.setf) noteSetf(form, elements, state, data);
  else if (isSoughtSymbol(first, state))
    state.found.push({ start, top, ...callOf(elements.slice(1), data), ...callIn(form, elements, data) });
  if (operatorOf(first) === 'FUNCTION' && isSoughtName(second, state)) {
    state.found.push({ start, top, how: 'as a function' });
  } else if (operatorOf(first) === 'QUOTE' && isSoughtName(second, state)) {
    state.found.push({ start, top, how: 'as a name' });
  } else if (bareName(first) === 'FUNCALL' && second && isReference(second, state)) {
    state.seen.add(second.resolved.firstToken);
    const call = { ...callOf(elements.slice(2), data), ...callIn(form, elements, data) };
    state.found.push({ start, top, also: second.start, ...call });
  }
}

/** For a callee (setf NAME): records a call of it for each place (NAME ...) that FORM sets. */
function noteSetf(form: Form, elements: readonly Form[], state: Walk, data: boolean): void {
  for (const place of placesIn(elements)) {
    const [name, ...args] = elementsOf(place);
    if (!isSoughtSymbol(name, state)) continue;
    const call = callOf(args, data);
    state.found.push({
      start: form.start,
      also: place.start,
      top: state.top,
      ...(call.args ? { args: [{}, ...call.args] } : call),
    });
  }
}

function callOf(args: readonly Form[], data: boolean): { args?: Argument[]; how?: Mentioned } {
  return data ? { how: 'in a backquote or as data' } : { args: args.map(argumentOf) };
}

function callIn(form: Form, elements: readonly Form[], data: boolean): Pick<CallMention, 'call'> {
  return data ? {} : { call: { form, elements } };
}

function isReference(form: Form | undefined, state: Walk): boolean {
  const [operator, name] = elementsOf(form);
  return ['FUNCTION', 'QUOTE'].includes(operatorOf(operator)) && isSoughtName(name, state);
}
