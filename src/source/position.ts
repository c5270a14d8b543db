/** Decides where the top-level forms of a Lisp source file are, and which lists in them use a name. */

import { packageAtStart, packageEntered, USUAL_PACKAGE } from './current-package.ts';
import {
  elementsOf,
  type Features,
  type Form,
  firstToken,
  newReader,
  readTopLevel,
  resolve,
} from './form.ts';
import { type Kept, KeptForms, type TopLevelForm } from './kept-forms.ts';
import { lastUpTo, type SourceText } from './text.ts';
import { isUse, type Used, useIn, usesIn } from './uses.ts';

/** Where a use is: at one of STARTS. They are none when an expansion has made it, so that the text does not have it. */
export interface Spot {
  starts: readonly number[];
  /** Whether each of STARTS is a place of it, rather than one of them. */
  sure: boolean;
  /** Whether it is in the form, and nothing else is known. */
  inside?: boolean;
}

/** What is known of uses in a form: the indices of lists that have them, whether the form as a WHOLE has one in its expansion, and
 *  how many are INSIDE it at places that are not known. */
export interface KnownUses {
  at: readonly number[];
  whole: boolean;
  inside: number;
}

/** Forms that are read in a row. */
const FORMS = 50;

/** The top-level forms of a text under FEATURES. They are read as far as somebody asks for one. */
export class TopLevelForms {
  readonly source: SourceText;
  #features: Features;
  readonly #reader: ReturnType<typeof newReader>;
  readonly #starts: number[] = [];
  readonly #leads = new Map<number, number>();
  readonly #ends = new Map<number, number>();
  /** The packages that forms enter, and where those end: each is read before it counts. */
  readonly #entered: { ends: number[]; names: (string | undefined)[] };
  readonly #known = new Map<number, Kept>();
  readonly #kept: KeptForms;

  /** Takes a text, and what keeps its forms with those of others. */
  constructor(source: SourceText, features: Features, kept = new KeptForms()) {
    this.source = source;
    this.#features = features;
    this.#kept = kept;
    this.#reader = newReader(source.text, 0, features);
    this.#entered = { ends: [0], names: [packageAtStart(source.file)] };
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

  /** Finds where each form begins, and waits for TURN between some of them: there can be many. */
  async readAhead(turn: () => Promise<void>): Promise<void> {
    for (let n = 0; this.start(n) !== undefined; n += FORMS) await turn();
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

  /** Gives where the form at or after INDEX begins; undefined when there is none. */
  formStart(index: number): number | undefined {
    // Of a list nobody needs more than the place.
    const token = firstToken(newReader(this.source.text, index, this.#features));
    return token.kind === '(' ? token.start : this.at(index)?.start;
  }

  /** Gives where the uses of USED are that are KNOWN in the form at or after INDEX. */
  spots(index: number, { at, whole, inside }: KnownUses, used: Used): Spot[] {
    const { form } = this.at(index) ?? {};
    if (form === undefined) return [];
    const named = { ...used, current: this.packageAt(form.start) };
    const exact = new Set(whole && isUse(form, named) ? [form.start, ...at] : at);
    const lists = listsAt(form, exact);
    const spots: Spot[] = [...exact].map((start) => {
      const list = lists.get(start);
      if (list === undefined || useIn(list, named, list === form) !== undefined)
        return { starts: [start], sure: true };
      // What an expansion has copied has the place of the macro call around it.
      const [only = start, ...more] = usesIn(list, named).filter((each) => !exact.has(each));
      return { starts: [more.length > 0 ? start : only], sure: true };
    });
    if (whole && !exact.has(form.start)) spots.push(theOne(usesIn(form, named), exact));
    return inside > 0 ? [...spots, { starts: [], sure: false, inside: true }] : spots;
  }

  /** Gives where the form at or after INDEX has uses of USED. */
  uses(index: number, used: Used): number[] {
    const { form } = this.at(index) ?? {};
    return form ? usesIn(form, { ...used, current: this.packageAt(form.start) }) : [];
  }

  /** The features under which it is read. */
  get features(): Features {
    return this.#features;
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

  /** Gives the current package at INDEX, or the most likely one when that is not sure. */
  homeAt(index: number): string {
    return this.packageAt(index) ?? USUAL_PACKAGE;
  }

  /** Gives the current package at INDEX, or undefined when that is not sure: no form of the text has entered one. */
  packageAt(index: number): string | undefined {
    while ((this.#starts.at(-1) ?? -1) < index && this.start(this.#starts.length) !== undefined);
    return this.#entered.names[lastUpTo(this.#entered.ends, index)];
  }
}

/** Returns the spot of one use that can be at STARTS, but not where those are that are KNOWN. */
function theOne(starts: readonly number[], known: ReadonlySet<number>): Spot {
  const left = starts.filter((start) => !known.has(start));
  return { starts: left, sure: left.length <= 1 };
}

/** Returns the lists of FORM that begin at STARTS, the outermost of each. */
function listsAt(form: Form, starts: ReadonlySet<number>): ReadonlyMap<number, Form> {
  const found = new Map<number, Form>();
  const seen = new Set<Form>();
  const visit = (part: Form | undefined): void => {
    const list = resolve(part);
    if (list === undefined || seen.has(list)) return;
    seen.add(list);
    if (list.kind === 'comma' || list.kind === 'made') visit(list.car);
    if (list.kind !== 'cons') return;
    if (starts.has(list.start) && !found.has(list.start)) found.set(list.start, list);
    elementsOf(list).forEach(visit);
  };
  visit(form);
  return found;
}
