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
import { type Kept, KeptForms, type Numbered, type TopLevelForm } from './kept-forms.ts';
import { bare } from './lexer.ts';
import type { SourcePosition, SourceText } from './text.ts';
import { isUse, packageEntered, type Used, useIn, usesIn } from './uses.ts';

/** Where a use is: at one of STARTS. They are none when an expansion has made it, so that the text does not have it. */
export interface Spot {
  starts: readonly number[];
  /** Whether each of STARTS is a place of it, rather than one of them. */
  sure: boolean;
}

/** The NAME of a function or macro, without its package, and the form number of a use. */
export interface NumberedName {
  name: string;
  number: number;
}

/** The top-level forms of a text under FEATURES. They are read as far as somebody asks for one. */
export class TopLevelForms {
  readonly source: SourceText;
  #features: Features;
  readonly #reader: ReturnType<typeof newReader>;
  readonly #starts: number[] = [];
  readonly #leads = new Map<number, number>();
  readonly #ends = new Map<number, number>();
  /** The packages that forms enter, and where those end: each is read before it counts. */
  readonly #entered: { end: number; name: string }[] = [];
  readonly #known = new Map<number, Kept>();
  readonly #kept: KeptForms;

  /** Takes a text, and what keeps its forms with those of others. */
  constructor(source: SourceText, features: Features, kept = new KeptForms()) {
    this.source = source;
    this.#features = features;
    this.#kept = kept;
    this.#reader = newReader(source.text, 0, features);
  }

