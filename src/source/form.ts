/** Reads forms from the tree of a Lisp text: either as SBCL's reader would, or all that the text has. */

import { bareTokenName, nextToken, PACKAGE_MARKER } from './lexer.ts';
import { isFeature, isPrefix, RADIX, Tree, treeOf } from './tree.ts';

/** Feature names: 'SBCL' for a keyword, otherwise 'PACKAGE::NAME'. */
export type Features = ReadonlySet<string>;

/** By prefix: the operator of the list that the reader builds, as QUOTE for 'X. It is '' for a backquote. */
const OPERATORS = new Map([
  ["'", 'QUOTE'],
  ["#'", 'FUNCTION'],
  ['`', ''],
]);

/** Prefixes that do not change the form after them. */
const TRANSPARENT = new Set(['#=', '::']);

/** Tokens that begin a form that has no prefix. */
const FIRST = new Set(['atom', '(', '#(']);

/** Feature expressions nested deeper than this are not evaluated, because they could overflow the stack. */
const MAX_DEPTH = 200;

const NONE: readonly never[] = [];

/** A form of a text. Its elements are read when they are first used. */
export class Form {
  readonly #reading: FormReader;
  /** Number of the first token, which identifies the form within its text. */
  readonly firstToken: number;
  /** Kind of the first token, with two exceptions. 'operator' is the QUOTE or FUNCTION that a prefix
   *  abbreviates. 'broken' is a form without end in a reading under features. */
  readonly mark: string;
  readonly start: number;
  readonly end: number;
  /** Number of the token after the form. */
  readonly behind: number;
  /** The form after a prefix. */
  readonly inner: Form | undefined;
  /** Offset of the first #+ or #- directly before it, if any. */
  lead: number | undefined;
  /** The list that contains this form, or the form of the prefix before it. */
  parent: Form | undefined;
  index = 0;
  /** Prefixes before the form, the outermost first. Empty in a reading under features. */
  marks: readonly string[] = NONE;
  #items: Items | undefined;
  #name: string | undefined;

  constructor(reading: FormReader, mark: string, at: number, behind: number, inner?: Form) {
    this.#reading = reading;
    this.mark = mark;
    this.firstToken = at;
    this.start = this.tree.start(at);
    this.end = inner?.end ?? (mark === 'broken' ? this.tree.text.length : this.tree.end(behind - 1));
    this.behind = behind;
    this.inner = inner;
    if (inner !== undefined) inner.parent = this;
  }

  /** 'cons': a list with elements, also the (QUOTE X) of 'X. 'comma' and 'made' (#.): a prefix, with the form
   *  after it as `inner`. 'atom': anything else, also a reference such as #1#, which is not followed. */
  get kind(): 'atom' | 'cons' | 'comma' | 'made' {
    if (this.mark === '(') return this.#reading.isEmpty(this) ? 'atom' : 'cons';
    if (OPERATORS.has(this.mark)) return 'cons';
    if (this.mark === ',') return 'comma';
    if (this.mark === '#.') return 'made';
    return 'atom';
  }

  /** The name of a symbol or number, as `nameOf` returns it. For #. it is the name of the form after it.
   *  Undefined for lists and commas; '' for other forms. */
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
    return this.mark === 'atom' ? bareTokenName(this.#nameOfAtom()) : '';
  }

  #nameOfAtom(): string {
    this.#name ??= this.tree.name(this.firstToken);
    return this.#name;
  }

  get isList(): boolean {
    return this.mark === '(' || this.mark === '#(';
  }

  get isString(): boolean {
    return this.mark === 'atom' && this.tree.text.charAt(this.start) === '"';
  }

  get token(): string {
    return this.tree.kind(this.firstToken);
  }

  get text(): string {
    return this.tree.text.slice(this.start, this.end);
  }

  /** The text of the form on one line, without comments. */
  get line(): string {
    return this.tree.line(this.firstToken, this.behind);
  }

  get tree(): Tree {
    return this.#reading.tree;
  }

  /** The contents of a string, or the bare name of a symbol; undefined for other forms. */
  get designated(): string | undefined {
    return this.isString ? this.text.slice(1, -1).replace(/\\(.)/gs, '$1') : this.bare || undefined;
  }

  get isBackquote(): boolean {
    return this.mark === '`';
  }

  /** The first element. Reads the others only if a prefix or feature expression comes first. */
  get first(): Form | undefined {
    return (this.#items === undefined && this.#reading.firstIn(this)) || this.elements[0];
  }

  /** The elements of a list or vector, without a dotted tail. For a prefix, those of the list that it
   *  abbreviates. */
  get elements(): readonly Form[] {
    return this.#read().elements;
  }

  /** The form after the dot of a dotted list. */
  get tail(): Form | undefined {
    return this.#read().tail;
  }

  #read(): Items {
    this.#items ??= this.#reading.itemsOf(this);
    return this.#items;
  }
}

interface Items {
  elements: readonly Form[];
  tail?: Form | undefined;
}

/** A prefix before a form: its token number, and the offset of the #+ or #- directly before it. */
interface Prefix {
  at: number;
  lead: number | undefined;
}

/** Reads forms as the SBCL reader would under FEATURES. Without features, reads everything in the text: it
 *  includes forms that #+ excludes, reads dots as elements and unclosed lists as lists, and stores the
 *  prefixes of a form in its `marks`. */
export class FormReader {
  readonly tree: Tree;
  readonly #features: Features | undefined;
  #depth = 0;

  constructor(tree: Tree, features?: Features) {
    this.tree = tree;
    this.#features = features;
  }

