/** Reads the tree of a Lisp text: the forms that the SBCL reader would build under a set of features, or all that is
 *  written. */

import { bare, MARK, nextToken } from './lexer.ts';
import { isFeature, isPrefix, RADIX, Tree, treeOf } from './tree.ts';

/** Feature names: 'SBCL' for a keyword, otherwise 'PACKAGE::NAME'. */
export type Features = ReadonlySet<string>;

/** The operators of the lists that the reader builds for a prefix, as (QUOTE X) for 'X. That of a backquote is no
 *  symbol. */
const OPERATORS = new Map([
  ["'", 'QUOTE'],
  ["#'", 'FUNCTION'],
  ['`', ''],
]);

/** Prefixes that leave no trace in the form behind them. */
const TRANSPARENT = new Set(['#=', '::']);

/** Tokens that begin a form that has no prefix. */
const FIRST = new Set(['atom', '(', '#(']);

/** Expressions nested deeper than this behind #+ are not evaluated, lest they overflow the stack. */
const MAX_DEPTH = 200;

const NONE: readonly never[] = [];

/** A form of a text, which reads what is in it when that is asked for. */
export class Form {
  readonly #reading: Reading;
  /** The number of its first token; it distinguishes the forms of a text. */
  readonly at: number;
  /** The kind of that token; 'operator' for the operator for which a prefix stands; under features 'broken' for a form
   *  that does not end, which is an atom but for `within`. */
  readonly mark: string;
  readonly start: number;
  readonly end: number;
  /** The number of the token behind it. */
  readonly behind: number;
  /** The form behind a prefix. */
  readonly inner: Form | undefined;
  /** Offset of the first #+ or #- directly before it, if any. */
  lead: number | undefined;
  /** The list that contains it, or the form of the prefix before it; the index in the elements of that list. */
  around: Form | undefined;
  index = 0;
  /** The prefixes before it, the outermost first, in a reading of all that is written. */
  marks: readonly string[] = NONE;
  #items: Items | undefined;
  #name: string | undefined;

  constructor(reading: Reading, mark: string, at: number, behind: number, inner?: Form) {
    this.#reading = reading;
    this.mark = mark;
    this.at = at;
    this.start = this.tree.start(at);
    this.end = inner?.end ?? (mark === 'broken' ? this.tree.text.length : this.tree.end(behind - 1));
    this.behind = behind;
    this.inner = inner;
    if (inner !== undefined) inner.around = this;
  }

  /** 'cons' for a list that has elements, such as (QUOTE X) for 'X; 'comma', and 'made' for #., with INNER; 'label' for a
   *  reference such as #1#; 'atom' for anything else. */
  get kind(): 'atom' | 'cons' | 'comma' | 'label' | 'made' {
    if (this.mark === '(') return this.#reading.isEmpty(this) ? 'atom' : 'cons';
    if (OPERATORS.has(this.mark)) return 'cons';
    if (this.mark === ',') return 'comma';
    if (this.mark === '#.') return 'made';
    return this.resolved === this ? 'atom' : 'label';
  }

  /** The name of a symbol or number as `nameOf` gives it, and of the form behind #. ; undefined for a list, a comma and
   *  the like; '' for other atoms. */
  get name(): string | undefined {
    if (this.mark === 'atom') return this.#nameOfAtom();
    if (this.mark === 'operator') return OPERATORS.get(this.token);
    let made: Form = this;
    while (made.mark === '#.' && made.inner !== undefined) made = made.inner;
    if (made !== this) return made.name ?? '';
    return this.mark !== '(' && this.kind === 'atom' ? '' : undefined;
  }

  /** The name of a symbol or number without its package; '' for anything else. */
  get bare(): string {
    return this.mark === 'atom' ? bare(this.#nameOfAtom()) : '';
  }

  #nameOfAtom(): string {
    this.#name ??= this.tree.name(this.at);
    return this.#name;
  }

  /** Whether it is written in parentheses. */
  get isList(): boolean {
    return this.mark === '(' || this.mark === '#(';
  }

  get isString(): boolean {
    return this.mark === 'atom' && this.tree.text.charAt(this.start) === '"';
  }

