/** Finds the places where a source file makes instances or names slots, and the initargs that it gives there. */

import { elementsOf, type Form, nameOf, symbolNameOf } from './form.ts';
import { argumentOf } from './lambda-list.ts';
import type { SourceText } from './text.ts';
import { isSoughtSymbol, type SoughtName } from './uses.ts';
import { walkSource } from './walk.ts';

/** The classes that change, and the names, without packages, of the initargs and slots that these classes lose. */
interface Sought {
  classes: readonly SoughtName[];
  initargs: readonly string[];
  slots: readonly string[];
}

/** A form that makes an instance of the class `name` with the initargs `keys`, or a form that names the slot `slot`.
 * `how` says why it is uncertain that the form is such a use; absent when it is certain. */
export interface InstanceUse {
  start: number;
  name?: string;
  keys: string[];
  how?: string;
  slot?: string;
}

/** Common Lisp operators that take a class and then initargs, with the index of the class in the form. */
export const MAKERS: ReadonlyMap<string, number> = new Map([
  ...['MAKE-INSTANCE', 'MAKE-CONDITION', 'ERROR', 'SIGNAL', 'WARN'].map((name) => [name, 1] as const),
  ...['CHANGE-CLASS', 'CERROR'].map((name) => [name, 2] as const),
]);

/** Common Lisp operators whose second argument names a slot. */
const READERS: ReadonlySet<string> = new Set([
  'SLOT-VALUE',
  'SLOT-BOUNDP',
  'SLOT-MAKUNBOUND',
  'SLOT-EXISTS-P',
]);

/** Returns the uses of SOUGHT in SOURCE. FEATURES decide what #+ and #- include. */
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
  walkSource(source, features, words, (_, current) => {
    const classes = sought.classes.map((each) => ({ ...each, current }));
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

/** Returns a use if the form with ELEMENTS makes an instance of one of CLASSES, or passes one of INITARGS to a class
 * that is computed at run time; else undefined. */
function makingIn(
  elements: readonly Form[],
  classes: readonly SoughtName[],
  initargs: readonly string[],
): Omit<InstanceUse, 'start'> | undefined {
  const at = MAKERS.get(nameOf(elements[0]));
  if (at === undefined) return passedIn(elements, classes, initargs);
  const [designator, ...rest] = elements.slice(at);
  const keys = keywordsIn(rest.filter((_, index) => index % 2 === 0));
  const quoted = quotedIn(designator);
  if (quoted !== undefined) {
    const wanted = classes.find((each) => isSoughtSymbol(quoted, each));
    return wanted && { name: wanted.name, keys };
  }
  const literal = designator === undefined || designator.name === '';
  if (literal || !keys.some((key) => initargs.includes(key))) return undefined;
  return { keys, how: 'its class is computed' };
}

/** Returns a use if the form with ELEMENTS seems to pass on a quoted class and initargs, as (apply #'make-instance
 * 'name ...) does; else undefined. */
function passedIn(
  elements: readonly Form[],
  classes: readonly SoughtName[],
  initargs: readonly string[],
): Omit<InstanceUse, 'start'> | undefined {
  if (nameOf(elements[0]) === 'QUOTE') return undefined;
  for (const [index, element] of elements.entries()) {
    const quoted = quotedIn(element);
    const wanted = quoted && classes.find((each) => isSoughtSymbol(quoted, each));
    if (!wanted) continue;
    const keys = keywordsIn(elements.slice(index + 1));
    const maker = elements.slice(0, index).some((each) => MAKERS.has(nameOf(elementsOf(each)[1])));
    if (!maker && !keys.some((key) => initargs.includes(key))) return undefined;
    return { name: wanted.name, keys, how: 'its arguments are computed' };
  }
  return undefined;
}

/** Returns the object quoted in FORM; undefined when FORM quotes nothing. FORM may be (find-class 'NAME). */
function quotedIn(form: Form | undefined): Form | undefined {
  const [operator, quoted] = elementsOf(form);
  if (nameOf(operator) === 'FIND-CLASS') return quotedIn(quoted);
  return nameOf(operator) === 'QUOTE' ? quoted : undefined;
}

function keywordsIn(forms: readonly Form[]): string[] {
  return forms.flatMap((form) => argumentOf(form).keyword ?? []);
}

function slotsNamed([operator, second, third]: readonly Form[]): string[] {
  const name = nameOf(operator);
  if (READERS.has(name)) return [quotedIn(third)].filter((slot) => slot !== undefined).map(symbolNameOf);
  if (name !== 'WITH-SLOTS') return [];
  return elementsOf(second).map((slot) => symbolNameOf(elementsOf(slot)[1] ?? slot));
}
