/** Decides what the text of a definition defines: its name, its lambda list, and the accessors of a class or structure. */

import { elementsOf, type LambdaList, lambdaListOf } from './fits.ts';
import { bareName, type Form, readForm } from './form.ts';

export interface Definition {
  operator: string;
  /** Without a package. */
  name: string;
  /** It is of the function `(setf NAME)`. */
  setf: boolean;
  lambdaList?: LambdaList;
  /** Of a class or structure: bare names of its slots, and of the functions that it defines for them. A constructor has
   *  its lambda list. */
  slots?: string[];
  accessors?: string[];
  constructors?: Map<string, LambdaList | undefined>;
}

const FUNCTIONS: readonly string[] = ['DEFUN', 'DEFMACRO', 'DEFGENERIC', 'DEFINE-COMPILER-MACRO', 'DEFTYPE'];
const CLASSES: readonly string[] = ['DEFCLASS', 'DEFINE-CONDITION'];

/** Returns what TEXT defines under FEATURES; undefined when it is no definition that can be read. */
export function definitionOf(text: string, features: ReadonlySet<string>): Definition | undefined {
  const elements = elementsOf(readForm(text, 0, features)) ?? [];
  const [first, second] = elements;
  const operator = bareName(first);
  const parts = elementsOf(second) ?? [];
  const setf = parts.length === 2 && bareName(parts[0]) === 'SETF';
  const name = bareName(setf ? parts[1] : parts.length > 0 ? parts[0] : second);
  if (name === '') return undefined;
  const base = { operator, name, setf };
  if (FUNCTIONS.includes(operator)) return withList(base, elements[2]);
  if (operator === 'DEFMETHOD') return withList(base, elements.slice(2).find(isList));
  if (CLASSES.includes(operator)) return { ...base, ...classParts(elements[3]) };
  return operator === 'DEFSTRUCT'
    ? { ...base, ...structureParts(name, parts.slice(1), elements.slice(2)) }
    : undefined;
}

function isList(form: Form): boolean {
  return elementsOf(form) !== undefined;
}

function withList(base: Definition, form: Form | undefined): Definition | undefined {
  const lambdaList = lambdaListOf(form);
  return lambdaList && { ...base, lambdaList };
}

function classParts(slots: Form | undefined): Partial<Definition> {
  const names: string[] = [];
  const accessors: string[] = [];
  for (const slot of elementsOf(slots) ?? []) {
    const parts = elementsOf(slot) ?? [slot];
    names.push(bareName(parts[0]));
    for (let i = 1; i < parts.length; i += 2) {
      const value = parts[i + 1];
      const writer = elementsOf(value)?.[1];
      if (bareName(parts[i]) === 'WRITER')
        accessors.push(writer ? `(SETF ${bareName(writer)})` : bareName(value));
      if (['ACCESSOR', 'READER'].includes(bareName(parts[i]))) accessors.push(bareName(value));
      if (bareName(parts[i]) === 'ACCESSOR') accessors.push(`(SETF ${bareName(value)})`);
    }
  }
  return { slots: names, accessors, constructors: new Map() };
}

function structureParts(name: string, options: readonly Form[], body: readonly Form[]): Partial<Definition> {
  const slots = body.map((slot) => bareName(elementsOf(slot)?.[0] ?? slot)).filter((slot) => slot !== '');
  const given = options.map((option) => elementsOf(option) ?? [option]);
  const option = (wanted: string) => given.find(([key]) => bareName(key) === wanted);
  const conc = option('CONC-NAME');
  const prefix = conc === undefined ? `${name}-` : nameOrNothing(conc[1]);
  const constructors = given.filter(([key]) => bareName(key) === 'CONSTRUCTOR');
  // What an included structure has is not known here, so its slots may be keywords, too.
  const plain: LambdaList = {
    required: 0,
    optional: 0,
    rest: false,
    keys: slots,
    otherKeys: option('INCLUDE') !== undefined,
  };
  const made =
    constructors.length === 0 ? [[undefined, undefined]] : constructors.map((each) => each.slice(1));
  return {
    slots,
    accessors: slots.map((slot) => prefix + slot),
    constructors: new Map(
      made.map(([called, list]) => [
        called ? bareName(called) : `MAKE-${name}`,
        list ? lambdaListOf(list) : plain,
      ]),
    ),
  };
}

function nameOrNothing(form: Form | undefined): string {
  const name = form ? bareName(form) : '';
  return name === 'NIL' ? '' : name;
}