  /** The kind of its first token. */
  get token(): string {
    return this.tree.kind(this.at);
  }

  /** Its text. */
  get text(): string {
    return this.tree.text.slice(this.start, this.end);
  }

  /** The tree that it is a part of. */
  get tree(): Tree {
    return this.#reading.tree;
  }

  /** The name that it designates: the contents of a string, or the name of a symbol in any package; undefined for
   *  anything else. */
  get designated(): string | undefined {
    return this.isString ? this.text.slice(1, -1).replace(/\\(.)/gs, '$1') : this.bare || undefined;
  }

  /** Whether it is the list that stands for a backquote. */
  get template(): boolean {
    return this.mark === '`';
  }

  /** The first element, read without the others where the text shows it. */
  get first(): Form | undefined {
    return (this.#items === undefined && this.#reading.firstIn(this)) || this.elements[0];
  }

  /** The elements of a list or vector, or of the list that stands for a prefix; without the part behind a dot. */
  get elements(): readonly Form[] {
    return this.#read().elements;
  }

  /** The part behind a dot. */
  get tail(): Form | undefined {
    return this.#read().tail;
  }

  #read(): Items {
    this.#items ??= this.#reading.itemsOf(this);
    return this.#items;
  }

  /** The form that this one refers to when it is a label; itself when it is anything else. */
  get resolved(): Form {
    return this.mark === '##' ? this.#reading.labelled(this) : this;
  }
}

interface Items {
  elements: readonly Form[];
  tail?: Form | undefined;
}

/** A prefix before a form: the number of its token, and the offset of the #+ or #- directly before it. */
interface Prefix {
  at: number;
  lead: number | undefined;
}

/** Reads a tree under FEATURES. Without these it reads all that is written: what #+ excludes too, the dots of lists as
 *  elements, lists that are not closed, and prefixes as marks of the forms behind them. */
export class Reading {
  readonly tree: Tree;
  readonly #features: Features | undefined;
  #depth = 0;
  /** By the number of a reference: the form that it refers to. */
  readonly #labelled = new Map<number, Form>();

  constructor(tree: Tree, features?: Features) {
    this.tree = tree;
    this.#features = features;
  }

  /** Returns the top-level form at or after the token FROM. One that is malformed or cut off reaches to the end of the
   *  text. Returns undefined at the end of the text or at a `)`. */
  form(from: number): Form | undefined {
    const form = this.#read(from);
    if (form !== undefined) return form;
    const first = this.#past(from)?.at;
    if (first === undefined || this.tree.kind(first) === 'end' || this.tree.kind(first) === ')')
      return undefined;
    return new Form(this, 'broken', first, this.tree.count());
  }

  /** Yields all top-level forms; in a reading of all that is written also those behind a `)` too many. It is a generator
   *  so that what was read of a form can go when the next is looked at. */
  *forms(): Generator<Form, void> {
    for (let at = 0; this.tree.kind(at) !== 'end'; ) {
      const form = this.form(at);
      if (form !== undefined) yield form;
      else if (this.#features !== undefined || this.tree.kind(at) !== ')') return;
      at = form?.behind ?? at + 1;
    }
  }

  /** Returns the form at or after the token FROM; undefined at the end of a list or of the text, and when one is
   *  missing. */
  #read(from: number): Form | undefined {
    if (FIRST.has(this.tree.kind(from))) return this.#plain(from);
    let prefixes: Prefix[] | undefined;
    let lead: number | undefined;
    let at = from;
    for (let kind = this.tree.kind(at); isFeature(kind) || isPrefix(kind); kind = this.tree.kind(at)) {
      if (isPrefix(kind)) {
        prefixes ??= [];
        prefixes.push({ at: at++, lead });
        lead = undefined;
        continue;
      }
      const past = this.#past(at);
      if (past === undefined) return undefined;
      ({ at, lead } = past);
      if (this.#features === undefined) prefixes = undefined;
    }
    const form = this.#plain(at);
    if (form !== undefined) form.lead = lead;
    return form === undefined || prefixes === undefined ? form : this.#prefixed(prefixes, form);
  }

  /** Returns the atom or list that begins with the token AT. */
  #plain(at: number): Form | undefined {
    const kind = this.tree.kind(at);
    if (kind === ')' || kind === 'end') return undefined;
    if (kind !== '(' && kind !== '#(') return new Form(this, kind, at, at + 1);
    const behind = this.tree.behind(at);
    const broken = behind === undefined && this.#features !== undefined;
    return new Form(this, broken ? 'broken' : kind, at, behind ?? this.tree.count());
  }

