/** Finds the calls of a function in a source file, with their arguments, and its other mentions. */

import { elementsOf, type Form, nameOf, symbolNameOf } from './form.ts';
import { formatCalls } from './format-calls.ts';
import { type Argument, argumentOf } from './lambda-list.ts';
import { upperCase } from './lexer.ts';
import { placesIn } from './syntax.ts';
import type { SourceText } from './text.ts';
import { isSoughtName, isSoughtSymbol, type SoughtName } from './uses.ts';
import { walkSource } from './walk.ts';

/** The ways in which a source text names a function, other than by a call with arguments that can be checked. */
export type Mentioned = 'called by FORMAT' | 'as a function' | 'as a name' | 'in a backquote or as data';

/** A call or other mention of a function, at offset `start`. `args` are the arguments of a call; undefined when the
 * text does not show all of them. Then `how` is set. */
export interface CallMention {
  start: number;
  /** For a call such as (funcall #'NAME ...), the offset of #'NAME. For a form that sets a place (NAME ...), the offset
   * of this place. Undefined for any other mention. */
  also?: number;
  /** Offset of the top-level form. */
  top: number;
  args?: Argument[];
  how?: Mentioned;
  call?: { form: Form; elements: readonly Form[] };
}

const LOCAL: readonly string[] = ['FLET', 'LABELS', 'MACROLET'];

/** A function or macro whose mentions are searched for. `macro` is true for a macro. A form `(setf (NAME ...) value)`
 * mentions a macro NAME. If NAME is a function, the form does not mention it: it calls the function (SETF NAME). */
export type Callee = SoughtName & { macro?: boolean | undefined };

interface Walk extends Callee {
  top: number;
  found: CallMention[];
  seen: Set<number>;
}

/** Returns the calls and other mentions of CALLEE in SOURCE. FEATURES decide what #+ and #- include. */
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

/** Returns the mentions of the callee by the FORMAT directive ~/NAME/ within TOPS, top-level forms of TEXT. */
function formatMentions(text: string, { name, packages }: Callee, tops: readonly Form[]): CallMention[] {
  let form = 0;
  return formatCalls(text).flatMap(({ start, written, home }) => {
    while ((tops[form]?.end ?? Number.POSITIVE_INFINITY) <= start) form++;
    const top = tops[form]?.start ?? text.length;
    const isCallee = top < start && packages?.has(home) && upperCase(written.replace(/^.*:/, '')) === name;
    return isCallee ? [{ start, top, how: 'called by FORMAT' as const }] : [];
  });
}

/** Returns ELEMENTS, the elements of a form, without those in which a local function or macro shadows the callee. */
function unshadowed(elements: readonly Form[], state: Walk, data: boolean): readonly Form[] {
  const operator = nameOf(elements[0]);
  if (!LOCAL.includes(operator)) return elements;
  const names = elementsOf(elements[1]).map((binding) => elementsOf(binding)[0]);
  if (!names.some((name) => isSoughtName(name, state))) return elements;
  return operator === 'LABELS' || data ? [] : elements.slice(0, 2);
}

/** Returns PARTS of the form with ELEMENTS, with each SETF place (NAME ...) replaced by its arguments. Such a place
 * calls the function (setf NAME), not NAME. */
function withoutPlaces(elements: readonly Form[], parts: readonly Form[], state: Walk): readonly Form[] {
  if (state.setf || state.macro || !['SETF', 'PSETF'].includes(nameOf(elements[0]))) return parts;
  return parts.flatMap((part, index) => {
    const [name, ...args] = index % 2 === 1 ? elementsOf(part) : [];
    return isSoughtSymbol(name, state) ? args : [part];
  });
}

/** Adds FORM to the found mentions if it calls or names the callee. DATA is true in quotes and backquotes. */
function note(form: Form, elements: readonly Form[], state: Walk, data: boolean): void {
  const [first, second] = elements;
  const { start } = form;
  const { top } = state;
  if (state.setf) noteSetf(form, elements, state, data);
  else if (isSoughtSymbol(first, state))
    state.found.push({ start, top, ...callOf(elements.slice(1), data), ...callIn(form, elements, data) });
  if (nameOf(first) === 'FUNCTION' && isSoughtName(second, state)) {
    state.found.push({ start, top, how: 'as a function' });
  } else if (nameOf(first) === 'QUOTE' && isSoughtName(second, state)) {
    state.found.push({ start, top, how: 'as a name' });
  } else if (symbolNameOf(first) === 'FUNCALL' && second && isReference(second, state)) {
    state.seen.add(second.firstToken);
    const call = { ...callOf(elements.slice(2), data), ...callIn(form, elements, data) };
    state.found.push({ start, top, also: second.start, ...call });
  }
}

/** Adds a call of the callee (setf NAME) for each place (NAME ...) that FORM sets. */
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
  return ['FUNCTION', 'QUOTE'].includes(nameOf(operator)) && isSoughtName(name, state);
}