  /** Gives where the Nth (0-based) form begins, or undefined when there is none. */
  start(n: number): number | undefined {
    while (this.#starts.length <= n) {
      const form = readTopLevel(this.#reader);
      if (form === undefined) break;
      const name = packageEntered(form, this.source.text);
      if (name !== undefined) this.#entered.push({ end: this.#reader.at, name });
      this.#ends.set(form.start, this.#reader.at);
      if (form.lead !== undefined) this.#leads.set(form.start, form.lead);
      this.#starts.push(form.start);
    }
    return this.#starts[n];
  }

  /** Gives where each form begins. */
  starts(): readonly number[] {
    this.start(Number.POSITIVE_INFINITY);
    return this.#starts;
  }

  /** Gives where the #+ or #- begins that stands before the form at index START, or START. */
  lead(start: number): number {
    return this.#leads.get(start) ?? start;
  }

  /** Gives where the form at index START ends. */
  end(start: number): number {
    return this.#ends.get(start) ?? start;
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
    const { form } = this.at(index) ?? {};
    return form && (this.#consesAt(index)[formNumber] ?? form).start;
  }

  /** Gives where the uses of USED are that have NUMBERS in the form at or after INDEX. SBCL gives number 0 to what an
   *  expansion has copied, and where `#.` made conses before, the numbers of the text are too low. What is TOLD
   *  of other names in the same function then tells by how much. */
  spots(index: number, numbers: readonly number[], used: Used, told: readonly NumberedName[] = []): Spot[] {
    const { form } = this.at(index) ?? {};
    if (form === undefined) return [];
    const named = { ...used, current: this.packageAt(form.start) };
    const conses = this.#consesAt(index);
    const size = madeSize(conses, told);
    const exact = new Map<number, Numbered>();
    let found: number[] | undefined;
    const names = () => {
      found ??= usesIn(form, named);
      return found;
    };
    const fits = ({ start, operator }: Numbered, number: number) =>
      names().includes(start) || told.some((each) => each.number === number && bare(operator) === each.name);
    for (const number of numbers) {
      const cons = number === 0 && !isUse(form, named) ? undefined : consOf(conses, number, size, fits);
      if (cons !== undefined) exact.set(number, cons);
    }
    const known = new Set([...exact.values()].map(({ start }) => start));
    const spots: Spot[] = [...new Set(exact.values())].map(({ list, start }) => {
      // What an expansion has copied has the number of the macro call around it.
      const [inside, ...more] =
        useIn(list, named) === undefined ? usesIn(list, named).filter((each) => !known.has(each)) : [];
      return { starts: [inside === undefined || more.length > 0 ? start : inside], sure: true };
    });
    const others = numbers.filter((number) => !exact.has(number));
    // What #. computes can be code that has the use itself.
    const computed = conses.some((cons) => cons.computed) && others.some((number) => number > 0);
    if (others.length > 0) spots.push(among(names(), known, computed ? 0 : others.length));
    return spots;
  }

  /** Gives where the form at or after INDEX has uses of USED. */
  uses(index: number, used: Used): number[] {
    const { form } = this.at(index) ?? {};
    return form ? usesIn(form, { ...used, current: this.packageAt(form.start) }) : [];
  }

  /** Tells whether they are the same under FEATURES. */
  holdUnder(features: Features): boolean {
    if (this.#features === features) return true;
    const same =
      this.#features.size === features.size && [...features].every((name) => this.#features.has(name));
    if (same) this.#features = features;
    return same;
  }

  /** Gives the form at or after INDEX. */
  at(index: number): TopLevelForm | undefined {
    return this.#readAt(index).found;
  }

  #consesAt(index: number): readonly Numbered[] {
    const kept = this.#readAt(index);
    kept.conses ??= kept.found ? numberedConses(kept.found.form) : [];
    return kept.conses;
  }

  #readAt(index: number): Kept {
    let kept = this.#known.get(index);
    if (kept === undefined) {
      const reader = newReader(this.source.text, index, this.#features);
      const form = readTopLevel(reader);
      const found = form && { form, start: form.start, end: reader.at };
      kept = { found, forget: () => this.#known.delete(index) };
      this.#known.set(index, kept);
    }
    this.#kept.use(kept);
    return kept;
  }

  /** Gives the text of the form that begins at index START. */
  textAt(start: number): string {
    return this.source.text.slice(start, this.at(start)?.end);
  }

  /** Gives the current package at INDEX, or undefined when no form of the text has entered one. */
  packageAt(index: number): string | undefined {
    while ((this.#starts.at(-1) ?? -1) < index && this.start(this.#starts.length) !== undefined);
    return this.#entered.findLast(({ end }) => end <= index)?.name;
  }
}

/** Returns the cons with NUMBER, or undefined when the text does not tell. A cons behind one that `#.` MADE must be
 *  what FITS tells, unless it is sure how much that was. */
function consOf(
  conses: readonly Numbered[],
  number: number,
  sized: Made | undefined,
  fits: (cons: Numbered, number: number) => boolean,
): Numbered | undefined {
  const plain = conses[number];
  if (plain?.made === 0) return plain;
  if (sized === undefined) return undefined;
  const moved = conses.find(({ made }, low) => made > 0 && low + made * sized.size === number);
  return moved && (sized.sure || fits(moved, number)) ? moved : undefined;
}

/** How many conses each `#.` has made, and whether that is SURE. */
interface Made {
  size: number;
  sure: boolean;
}

/** Returns how many conses each `#.` has made: what makes most of TOLD fit the operators in CONSES. Returns undefined when
 *  nothing does, or several numbers do as well. */
function madeSize(conses: readonly Numbered[], told: readonly NumberedName[]): Made | undefined {
  const fits = new Map<number, number>();
  if (conses.every(({ made }) => made === 0)) return undefined;
  for (const { name, number } of told) {
    for (const [low, { operator, made }] of conses.entries()) {
      const size = (number - low) / made;
      const fitting = made > 0 && size >= 0 && Number.isInteger(size);
      const same = fitting && bare(operator) === name;
      if (same) fits.set(size, (fits.get(size) ?? 0) + 1);
    }
  }
  const [best, next] = [...fits].sort(([, one], [, other]) => other - one);
  if (best === undefined || best[1] <= (next?.[1] ?? 0)) return undefined;
  return { size: best[0], sure: best[1] >= 3 && best[1] >= 2 * (next?.[1] ?? 0) };
}

/** Returns the spot of COUNT uses that can be at STARTS, but not where those are that are KNOWN. COUNT is 0 when they can
 *  also be elsewhere. */
function among(starts: readonly number[], known: ReadonlySet<number>, count: number): Spot {
  const left = starts.filter((start) => !known.has(start));
  const sure = left.length <= count;
  return { starts: sure || left.length > 1 ? left : [], sure };
}

/** Numbers conses as sb-di:form-number-translations does, as far as the text tells. */
function numberedConses(form: Form): Numbered[] {
  const numbered = new Map<Form, Numbered>();
  const pending = [form];
  const values = new Set<string>();
  let before = 0;
  for (let list = pending.pop(); list !== undefined; list = pending.pop()) {
    if (list.kind !== 'cons' || numbered.has(list)) continue;
    const { parts, made } = partsOf(list);
    numbered.set(list, {
      list,
      start: list.start,
      operator: resolve(list.car)?.name ?? '',
      made: before,
      computed: made.includes(''),
    });
    for (const name of made) {
      // The value of a variable is the same conses each time, and these get numbers once.
      if (name === '' || !values.has(name)) before++;
      values.add(name);
    }
    pending.push(...parts.reverse());
  }
  return [...numbered.values()];
}

/** Gives the conses in LIST that are looked into, and of which names `#.` put values into it. */
function partsOf(list: Form): { parts: Form[]; made: string[] } {
  const elements = elementsOf(list).map((each) => (each.kind === 'comma' ? resolve(each.car) : each));
  const quote = elements.findIndex((each) => each?.name === 'QUOTE');
  const looked = elements.slice(0, quote === -1 ? undefined : quote);
  const parts = looked.flatMap((each) => (each?.kind === 'cons' ? each : []));
  return { parts, made: looked.flatMap((each) => (each?.kind === 'made' ? (each.name ?? '') : [])) };
}