  #prefixed(prefixes: readonly Prefix[], form: Form): Form {
    if (this.#features === undefined) {
      form.marks = prefixes.map(({ at }) => this.tree.kind(at));
      return form;
    }
    return prefixes.reduceRight<Form>((inner, { at, lead }) => {
      const mark = this.tree.kind(at);
      const whole = TRANSPARENT.has(mark) ? inner : new Form(this, mark, at, inner.behind, inner);
      whole.lead = lead ?? whole.lead;
      return whole;
    }, form);
  }

  /** Passes over feature expressions from the token FROM on, and over what they exclude. Returns the number of the next
   *  token, with the offset of the first #+ or #- directly before it; undefined when something is missing. */
  #past(from: number): Prefix | undefined {
    let lead: number | undefined;
    for (let at = from; ; ) {
      const kind = this.tree.kind(at);
      if (!isFeature(kind)) return { at, lead };
      const test = this.#test(at);
      const next = test === undefined ? undefined : test.holds ? test.behind : this.#skipped(test.behind);
      if (next === undefined) return undefined;
      lead = test?.holds ? (lead ?? this.tree.start(at)) : undefined;
      at = next;
    }
  }

  /** Evaluates the feature expression behind the token AT, #+ or #-. Returns whether the form behind it counts, and the
   *  number of the token behind the expression; undefined without one. */
  #test(at: number): { holds: boolean; behind: number } | undefined {
    if (this.#depth > MAX_DEPTH) return undefined;
    this.#depth++;
    const test = this.#read(at + 1);
    const holds =
      this.#features === undefined ||
      (test !== undefined && this.#holds(test, this.#features, 0) === (this.tree.kind(at) === '#+'));
    this.#depth--;
    return test && { holds, behind: test.behind };
  }

  /** Returns whether the feature expression TEST, which is nested in DEPTH others, is true. */
  #holds(test: Form, features: Features, depth: number): boolean {
    const symbol = (test.kind === 'cons' ? test.first : test)?.name ?? '';
    const name = symbol.replace(MARK, symbol.startsWith(MARK) ? '' : '::');
    if (test.kind !== 'cons') return features.has(name);
    if (depth > MAX_DEPTH) return false;
    for (const part of test.elements.slice(1)) {
      const value = this.#holds(part, features, depth + 1);
      if (name === 'NOT') return !value;
      if (value === (name === 'OR')) return value;
    }
    return name === 'AND';
  }

  /** Returns the number of the token behind the excluded form at the token FROM; undefined without one. SBCL then takes a
   *  radix prefix, or that of a package, for all of the form. */
  #skipped(from: number): number | undefined {
    let at: number | undefined = from;
    for (let left = 1; left > 0 && at !== undefined; ) {
      const kind = this.tree.kind(at);
      if (kind === ')' || kind === 'end') return undefined;
      if (isFeature(kind)) {
        const test = this.#test(at);
        if (test?.holds === false) left++;
        at = test?.behind;
        continue;
      }
      if (!isPrefix(kind) || kind === '::' || RADIX.test(kind)) left--;
      at = kind === '(' || kind === '#(' ? this.tree.behind(at) : at + 1;
    }
    return at;
  }

  /** Returns the first element of FORM, a list, when neither a prefix nor a feature expression stands before it. */
  firstIn({ mark, at }: Form): Form | undefined {
    return mark === '(' && FIRST.has(this.tree.kind(at + 1)) ? this.#plain(at + 1) : undefined;
  }

  /** Whether FORM, a list, has no elements. */
  isEmpty(form: Form): boolean {
    return !FIRST.has(this.tree.kind(form.at + 1)) && form.elements.length === 0;
  }

  /** Returns what FORM contains. */
  itemsOf(form: Form): Items {
    if (form.inner !== undefined && OPERATORS.has(form.mark)) {
      const operator = new Form(this, 'operator', form.at, form.at + 1);
      return { elements: [operator, form.inner] };
    }
    if (form.token !== '(' && form.token !== '#(') return { elements: NONE };
    const elements: Form[] = [];
    let dot: number | undefined;
    for (let each = this.#read(form.at + 1); each !== undefined; each = this.#read(each.behind)) {
      each.around = form;
      each.index = elements.length;
      if (each.mark === '.' && this.#features !== undefined) dot = elements.length;
      else elements.push(each);
    }
    return dot === undefined ? { elements } : { elements: elements.slice(0, dot), tail: elements[dot] };
  }

  /** Returns the form that REFERENCE, #N#, refers to; itself when there is no such label. */
  labelled(reference: Form): Form {
    const passed: number[] = [];
    let form = reference;
    for (let label = this.tree.labelOf(form.at); form.mark === '##'; label = this.tree.labelOf(form.at)) {
      const next: Form | undefined =
        this.#labelled.get(form.at) ?? (label === undefined ? undefined : this.#read(label + 1));
      if (next === undefined || next.at === form.at) break;
      passed.push(form.at);
      form = next;
    }
    for (const at of passed) this.#labelled.set(at, form);
    return form;
  }
}

