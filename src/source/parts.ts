// Finds the part of a definition at an offset, such as an initform, if that part is evaluated outside of functions.

import { formsWithin, readForm } from './form.ts';
import type { TopLevelDefinition } from './top-level.ts';

/** One of the nested lists around the offset AT of `partAt`. `operator` is the first symbol in the list, and `last` the
 * last one before AT. `symbolBefore` is the last symbol before the list, in the next outer list. */
interface Around {
  operator: string;
  last: string;
  symbolBefore: string;
}

/** Maps a slot option to the name of the part that is the option's value. */
const SLOT_PARTS: ReadonlyMap<string, string> = new Map([
  ['INITFORM', 'slot initform'],
  ['TYPE', 'slot type'],
]);

/** Maps the operator of a definition to a function that returns the name of the part at an offset. Its arguments are
 * the lists around the offset, the outermost first, and the last symbol before the offset. */
const PARTS: ReadonlyMap<string, (lists: readonly Around[], symbolBefore: string) => string | undefined> =
  new Map([
    ...['DEFMETHOD', 'DEFGENERIC'].map((operator) => [operator, partOfMethod] as const),
    ...['DEFCLASS', 'DEFINE-CONDITION'].map((operator) => [operator, partOfClass] as const),
  ]);

/** Returns true when `partAt` can name parts of definitions with OPERATOR. */
export function hasParts(operator: string): boolean {
  return PARTS.has(operator);
}

/** Returns true when the offset AT in SOURCE is in a form with the prefix `#.`, which the reader evaluates. FORM is the
 * top-level form around AT. */
export function isReadTime(source: string, { start }: TopLevelDefinition, at: number): boolean {
  const top = readForm(source, start);
  if (!top?.text.includes('#.')) return false;
  return [...formsWithin(top)].some(
    (form) => form.prefixes.includes('#.') && form.start <= at && at < form.end,
  );
}

/** Returns the name of the part of the definition FORM that contains the offset AT of SOURCE, such as 'specializer'.
 * Returns undefined when this part has no name. */
export function partAt(source: string, form: TopLevelDefinition, at: number): string | undefined {
  const lists: Around[] = [];
  let list = readForm(source, form.start);
  while (list?.isList && list.start < at) {
    const before = list.elements.filter(({ start }) => start < at);
    const names = before.filter(({ notation }) => notation === 'atom').map((atom) => atom.symbolName);
    const operator = names.find((name) => name !== '') ?? '';
    lists.push({ operator, last: names.at(-1) ?? '', symbolBefore: lists.at(-1)?.last ?? '' });
    const inner = before.at(-1);
    list = inner && inner.end > at ? inner : undefined;
  }
  return PARTS.get(form.operator)?.(lists, lists.at(-1)?.last ?? '');
}

function partOfMethod(lists: readonly Around[]): string | undefined {
  const operators = lists.map(({ operator }) => operator);
  if (operators.includes('LOAD-TIME-VALUE')) return 'load-time value';
  // In a lambda list, the specializer follows the name of its parameter.
  const specializer = lists.findIndex(
    ({ operator, symbolBefore }) => operator === 'EQL' && symbolBefore !== '',
  );
  const parameter = lists[specializer - 1];
  return parameter && parameter.operator === lists[specializer]?.symbolBefore ? 'specializer' : undefined;
}

function partOfClass(lists: readonly Around[], symbolBefore: string): string | undefined {
  if (lists[1]?.operator === 'DEFAULT-INITARGS') return 'default initarg';
  return SLOT_PARTS.get(lists[3]?.symbolBefore ?? symbolBefore);
}
