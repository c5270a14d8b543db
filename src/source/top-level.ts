/** Finds the top-level forms of a Lisp text: their extents, what they define, and their packages. */

import { definedSymbol } from './definition.ts';
import { elementsOf, type Features, type Form, FormReader, readForm, symbolNameOf } from './form.ts';
import { mayContain } from './mentioning.ts';
import { lastUpTo, type SourceText } from './text.ts';
import { treeOf } from './tree.ts';

/** The span of a form. `fullStart` is the start of the #+ or #- before it; `start` if there is none. */
export interface Extent {
  start: number;
  end: number;
  fullStart: number;
}

/** A top-level form. `operator` is the name of the symbol with which it begins, without a package prefix. `name` is the
 * name of the symbol that it defines, or `(SETF NAME)` for a setf function. `name` has a package prefix if the text has
 * one: see `tokenName` of lexer.ts. Both are in the case that the reader gives them. `home` is the current package at
 * the form. */
export interface TopLevelDefinition {
  start: number;
  operator: string;
  name?: string;
  home: string;
}

/** The package assumed for a file without IN-PACKAGE, although another one may be current during the load. */
const USUAL_PACKAGE = 'COMMON-LISP-USER';

/** Operators whose subforms are top-level forms too. */
const SPREADING: readonly string[] = ['EVAL-WHEN', 'LOCALLY', 'PROGN'];

/** Number of tokens that `readAhead` reads between two pauses. */
const TOKENS = 2000;
/** Number of forms that `readAhead` reads between two pauses. */
const FORMS = 50;

/** The top-level forms of a text, as an SBCL with FEATURES would read them. Reads the text only as far as a caller
 * needs. */
export class TopLevelForms {
  readonly source: SourceText;
  #features: Features;
  /** The number of the token after the last form read. */
  #nextToken = 0;
  #done = false;
  readonly #read: Extent[] = [];
  /** Both arrays have an element for each IN-PACKAGE form: `ends` the index at which the form ends, `names` the package
   * that is current from there on. The first elements are for the start of the text. The package there is ASDF-USER in
   * .asd files, and else undefined. */
  readonly #entered: { ends: number[]; names: (string | undefined)[] };

  constructor(source: SourceText, features: Features) {
    this.source = source;
    this.#features = features;
    this.#entered = { ends: [0], names: [source.file?.endsWith('.asd') ? 'ASDF-USER' : undefined] };
  }

  /** Returns the extent of the Nth form (0-based), or undefined past the last. */
  nthExtent(n: number): Extent | undefined {
    // Makes a FormReader for each call. A stored reader would keep its tree in memory after treeOf's cache drops it.
    const known = this.#done || this.#read.length > n;
    const reading = known ? undefined : new FormReader(treeOf(this.source.text), this.#features);
    while (reading && !this.#done && this.#read.length <= n) this.#take(reading.form(this.#nextToken));
    return this.#read[n];
  }

  #take(form: Form | undefined): void {
    this.#done = form === undefined;
    if (form === undefined) return;
    this.#nextToken = form.tokenAfter;
    this.#read.push({ start: form.start, end: form.end, fullStart: form.featureStart ?? form.start });
    const entered = packageEntered(form);
    if (entered === undefined) return;
    this.#entered.ends.push(form.end);
    this.#entered.names.push(entered);
  }

  /** Reads all forms. Calls TURN regularly, and waits until its promise resolves, so that a long text does not block
   * other work. */
  async readAhead(turn: () => Promise<void>): Promise<void> {
    const tree = treeOf(this.source.text);
    while (tree.read(TOKENS)) await turn();
    for (let n = 0; this.nthExtent(n) !== undefined; n += FORMS) await turn();
  }

  allExtents(): readonly Extent[] {
    this.nthExtent(Number.POSITIVE_INFINITY);
    return this.#read;
  }

  /** Yields the forms that may contain one of SYMBOLS, each with its extent and the package that `packageAt`
   * returns. */
  *mentioning(
    symbols: readonly string[],
  ): Generator<{ form: Form; place: Extent; current: string | undefined }, void> {
    if (!mayContain(this.source.text, symbols)) return;
    for (const place of this.allExtents()) {
      if (!mayContain(this.source.text.slice(place.start, place.end), symbols)) continue;
      const form = this.formFrom(place.start);
      if (form) yield { form, place, current: this.packageAt(place.start) };
    }
  }

  /** Returns the form that begins at START, and what it defines. */
  definitionAt(start: number): TopLevelDefinition {
    const form = this.formFrom(start);
    const { operator, symbol, setf } = form ? definedSymbol(form) : { operator: '' };
    const name = operator !== '' && symbol?.notation === 'atom' ? symbol.name : '';
    return {
      start,
      operator,
      ...(name && { name: setf ? `(SETF ${name})` : name }),
      home: this.homeAt(start),
    };
  }

  /** Returns the extent of the last form that begins at INDEX or before; undefined when there is none. */
  extentAround(index: number): Extent | undefined {
    return this.allExtents().findLast(({ start }) => start <= index);
  }

  get features(): Features {
    return this.#features;
  }

  /** Returns true when FEATURES are the features with which the text was read, so that the forms are still valid. */
  holdUnder(features: Features): boolean {
    if (this.#features === features) return true;
    const same =
      this.#features.size === features.size && [...features].every((name) => this.#features.has(name));
    // Keeps the equal set, so that the next call with it compares only the references.
    if (same) this.#features = features;
    return same;
  }

  /** Returns the first form that begins at or after INDEX of the text; undefined when there is none. It can be inside
   * another form. */
  formFrom(index: number): Form | undefined {
    return readForm(this.source.text, index, this.#features);
  }

  /** Returns the packages that IN-PACKAGE forms make current, each from index `from` on. The first entry is for the
   * text before the first IN-PACKAGE form. It has no name, even in an .asd file: only names from IN-PACKAGE forms are
   * returned. */
  packages(): { from: number; name: string | undefined }[] {
    this.allExtents();
    const { ends, names } = this.#entered;
    return ends.map((from, index) => ({ from, name: index === 0 ? undefined : names[index] }));
  }

  /** Returns the current package at INDEX, or COMMON-LISP-USER when it is unknown. */
  homeAt(index: number): string {
    return this.packageAt(index) ?? USUAL_PACKAGE;
  }

  /** Returns the current package at INDEX. Before the first IN-PACKAGE form, it is ASDF-USER in an .asd file, else
   * undefined. */
  packageAt(index: number): string | undefined {
    // Only the forms before INDEX are needed.
    let last = this.#read.at(-1);
    while (!this.#done && (last?.start ?? -1) < index) last = this.nthExtent(this.#read.length);
    return this.#entered.names[lastUpTo(this.#entered.ends, index)];
  }
}

/** Yields the top-level form FORM, or, for a PROGN or the like, its elements: the top-level forms in it, but also the
 * operator itself, and the situations of an EVAL-WHEN. */
export function* topLevelFormsIn(form: Form): Generator<Form, void> {
  const pending = [form];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!SPREADING.includes(symbolNameOf(next.first))) yield next;
    else for (const part of elementsOf(next).toReversed()) pending.push(part);
  }
}

/** Returns the package that the top-level form FORM makes current; undefined for none. */
function packageEntered(form: Form): string | undefined {
  let entered: string | undefined;
  for (const each of topLevelFormsIn(form))
    if (symbolNameOf(each.first) === 'IN-PACKAGE') entered = elementsOf(each)[1]?.designatedString ?? entered;
  return entered;
}
