/** Decides where in a Lisp source file a form is that SBCL names by its offset and form number. */

import {
  elementsOf,
  type Features,
  type Form,
  firstToken,
  newReader,
  readTopLevel,
  resolve,
} from './form.ts';
import type { SourcePosition, SourceText } from './text.ts';
import { isUse, packageEntered, type Used, usesIn } from './uses.ts';

/** Where a use is: at one of STARTS. They are none when an expansion has made it, so that the text does not have it. */
export interface Spot {
  starts: readonly number[];
  /** Whether each of STARTS is a place of it, rather than one of them. */
  sure: boolean;
}

/** A top-level form: its text is from START to END. */
export interface TopLevelForm {
  form: Form;
  start: number;
  end: number;
}

/** The top-level forms of a text under FEATURES. They are read as far as somebody asks for one. The form that was asked
 *  for last is kept: many places are in one function. */
export class TopLevelForms {
  readonly source: SourceText;
  readonly #features: Features;
  readonly #reader: ReturnType<typeof newReader>;
  readonly #starts: number[] = [];
  /** The packages that IN-PACKAGE forms enter, and where those begin. */
  readonly #entered: { start: number; name: string }[] = [];
  #last: { index: number; found: TopLevelForm | undefined } | undefined;

  constructor(source: SourceText, features: Features) {
    this.source = source;
    this.#features = features;
    this.#reader = newReader(source.text, 0, features);
  }

  /** Gives where the Nth (0-based) form begins, or undefined when there is none. */
  start(n: number): number | undefined {
    while (this.#starts.length <= n) {
      const form = readTopLevel(this.#reader);
      if (form === undefined) break;
      const name = packageEntered(form, this.source.text);
      if (name !== undefined) this.#entered.push({ start: form.start, name });
      this.#starts.push(form.start);
    }
    return this.#starts[n];
  }

  /** Gives where each form begins. */
  starts(): readonly number[] {
    this.start(Number.POSITIVE_INFINITY);
    return this.#starts;
  }

  /** Gives the position of the sub-form with number FORM_NUMBER (see sb-di:form-number-translations) of the form at or
   *  after INDEX. Gives the place of the form itself when it has no such sub-form, undefined without a form. */
  position(index: number, formNumber: number): SourcePosition | undefined {
    const start = this.formStart(index, formNumber);
    return start === undefined ? undefined : this.source.positionAt(start);
  }

  /** Gives the index of what POSITION gives the place of. */
  formStart(index: number, formNumber: number): number | undefined {
    // Of a list nobody needs more than the place.
    const token = firstToken(newReader(this.source.text, index, this.#features));
    if (formNumber === 0 && token.kind === '(') return token.start;
    const form = this.at(index)?.form;
    return form && (numberedConses(form)[formNumber] ?? form).start;
  }

  /** Gives where the uses of USED are that have NUMBERS in the form at or after INDEX. SBCL gives number 0 to what an
   *  expansion has copied, and where `#.` made conses before, the numbers of the text are too low by an unknown count. */
  spots(index: number, numbers: readonly number[], used: Used): Spot[] {
    const { form } = this.at(index) ?? {};
    if (form === undefined) return [];
    const named = { ...used, current: this.#packageAt(form.start) };
    const conses = numberedConses(form);
    const exact = numbers.filter((number) => {
      const cons = conses[number];
      return cons !== undefined && !cons.uncertain && (number > 0 || isUse(form, named));
    });
    const known = new Set(exact.map((number) => conses[number]?.start));
    const spots: Spot[] = [...known].map((start = 0) => ({ starts: [start], sure: true }));
    const others = numbers.filter((number) => !exact.includes(number));
    if (others.length === 0) return spots;
    const uses = usesIn(form, named).filter((start) => !known.has(start));
    const moved = conses.filter((cons) => cons.uncertain && uses.includes(cons.start));
    const unnumbered = others.filter((number) => number === 0 || moved.length === 0);
    const shifted = others.filter((number) => !unnumbered.includes(number));
    if (unnumbered.length > 0) spots.push({ starts: uses, sure: uses.length <= 1 });
    if (shifted.length > 0) spots.push(movedSpot(shifted, moved));
    return spots;
  }

  /** Gives where the form at or after INDEX has uses of USED. */
  uses(index: number, used: Used): number[] {
    const { form } = this.at(index) ?? {};
    return form ? usesIn(form, { ...used, current: this.#packageAt(form.start) }) : [];
  }

  /** Tells whether they are the same under FEATURES. */
  holdUnder(features: Features): boolean {
    return this.#features.size === features.size && [...features].every((name) => this.#features.has(name));
  }

  /** Gives the form at or after INDEX. */
  at(index: number): TopLevelForm | undefined {
    if (this.#last?.index !== index) {
      const reader = newReader(this.source.text, index, this.#features);
      const form = readTopLevel(reader);
      this.#last = { index, found: form && { form, start: form.start, end: reader.at } };
    }
    return this.#last.found;
  }

  /** Gives the text of the form that begins at index START. */
  textAt(start: number): string {
    return this.source.text.slice(start, this.at(start)?.end);
  }

  /** Gives the current package of the form at index START, or undefined when no form of the text has entered one. */
  #packageAt(start: number): string | undefined {
    for (let n = 0, at = this.start(0); at !== undefined && at < start; at = this.start(n)) n++;
    return this.#entered.findLast((each) => each.start < start)?.name;
  }
}

/** A cons that has a number: where it begins. Whether it is UNCERTAIN that this is its number. */
interface Numbered {
  start: number;
  number: number;
  uncertain: boolean;
}

/** Returns where the uses are that have NUMBERS, of which all those in MOVED have too low ones. One count that brings
 *  each to a use is by how much they are. */
function movedSpot(numbers: readonly number[], moved: readonly Numbered[]): Spot {
  const below = moved.filter(({ number }) => numbers.some((wanted) => wanted >= number));
  const places = new Map(below.map(({ number, start }) => [number, start]));
  const [first = 0] = numbers;
  const shifts = [...places.keys()]
    .map((number) => first - number)
    .filter((shift) => shift >= 0 && numbers.every((number) => places.has(number - shift)));
  const fitting =
    shifts.length === 1 ? numbers.map((number) => places.get(number - (shifts[0] ?? 0)) ?? 0) : [];
  if (fitting.length > 0) return { starts: fitting, sure: true };
  const starts = [...places.values()];
  return { starts, sure: starts.length <= numbers.length };
}

/** Numbers conses as sb-di:form-number-translations does, as far as the text tells. */
function numberedConses(form: Form): Numbered[] {
  const numbered = new Map<Form, Numbered>();
  const pending = [form];
  let uncertain = false;
  for (let list = pending.pop(); list !== undefined; list = pending.pop()) {
    if (list.kind !== 'cons' || numbered.has(list)) continue;
    const { parts, made } = partsOf(list);
    numbered.set(list, { start: list.start, number: numbered.size, uncertain });
    uncertain ||= made;
    pending.push(...parts.reverse());
  }
  return [...numbered.values()];
}

/** Gives the conses in LIST that are looked into, and whether `#.` made something in it. */
function partsOf(list: Form): { parts: Form[]; made: boolean } {
  const elements = elementsOf(list).map((each) => (each.kind === 'comma' ? resolve(each.car) : each));
  const quote = elements.findIndex((each) => each?.name === 'QUOTE');
  const looked = elements.slice(0, quote === -1 ? undefined : quote);
  const parts = looked.flatMap((each) => (each?.kind === 'cons' ? each : []));
  return { parts, made: looked.some((each) => each?.kind === 'made') };
}
