// Decides which cons of a text SBCL means by the number of a form, and whether the text tells that at all.

import { elementsOf, type Features, type Form, resolve } from './form.ts';
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
  readonly #asked: string | undefined;
  readonly #tell: () => readonly NumberedName[];
  // Most numbers are those of uses in the text, and then nobody asks for these.
  #names: readonly NumberedName[] | undefined;
  #told: ReadonlyMap<number, readonly string[]> | undefined;
  #untold: ReadonlySet<string> | undefined;
  #local: ReadonlySet<string> | undefined;
  #offsets: ReadonlyMap<number, Offset> | undefined;
  #odd: boolean | undefined;

  constructor(
    conses: readonly Numbered[],
    told: () => readonly NumberedName[],
    text: string,
    asked?: string,
  ) {
    this.#conses = conses;
    this.#tell = told;
    this.#text = text;
    this.#asked = asked;
  }

  /** Returns the cons with NUMBER, or undefined when the text does not tell. USES says whether a cons is a use of what is
   *  asked about, by default of what SBCL tells there. */
  cons(
    number: number,
    uses: (cons: Numbered) => boolean = (cons) => this.#isTold(cons, number),
  ): Numbered | undefined {
    const plain = this.#conses[number];
    if (plain?.made === 0) return uses(plain) || this.#holds(plain, number) ? plain : undefined;
    this.#offsets ??= offsetsOf(this.#conses, this.#allTold());
    for (const [low, cons] of this.#conses.entries()) {
      if (cons.made === 0) continue;
      const { offset, sure } = this.#offsets.get(cons.made) ?? {};
      if (offset === undefined || low + offset !== number) continue;
      return sure || uses(cons) || this.#isTold(cons, number) ? cons : undefined;
    }
    return undefined;
  }

  #allTold(): readonly NumberedName[] {
    this.#names ??= this.#tell();
    return this.#names;
  }

  /** Returns the names that are told, by their numbers. */
  #toldBy(): ReadonlyMap<number, readonly string[]> {
    if (this.#told !== undefined) return this.#told;
    const told = new Map<number, string[]>();
    for (const { name, number } of this.#allTold()) told.set(number, [...(told.get(number) ?? []), name]);
    this.#told = told;
    return told;
  }

  /** Tells whether SBCL has told of a use with NUMBER of what is the operator of CONS. */
  #isTold({ operator }: Numbered, number: number): boolean {
    return this.#toldBy().get(number)?.includes(bare(operator)) ?? false;
  }

  /** Tells whether CONS, which does not use what is asked about, is the one to which SBCL gives NUMBER. What is behind it
   *  fits only when nothing before it was read otherwise, or what was made is as much as what was left out. */
  #holds(cons: Numbered, number: number): boolean {
    this.#odd ??= isOdd(this.#text);
    if (this.#odd) return false;
    if (this.#isTold(cons, number) || this.#isLocal(bare(cons.operator))) return true;
    const behind = this.#evidence((each) => each >= number);
    if (behind.fitting > behind.moved) return true;
    const before = this.#evidence((each) => each < number);
    return behind.moved === 0 && before.moved <= before.fitting;
  }

  /** Tells whether NAME, which is told, is an operator where it is not told. */
  #isMoved(name: string): boolean {
    this.#untold ??= new Set(
      this.#conses
        .filter((cons, number) => !cons.template && !this.#isTold(cons, number))
        .map(({ operator }) => bare(operator)),
    );
    // Only of what is asked about are all uses told when some of others can be left out.
    const most = this.#asked === undefined ? MOST_OF_FRAME : MOST_TOLD;
    const all = this.#allTold().length < most || this.#asked === undefined;
    return this.#untold.has(name) && (all || name === this.#asked);
  }

  /** Tells whether FLET or its like names NAME in the form: of that SBCL tells nothing, only of what it expands into. */
  #isLocal(name: string): boolean {
    this.#local ??= new Set(
      this.#conses.flatMap(({ list, operator }) => (LOCAL.has(operator) ? definedIn(list) : [])),
    );
    return this.#local.has(name);
  }

  /** Counts the numbers for which COUNTS holds: where a name that is told is the operator, and where that is
   *  one elsewhere instead. */
  #evidence(counts: (number: number) => boolean): { fitting: number; moved: number } {
    let [fitting, moved] = [0, 0];
    for (const [number, names] of this.#toldBy()) {
      const cons = this.#conses[number];
      if (number === 0 || !counts(number)) continue;
      if (cons?.made === 0 && this.#isTold(cons, number)) fitting++;
      else if (
        !cons?.made &&
        !this.#isLocal(bare(cons?.operator ?? '')) &&
        names.some((name) => this.#isMoved(name))
      )
        moved++;
    }
    return { fitting, moved };
  }
}

/** By how much numbers are more than the text counts, and whether that is SURE. */
interface Offset {
  offset: number;
  sure: boolean;
}

/** Returns by how much the numbers of CONSES are more behind so many `#.`, as far as TOLD fits the operators there. Each can
 *  have made another number of conses. Where it has made code, names told in that fit the text by chance too. */