/** Yields FORM and the forms in it, in the order of the text. */
export function* within(form: Form): Generator<Form, void> {
  const left = [form];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    yield next;
    if (next.inner !== undefined) left.push(next.inner);
    else {
      if (next.tail !== undefined) left.push(next.tail);
      for (let index = next.elements.length - 1; index >= 0; index--) left.push(next.elements[index] as Form);
    }
  }
}

/** Returns the symbol that FORM, the name in a definition, is or begins with, or the NAME of (setf NAME). */
export function namedBy(form: Form | undefined): { symbol: Form | undefined; setf: boolean } {
  const parts = elementsOf(form);
  const setf = parts.length === 2 && bareName(parts[0]) === 'SETF';
  return { symbol: setf ? parts[1] : (parts[0] ?? form), setf };
}

/** Returns the form at or after INDEX of SOURCE, as a Reading under FEATURES or of all that is written has it. */
export function readForm(source: string, index: number, features?: Features): Form | undefined {
  const tree = treeOf(source);
  const number = tree.tokenAt(index);
  // Where a reader macro took what looks like a string, the tokens of the whole text are wrong, but not those from here.
  const { start } = nextToken(source, index);
  const known = start === tree.start(number) && (number === 0 || tree.end(number - 1) <= index);
  return new Reading(known ? tree : new Tree(source, index), features).form(known ? number : 0);
}

/** Returns the name of the symbol FORM without its package. */
export function bareName(form: Form | undefined): string {
  return bare(form?.resolved.name ?? '');
}

/** Returns the name of FORM, mostly an operator, as in `nameOf`: a symbol of Common Lisp has no package in it. Returns ''
 *  when FORM is a list or missing. */
export function operatorOf(form: Form | undefined): string {
  return form?.resolved.name ?? '';
}

/** Returns the elements of FORM, labels resolved, and those behind a dot; none when it is no list. */
export function elementsOf(form: Form | undefined): Form[] {
  return spineOf(form).elements.map((element) => element.resolved);
}

/** Returns the elements of FORM, those behind a dot included, and as TAIL what stands behind the last dot and is no
 *  list. TAIL is the form itself when that is no list, and for a circular list one in it. */
export function spineOf(form: Form | undefined): { elements: readonly Form[]; tail: Form | undefined } {
  let tail = form?.resolved;
  if (tail?.kind === 'cons' && tail.tail === undefined) return { elements: tail.elements, tail: undefined };
  const elements: Form[] = [];
  const seen = new Set<number>();
  for (; tail?.kind === 'cons' && !seen.has(tail.at); tail = tail.tail?.resolved) {
    seen.add(tail.at);
    for (const element of tail.elements) elements.push(element);
  }
  return { elements, tail };
}
