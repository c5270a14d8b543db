/** Decides which cons of a text SBCL means by the number of a form, and whether the text tells that at all. */

import { elementsOf, type Form, resolve } from './form.ts';
import type { Numbered } from './kept-forms.ts';
import { bare, isOdd } from './lexer.ts';

/** The NAME of a function or macro, without its package, and the form number of a use. */
export interface NumberedName {
  name: string;
  number: number;
}

/** With as many names in all, some can be left out: of what is asked about, and of the call of a frame. */
const MOST_TOLD = 20;
const MOST_OF_FRAME = 60;

/** What defines functions or macros for its body. */
const LOCAL: ReadonlySet<string> = new Set(['FLET', 'LABELS', 'MACROLET']);

/** Returns the names that LIST, an FLET or its like, defines. */
function definedIn(list: Form): string[] {
  return elementsOf(elementsOf(list)[1]).map((definition) => bare(elementsOf(definition)[0]?.name ?? ''));
}

/** Finds the conses that SBCL means by form numbers in the TEXT of one form. What is TOLD of the ASKED and other names in the same
 *  function holds the numbers of the text against those of SBCL. A reader macro can make conses that the text does not
 *  show, or leave out some that it has. Then all numbers behind it are others. */
export class Numbering {
  readonly #conses: readonly Numbered[];
  readonly #text: string;
  readonly #told = new Map<number, string[]>();
  /** Operators somewhere where SBCL has not told of them. */
  readonly #untold: ReadonlySet<string>;
  /** What FLET and its like name in the form: of these SBCL tells nothing, only of what they expand into. */
  readonly #local: ReadonlySet<string>;
  readonly #size: Made | undefined;
  /** Of which name alone all uses are told, when some of others can be left out. */
  readonly #known: string | undefined;
  #odd: boolean | undefined;

  constructor(conses: readonly Numbered[], told: readonly NumberedName[], text: string, asked?: string) {
    this.#known = told.length < (asked === undefined ? MOST_OF_FRAME : MOST_TOLD) ? undefined : asked;
    this.#conses = conses;
    this.#text = text;
    for (const { name, number } of told) this.#told.set(number, [...(this.#told.get(number) ?? []), name]);
    const untold = conses.filter((cons, number) => !cons.template && !this.#isTold(cons, number));
    this.#untold = new Set(untold.map(({ operator }) => bare(operator)));
    this.#local = new Set(
      conses.flatMap(({ list, operator }) => (LOCAL.has(operator) ? definedIn(list) : [])),
    );
    this.#size = madeSize(conses, told);
  }

  /** Returns the cons with NUMBER, or undefined when the text does not tell. USES says whether a cons is a use of what is
   *  asked about, by default of what SBCL tells there. */
  cons(
    number: number,
    uses: (cons: Numbered) => boolean = (cons) => this.#isTold(cons, number),
  ): Numbered | undefined {
    const plain = this.#conses[number];
    if (plain?.made === 0) return uses(plain) || this.#holds(plain, number) ? plain : undefined;
    const size = this.#size;
    if (size === undefined) return undefined;
    const moved = this.#conses.find(({ made }, low) => made > 0 && low + made * size.size === number);
    return moved && (size.sure || uses(moved) || this.#isTold(moved, number)) ? moved : undefined;
  }

  /** Tells whether SBCL has told of a use with NUMBER of what is the operator of CONS. */
  #isTold({ operator }: Numbered, number: number): boolean {
    return this.#told.get(number)?.includes(bare(operator)) ?? false;
  }

  /** Tells whether CONS, which does not use what is asked about, is the one to which SBCL gives NUMBER. What is behind it
   *  fits only when nothing before it was read otherwise, or what was made is as much as what was left out. */
  #holds(cons: Numbered, number: number): boolean {
    this.#odd ??= isOdd(this.#text);
    if (this.#odd) return false;
    if (this.#isTold(cons, number) || this.#local.has(bare(cons.operator))) return true;
    const behind = this.#evidence((each) => each >= number);
    if (behind.fitting > behind.moved) return true;
    const before = this.#evidence((each) => each < number);
    return behind.moved === 0 && before.moved <= before.fitting;
  }

  /** Tells whether NAME, which is told, is an operator where it is not told. */
  #isMoved(name: string): boolean {
    return this.#untold.has(name) && (this.#known === undefined || name === this.#known);
  }

  /** Counts the numbers for which COUNTS holds: where a name that is told is the operator, and where that is
   *  one elsewhere instead. */
  #evidence(counts: (number: number) => boolean): { fitting: number; moved: number } {
    let [fitting, moved] = [0, 0];
    for (const [number, names] of this.#told) {
      const cons = this.#conses[number];
      if (number === 0 || !counts(number)) continue;
      if (cons?.made === 0 && this.#isTold(cons, number)) fitting++;
      else if (
        !cons?.made &&
        !this.#local.has(bare(cons?.operator ?? '')) &&
        names.some((name) => this.#isMoved(name))
      )
        moved++;
    }
    return { fitting, moved };
  }
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

/** Numbers conses as sb-di:form-number-translations does, as far as the text tells. */
export function numberedConses(form: Form): Numbered[] {
  const numbered = new Map<Form, Numbered>();
  const pending = [form];
  const values = new Set<string>();
  const templates = new Set<Form>();
  let before = 0;
  for (let list = pending.pop(); list !== undefined; list = pending.pop()) {
    if (list.kind !== 'cons' || numbered.has(list)) continue;
    const { parts, made } = partsOf(list);
    if (list.template || templates.has(list)) for (const part of parts) templates.add(part);
    numbered.set(list, {
      list,
      start: list.start,
      operator: resolve(list.car)?.name ?? '',
      made: before,
      template: templates.has(list),
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
