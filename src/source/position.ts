/** Locates the top-level forms of a Lisp source file, and the lists in them that use a name. */

import { packageAtStart, packageEntered, USUAL_PACKAGE } from './current-package.ts';
import { type Features, type Form, Reading, readForm, within } from './form.ts';
import { lastUpTo, type SourceText } from './text.ts';
import { treeOf } from './tree.ts';
import { isUse, type Used, useIn, usesIn } from './uses.ts';

/** The place of one use of a name. STARTS are the possible offsets of the use in the text. They are empty when a macro
 *  expansion made the use, so that the text does not contain it. */
export interface Spot {
  starts: readonly number[];
  /** True when each of STARTS is a place of a use; false when only some of them are, and it is not known which. */
  sure: boolean;
  /** The use is somewhere in the form; its place is unknown. */
  inside?: boolean;
}

/** The known uses of a name in a form. AT: start offsets of the lists with a use. WHOLE: the macro expansion of the
 *  form itself contains one. INSIDE: number of uses at unknown places in the form. */
export interface KnownUses {
  at: readonly number[];
  whole: boolean;
  inside: number;
}

/** How many tokens, and how many forms, `readAhead` reads between two pauses. */
const TOKENS = 2000;
const FORMS = 50;

/** The top-level forms of a text under FEATURES. Reads only as far as a caller asks. */
export class TopLevelForms {
  readonly source: SourceText;
  #features: Features;
  /** The number of the token behind the last form read. */
  #at = 0;
  readonly #starts: number[] = [];
  readonly #leads = new Map<number, number>();
  readonly #ends = new Map<number, number>();
  /** NAMES are the packages that IN-PACKAGE forms make current, ENDS the ends of these forms: a package is current from
   *  the end of its form on. The first entry is the package at the start of the text. */
  readonly #entered: { ends: number[]; names: (string | undefined)[] };

  constructor(source: SourceText, features: Features) {
    this.source = source;
    this.#features = features;
    this.#entered = { ends: [0], names: [packageAtStart(source.file)] };
  }

  /** Returns the offset of the Nth form (0-based), or undefined past the last. */
  start(n: number): number | undefined {
    if (this.#starts.length > n) return this.#starts[n];
    const reading = this.#reading();
    while (this.#starts.length <= n) {
      const form = reading.form(this.#at);
      if (form === undefined) break;
      this.#at = form.behind;
      const name = packageEntered(form);
      if (name !== undefined) {
        this.#entered.ends.push(form.end);
        this.#entered.names.push(name);
      }
      this.#ends.set(form.start, form.end);
      if (form.lead !== undefined) this.#leads.set(form.start, form.lead);
      this.#starts.push(form.start);
    }
    return this.#starts[n];
  }

  /** Finds the start of each form. Awaits TURN now and then, since a text can have many, and a form can be long. */
  async readAhead(turn: () => Promise<void>): Promise<void> {
    const { tree } = this.#reading();
    while (tree.read(TOKENS)) await turn();
    for (let n = 0; this.start(n) !== undefined; n += FORMS) await turn();
  }

  /** A reading is not kept: the trees of texts that were not asked for lately go. */
  #reading(): Reading {
    return new Reading(treeOf(this.source.text), this.#features);
  }

  /** Returns the offsets of all forms. */
  starts(): readonly number[] {
    this.start(Number.POSITIVE_INFINITY);
    return this.#starts;
  }

  /** Returns the offset of the #+ or #- before the form at index START, or START without one. */
  lead(start: number): number {
    return this.#leads.get(start) ?? start;
  }

  /** Returns the end of the form at index START. */
  end(start: number): number {
    return this.#ends.get(start) ?? start;
  }

  /** Returns the start of the form at or after INDEX; undefined when there is none. */
  formStart(index: number): number | undefined {
    return this.at(index)?.start;
  }

  /** Returns where in the text of the form at or after INDEX the KNOWN uses of USED are; [] without such a form. */
  spots(index: number, { at, whole, inside }: KnownUses, used: Used): Spot[] {
    const form = this.at(index);
    if (form === undefined) return [];
    const named = { ...used, current: this.packageAt(form.start) };
    const exact = new Set(whole && isUse(form, named) ? [form.start, ...at] : at);
    const lists = listsAt(form, exact);
    const spots: Spot[] = [...exact].map((start) => {
      const list = lists.get(start);
      if (list === undefined || useIn(list, named, list === form) !== undefined)
        return { starts: [start], sure: true };
      // Code that a macro call only copied was recorded with the place of that call. The use is deeper in that list,
      // and its place is known if the list has only one.
      const [only = start, ...more] = usesIn(list, named).filter((each) => !exact.has(each));
      return { starts: [more.length > 0 ? start : only], sure: true };
    });
    if (whole && !exact.has(form.start)) spots.push(theOne(usesIn(form, named), exact));
    return inside > 0 ? [...spots, { starts: [], sure: false, inside: true }] : spots;
  }

  /** Returns the offsets of the uses of USED in the form at or after INDEX. */
  uses(index: number, used: Used): number[] {
    const form = this.at(index);
    return form ? usesIn(form, { ...used, current: this.packageAt(form.start) }) : [];
  }

  /** The features under which the text is read. */
  get features(): Features {
    return this.#features;
  }

  /** True when FEATURES has the same names as the features under which the text is read: then what was read stays
   *  valid. */
  holdUnder(features: Features): boolean {
    if (this.#features === features) return true;
    const same =
      this.#features.size === features.size && [...features].every((name) => this.#features.has(name));
    if (same) this.#features = features;
    return same;
  }

  /** Returns the form at or after INDEX. */
  at(index: number): Form | undefined {
    return readForm(this.source.text, index, this.#features);
  }

  /** Returns the text of the form that begins at index START. */
  textAt(start: number): string {
    return this.source.text.slice(start, this.#ends.get(start) ?? this.at(start)?.end);
  }

  /** Returns the current package at INDEX, or the most likely one when unsure. */
  homeAt(index: number): string {
    return this.packageAt(index) ?? USUAL_PACKAGE;
  }

  /** Returns the current package at INDEX; undefined when unsure, because no form before INDEX has entered one. */
  packageAt(index: number): string | undefined {
    while ((this.#starts.at(-1) ?? -1) < index && this.start(this.#starts.length) !== undefined);
    return this.#entered.names[lastUpTo(this.#entered.ends, index)];
  }
}

/** Returns the spot of one use. It is at one of STARTS, but not at those in KNOWN, which are the places of other
 *  uses. */
function theOne(starts: readonly number[], known: ReadonlySet<number>): Spot {
  const left = starts.filter((start) => !known.has(start));
  return { starts: left, sure: left.length <= 1 };
}

/** Returns the lists in FORM that begin at STARTS, by start. When several begin at the same index, returns the
 *  outermost. */
function listsAt(form: Form, starts: ReadonlySet<number>): ReadonlyMap<number, Form> {
  const found = new Map<number, Form>();
  for (const list of within(form))
    if (list.kind === 'cons' && starts.has(list.start) && !found.has(list.start)) found.set(list.start, list);
  return found;
}
