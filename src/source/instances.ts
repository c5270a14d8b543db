/** Decides where a source makes instances of classes, with which initialization arguments, and where it names slots. */

import { isNamed, type Wanted } from './calls.ts';
import { elementsOf } from './fits.ts';
import { bareName, type Form, resolve } from './form.ts';
import { MARK } from './lexer.ts';
import type { SourceText } from './text.ts';
import { operatorOf, walkSource } from './walk.ts';

/** What is looked for: classes, the initialization arguments that they lose, and slots that go, all by bare names. */
export interface Sought {
  classes: readonly Omit<Wanted, 'bare'>[];
  initargs: readonly string[];
  slots: readonly string[];
}

/** A form at START that makes an instance of the class NAME with KEYS, or HOW it could. A SLOT is one that it names. */
export interface InstanceUse {
  start: number;
  name?: string;
  keys: string[];
  how?: string;
  slot?: string;
}

/** Operators of Common Lisp that take a class and initialization arguments behind it, and where the class stands. */
const MAKERS: ReadonlyMap<string, number> = new Map([
  ...['MAKE-INSTANCE', 'MAKE-CONDITION', 'ERROR', 'SIGNAL', 'WARN'].map((name) => [name, 1] as const),
  ...['CHANGE-CLASS', 'CERROR'].map((name) => [name, 2] as const),
]);

/** Operators of Common Lisp that name a slot as their second argument. */
const READERS: ReadonlySet<string> = new Set([
  'SLOT-VALUE',
  'SLOT-BOUNDP',
  'SLOT-MAKUNBOUND',
  'SLOT-EXISTS-P',
]);

/** Returns the uses in SOURCE, under FEATURES, of what is SOUGHT. */
export function instanceUsesIn(
  source: SourceText,
  features: ReadonlySet<string>,
  sought: Sought,
): InstanceUse[] {
  const found: InstanceUse[] = [];
  const words = [
    ...sought.classes.map(({ name }) => name),
    ...sought.initargs.map((key) => `:${key}`),
    ...sought.slots,
  ];
  walkSource(source, features, words, (_, home) => {
    const classes = sought.classes.map((each) => ({
      ...each,
      bare: home === undefined || each.homes.has(home),
    }));
    return {
      visit: ({ start }, elements, data) => {
        const use = makingIn(elements, classes, sought.initargs);
        if (use) found.push({ start, ...use, ...(data && { how: 'in a backquote or as data' }) });
        for (const slot of slotsNamed(elements))
          if (sought.slots.includes(slot)) found.push({ start, keys: [], slot });
      },
    };
  });
  return found;
}

/** Returns what a form of ELEMENTS makes of CLASSES, undefined when it is nothing that INITARGS can matter to. */
function makingIn(
  elements: readonly Form[],
  classes: readonly Wanted[],
  initargs: readonly string[],
): Omit<InstanceUse, 'start'> | undefined {
  const at = MAKERS.get(operatorOf(elements[0]));
  if (at === undefined) return passedIn(elements, classes, initargs);
  const [designator, ...rest] = elements.slice(at);
  const keys = keywordsIn(rest.filter((_, index) => index % 2 === 0));
  const quoted = quotedIn(designator);
  if (quoted !== undefined) {
    const wanted = classes.find((each) => isNamed(quoted, each));
    return wanted && { name: wanted.name, keys };
  }
  const literal = designator === undefined || resolve(designator)?.name === '';
  if (literal || !keys.some((key) => initargs.includes(key))) return undefined;
  return { keys, how: 'its class is computed' };
}

/** Returns what another form of ELEMENTS, such as one of APPLY, passes on: a class with initialization arguments. */
function passedIn(
  elements: readonly Form[],
  classes: readonly Wanted[],
  initargs: readonly string[],
): Omit<InstanceUse, 'start'> | undefined {
  if (operatorOf(elements[0]) === 'QUOTE') return undefined;
  for (const [index, element] of elements.entries()) {
    const quoted = quotedIn(element);
    const wanted = quoted && classes.find((each) => isNamed(quoted, each));
    if (!wanted) continue;
    const keys = keywordsIn(elements.slice(index + 1));
    const maker = elements.slice(0, index).some((each) => MAKERS.has(operatorOf(elementsOf(each)?.[1])));
    if (!maker && !keys.some((key) => initargs.includes(key))) return undefined;
    return { name: wanted.name, keys, how: 'its arguments are computed' };
  }
  return undefined;
}

/** Returns what FORM quotes, or has behind FIND-CLASS as a quoted name; undefined when it is nothing such. */
function quotedIn(form: Form | undefined): Form | undefined {
  const [operator, quoted] = elementsOf(form) ?? [];
  if (operatorOf(operator) === 'FIND-CLASS') return quotedIn(quoted);
  return operatorOf(operator) === 'QUOTE' ? quoted : undefined;
}

function keywordsIn(forms: readonly Form[]): string[] {
  return forms.flatMap((form) => {
    const { kind, name = '' } = resolve(form) ?? form;
    return kind === 'atom' && name.startsWith(MARK) && name.length > 1 ? [name.slice(1)] : [];
  });
}

/** Returns the bare names of the slots that a form of ELEMENTS names. */
function slotsNamed([operator, second, third]: readonly Form[]): string[] {
  const name = operatorOf(operator);
  if (READERS.has(name)) return [quotedIn(third)].filter((slot) => slot !== undefined).map(bareName);
  if (name !== 'WITH-SLOTS') return [];
  return (elementsOf(second) ?? []).map((slot) => bareName(elementsOf(slot)?.[1] ?? slot));
}