function offsetsOf(conses: readonly Numbered[], told: readonly NumberedName[]): Map<number, Offset> {
  const offsets = new Map<number, Offset>();
  const { behind, sizes } = tallied(conses, told);
  const isCode = conses.some(({ computed }) => computed);
  const uses = new Set(told.map(({ name, number }) => `${number} ${name}`));
  // Code that is made can look like what stands behind it. Then other names fall on that too.
  const isChance = (made: number, offset = 0) =>
    isCode &&
    told.some(({ number }) => {
      const cons = conses[number - offset];
      return cons?.made === made && !uses.has(`${number} ${bare(cons.operator)}`);
    });
  let lower = 0;
  for (const [made, tally] of behind.entries()) {
    // What lies between places with the same offset has that too.
    const sure = tally.sure && !isChance(made, tally.best);
    const upper = behind.find(
      (each, later) => later > made && each.sure && !isChance(later, each.best),
    )?.best;
    if (sure || upper === lower) {
      lower = Math.max(lower, sure ? (tally.best ?? 0) : lower);
      offsets.set(made, { offset: lower, sure: true });
    } else if (sizes.best !== undefined) {
      const offset = made * sizes.best;
      const fits = tally.size === 0 || tally.best === offset;
      // The names of one call can fit another call as well.
      if (!isCode || (fits && tally.count(offset) > 1))
        offsets.set(made, { offset, sure: sizes.sure && fits && !isCode });
    }
  }
  return offsets;
}

/** Returns by how much numbers of TOLD are more than those of CONSES with the same name, BEHIND each number of `#.`. The
 *  SIZES say it for the case that each of these has made as many conses. */
function tallied(conses: readonly Numbered[], told: readonly NumberedName[]) {
  const last = conses.reduce((most, { made }) => Math.max(most, made), 0);
  const behind = Array.from({ length: last + 1 }, () => new Tally());
  const sizes = new Tally();
  for (const { name, number } of told) {
    for (const [low, { operator, made }] of conses.entries()) {
      if (made === 0 || number < low || bare(operator) !== name) continue;
      behind[made]?.add(number - low);
      if ((number - low) % made === 0) sizes.add((number - low) / made);
    }
  }
  return { behind, sizes };
}

/** Counts how often each number is met. */
class Tally {
  readonly #counts = new Map<number, number>();

  add(number: number): void {
    this.#counts.set(number, this.count(number) + 1);
  }

  count(number: number): number {
    return this.#counts.get(number) ?? 0;
  }

  get size(): number {
    return this.#counts.size;
  }

  /** The number that was met most often; undefined when several were. */
  get best(): number | undefined {
    const [best, next] = this.#ordered();
    return best !== undefined && best[1] > (next?.[1] ?? 0) ? best[0] : undefined;
  }

  /** Whether no other can have been meant. */
  get sure(): boolean {
    const [best, next] = this.#ordered();
    return best !== undefined && best[1] >= 3 && best[1] >= 2 * (next?.[1] ?? 0);
  }

  #ordered(): [number, number][] {
    return [...this.#counts].sort(([, one], [, other]) => other - one);
  }
}

/** What the image names among its features when its SBCL gives numbers to commas, and to what is quoted. */
const COMMAS_COUNTED = 'LIVE-LISP::COMMAS-COUNTED';

/** Numbers conses as sb-di:form-number-translations does under FEATURES, as far as the text tells. */
export function numberedConses(form: Form, features: Features): Numbered[] {
  const newer = features.has(COMMAS_COUNTED);
  const numbered = new Map<Form, Numbered>();
  const pending = [form];
  const values = new Set<string>();
  const templates = new Set<Form>();
  let before = 0;
  for (let list = pending.pop(); list !== undefined; list = pending.pop()) {
    if (list.kind === 'made') {
      const { name = '' } = list;
      // The value of a variable is the same conses each time, and these get numbers once.
      if (name === '' || !values.has(name)) before++;
      values.add(name);
    }
    if ((list.kind !== 'cons' && list.kind !== 'comma') || numbered.has(list)) continue;
    const parts = newer ? newerPartsOf(list) : partsOf(list);
    const operator = resolve(list.car)?.name ?? '';
    if (list.template || templates.has(list)) for (const part of parts) templates.add(part);
    numbered.set(list, {
      list,
      start: list.start,
      operator: list.kind === 'comma' ? '' : operator,
      made: before,
      template: templates.has(list),
      // A declaration has no code.
      computed: operator !== 'DECLARE' && parts.some(({ kind, name }) => kind === 'made' && !name),
    });
    pending.push(...parts.reverse());
  }
  return [...numbered.values()];
}

/** Gives the conses in LIST that are looked into, and what `#.` has made there. */
function partsOf(list: Form): Form[] {
  const elements = elementsOf(list).map((each) => (each.kind === 'comma' ? resolve(each.car) : each));
  const quote = elements.findIndex((each) => each?.name === 'QUOTE');
  const looked = elements.slice(0, quote === -1 ? undefined : quote);
  return looked.flatMap((each) => (each?.kind === 'cons' || each?.kind === 'made' ? each : []));
}

/** Gives the conses and commas in LIST, a cons or a comma, that are looked into since SBCL 2.5.11, and what `#.` has made
 *  there. A comma behind a dot is read as two elements. */
function newerPartsOf(list: Form): Form[] {
  const last = tailOf(list);
  const behind = last?.kind === 'comma' ? resolve(last.car) : undefined;
  return [...elementsOf(list), behind].filter(
    (each): each is Form => each?.kind === 'cons' || each?.kind === 'comma' || each?.kind === 'made',
  );
}

/** Gives what stands behind the last cons of LIST; LIST itself when it is none. */
function tailOf(list: Form): Form | undefined {
  const cells = new Set<Form>();
  let cell: Form | undefined = list;
  while (cell?.kind === 'cons' && !cells.has(cell)) {
    cells.add(cell);
    cell = resolve(cell.cdr);
  }
  return cell;
}
