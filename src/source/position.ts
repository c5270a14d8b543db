/** Decides where in a Lisp source file a form is that SBCL names by its offset and form number. */

import { type Features, firstToken, newReader, readTopLevel } from './form.ts';
import { type Kept, KeptForms, type Numbered, type TopLevelForm } from './kept-forms.ts';
import { type NumberedName, Numbering, numberedConses } from './numbering.ts';
import { lastUpTo, type SourcePosition, type SourceText } from './text.ts';
import { isUse, packageEntered, type Used, useIn, usesIn } from './uses.ts';

/** Where a use is: at one of STARTS. They are none when an expansion has made it, so that the text does not have it. */
export interface Spot {
  starts: readonly number[];
  /** Whether each of STARTS is a place of it, rather than one of them. */
  sure: boolean;
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
  readonly #entered: { ends: number[]; names: (string | undefined)[] } = { ends: [0], names: [undefined] };
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
      if (name !== undefined) {
        this.#entered.ends.push(this.#reader.at);
        this.#entered.names.push(name);
      }
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

  /** Tells whether what stands behind the form at or after INDEX is the form at or after NEXT. */
  endsBefore(index: number, next: number): boolean {
    const tokenAt = (from: number) => firstToken(newReader(this.source.text, from, this.#features)).start;
    return tokenAt(this.at(index)?.end ?? index) === tokenAt(next);
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

  /** Gives where the form with FORM_NUMBER in the form at or after INDEX begins. What is TOLD of names in the same function
   *  tells whether the text counts as SBCL does. Gives undefined when it does not. */
  numbered(index: number, formNumber: number, told: () => readonly NumberedName[]): number | undefined {
    const { start } = this.at(index) ?? {};
    if (start === undefined) return undefined;
    return new Numbering(this.#consesAt(index), told, this.textAt(start)).cons(formNumber)?.start;
  }

  /** Gives where the uses of USED are that have NUMBERS in the form at or after INDEX. SBCL gives number 0 to what an
   *  expansion has copied. What is TOLD of other names in the same function tells whether the text counts as SBCL does. */
  spots(
    index: number,
    numbers: readonly number[],
    used: Used,
    told: () => readonly NumberedName[] = () => [],
  ): Spot[] {
    const top = this.at(index);
    if (top === undefined) return [];
    const { form } = top;
    const named = { ...used, current: this.packageAt(form.start) };
    const conses = this.#consesAt(index);
    const numbering = new Numbering(conses, told, this.textAt(form.start), used.name);
    const exact = new Map<number, Numbered>();
    let found: number[] | undefined;
    const names = () => {
      found ??= usesIn(form, named);
      return found;
    };
    const uses = ({ list }: Numbered) => useIn(list, named, list === form) !== undefined;
    for (const number of numbers) {
      const cons = number === 0 && !isUse(form, named) ? undefined : numbering.cons(number, uses);
      if (cons !== undefined) exact.set(number, cons);
    }
    const known = new Set([...exact.values()].map(({ start }) => start));
    const others = numbers.filter((number) => !exact.has(number));
    const spots: Spot[] = [...new Set(exact.values())].map(({ list, start }) => {
      // What an expansion has copied has the number of the macro call around it.
      const [inside, ...more] =
        useIn(list, named) === undefined ? usesIn(list, named).filter((each) => !known.has(each)) : [];
      return { starts: [inside === undefined || more.length > 0 ? start : inside], sure: true };
    });
    if (others.length === 0) return spots;
    // What #. computes can be code that has the use itself. A template can have made each use, or none.
    const inTemplates = new Set(conses.flatMap(({ template, start }) => (template ? start : [])));
    const isMade = conses.some((cons) => cons.computed) || names().some((start) => inTemplates.has(start));
    const computed = others.some((number) => number > 0) && isMade;
    return [...spots, among(names(), known, computed ? 0 : others.length)];
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
    kept.conses ??= kept.found ? numberedConses(kept.found.form, this.#features) : [];
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
    return this.#entered.names[lastUpTo(this.#entered.ends, index)];
  }
}

/** Returns the spot of COUNT uses that can be at STARTS, but not where those are that are KNOWN. COUNT is 0 when they can
 *  also be elsewhere. */
function among(starts: readonly number[], known: ReadonlySet<number>, count: number): Spot {
  const left = starts.filter((start) => !known.has(start));
  const sure = left.length <= count;
  return { starts: sure || left.length > 1 ? left : [], sure };
}