  /** Returns the top-level form at or after the token FROM; undefined at a `)` or the end of the text. A
   *  malformed form extends to the end of the text. */
  form(from: number): Form | undefined {
    const form = this.#read(from);
    if (form !== undefined) return form;
    const first = this.#past(from)?.at;
    if (first === undefined || this.tree.kind(first) === 'end' || this.tree.kind(first) === ')')
      return undefined;
    return new Form(this, 'broken', first, this.tree.count());
  }

  /** Yields all top-level forms. A reading under features stops at a surplus `)`. It is a generator, so that
   *  the memory of one form can be freed before the next is read. */
  *forms(): Generator<Form, void> {
    for (let at = 0; this.tree.kind(at) !== 'end'; ) {
      const form = this.form(at);
      if (form !== undefined) yield form;
      else if (this.#features !== undefined || this.tree.kind(at) !== ')') return;
      at = form?.behind ?? at + 1;
    }
  }

  /** Returns the form at or after the token FROM; undefined when a list or the text ends first. */
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

  /** Skips feature expressions from the token FROM on, with the forms that they exclude. Returns the next
   *  token, and the offset of the #+ or #- directly before it. Returns undefined when an expression or an
   *  excluded form is missing. */
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

  /** Evaluates the feature expression after the #+ or #- at token AT. Returns whether it includes the next
   *  form, and the number of the token after the expression. Returns undefined for a missing or too deeply
   *  nested expression. */
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

  #holds(test: Form, features: Features, depth: number): boolean {
    const symbol = (test.kind === 'cons' ? test.first : test)?.name ?? '';
    const name = symbol.replace(PACKAGE_MARKER, symbol.startsWith(PACKAGE_MARKER) ? '' : '::');
    if (test.kind !== 'cons') return features.has(name);
    if (depth > MAX_DEPTH) return false;
    for (const part of test.elements.slice(1)) {
      const value = this.#holds(part, features, depth + 1);
      if (name === 'NOT') return !value;
      if (value === (name === 'OR')) return value;
    }
    return name === 'AND';
  }

  /** Returns the number of the token after the excluded form at token FROM; undefined when there is none.
   *  SBCL skips a radix or package prefix as a whole form. */
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

  /** Returns the first element of the list FORM; undefined if a prefix or feature expression precedes it. */
  firstIn({ mark, firstToken }: Form): Form | undefined {
    return mark === '(' && FIRST.has(this.tree.kind(firstToken + 1))
      ? this.#plain(firstToken + 1)
      : undefined;
  }

  isEmpty(form: Form): boolean {
    return !FIRST.has(this.tree.kind(form.firstToken + 1)) && form.elements.length === 0;
  }

  itemsOf(form: Form): Items {
    if (form.inner !== undefined && OPERATORS.has(form.mark)) {
      const operator = new Form(this, 'operator', form.firstToken, form.firstToken + 1);
      return { elements: [operator, form.inner] };
    }
    if (form.token !== '(' && form.token !== '#(') return { elements: NONE };
    const elements: Form[] = [];
    let dot: number | undefined;
    for (let each = this.#read(form.firstToken + 1); each !== undefined; each = this.#read(each.behind)) {
      each.parent = form;
      each.index = elements.length;
      if (each.mark === '.' && this.#features !== undefined) dot = elements.length;
      else elements.push(each);
    }
    return dot === undefined ? { elements } : { elements: elements.slice(0, dot), tail: elements[dot] };
  }
}

/** Yields FORM and all forms inside it, in the order of the text. */
export function* formsWithin(form: Form): Generator<Form, void> {
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

/** Returns the symbol in FORM, the name of a definition. It is FORM itself, its first element, or NAME in
 *  (setf NAME). */
export function namedBy(form: Form | undefined): { symbol: Form | undefined; setf: boolean } {
  const parts = elementsOf(form);
  const setf = parts.length === 2 && bareName(parts[0]) === 'SETF';
  return { symbol: setf ? parts[1] : (parts[0] ?? form), setf };
}

/** Returns the form at or after INDEX of SOURCE, read under FEATURES. Without features, reads all that the
 *  text has. */
export function readForm(source: string, index: number, features?: Features): Form | undefined {
  const tree = treeOf(source);
  const number = tree.tokenAt(index);
  // After a misread string, as by a reader macro, only tokens counted from INDEX on are right.
  const { start } = nextToken(source, index);
  const known = start === tree.start(number) && (number === 0 || tree.end(number - 1) <= index);
  return new FormReader(known ? tree : new Tree(source, index), features).form(known ? number : 0);
}

/** Returns the name of the symbol FORM without its package; '' when FORM is no symbol or number. */
export function bareName(form: Form | undefined): string {
  return bareTokenName(operatorOf(form));
}

/** Returns the name of FORM, usually an operator, as `nameOf` returns it; '' when FORM is a list or
 *  missing. */
export function operatorOf(form: Form | undefined): string {
  return form?.name ?? '';
}

/** Returns the elements of the list FORM, dotted tails included; [] when FORM is no list. */
export function elementsOf(form: Form | undefined): readonly Form[] {
  return spineOf(form).elements;
}

/** Returns the elements of the list FORM, and the object after the last dot. A list after a dot continues the
 *  elements. */
export function spineOf(form: Form | undefined): { elements: readonly Form[]; tail: Form | undefined } {
  if (form?.kind !== 'cons') return { elements: NONE, tail: form };
  const lists = [form];
  let { tail } = form;
  for (; tail?.kind === 'cons'; { tail } = tail) lists.push(tail);
  return { elements: lists.length === 1 ? form.elements : lists.flatMap(({ elements }) => elements), tail };
}
