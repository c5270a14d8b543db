/** Reads forms from the tree of a Lisp text: those that SBCL's reader would read, or all that the text contains. */

import { nextToken, PACKAGE_MARKER, withoutPackage } from './lexer.ts';
import { isFeature, isPrefix, RADIX, Tree, treeOf } from './tree.ts';

/** Feature names: 'SBCL' for a keyword, otherwise 'PACKAGE::NAME'. */
export type Features = ReadonlySet<string>;

/** Maps a prefix to the operator of the list that the reader makes of the prefix and the next form: QUOTE for 'X. The
 * operator is '' for a backquote. */
const OPERATORS = new Map([
  ["'", 'QUOTE'],
  ["#'", 'FUNCTION'],
  ['`', ''],
]);

/** Prefixes that do not change the form after them. */
const TRANSPARENT = new Set(['#=', '::']);

/** Kinds of the first token of a form without prefix. */
const FIRST = new Set(['atom', '(', '#(']);

/** Feature expressions nested deeper than this are not evaluated, because they could overflow the stack. */
const MAX_DEPTH = 200;

const NONE: readonly never[] = [];

/** A form of a text. Its elements are read when they are first used. */
export class Form {
  readonly #reading: FormReader;
  /** Number of the first token, which identifies the form within its text. */
  readonly firstToken: number;
  /** How the text writes the form: the kind of its first token, such as '(', "'" or 'atom'. There are two other values.
   * 'operator' is the QUOTE or FUNCTION that a prefix abbreviates. 'unclosed' is a form without its end: a prefix
   * without a form or, when the FormReader was given features, a list. */
  readonly notation: string;
  readonly start: number;
  readonly end: number;
  /** Number of the token after the form. */
  readonly tokenAfter: number;
  /** The form after a prefix. */
  readonly inner: Form | undefined;
  /** Offset of the first feature expression (#+ or #-) directly before the form; undefined when there is none. */
  featureStart: number | undefined;
  /** The form directly around this one: a list, or a form that is a prefix, such as a quote, and this form. */
  parent: Form | undefined;
  /** The position of this form among the elements of the list that contains it. */
  index = 0;
  /** Prefixes before the form, the outermost first, without those before a #+ or #-. Empty when the FormReader was
   * given features: then a prefix is a form of its own, with the next form as its `inner`. */
  prefixes: readonly string[] = NONE;
  #items: Items | undefined;
  #name: string | undefined;

  constructor(reading: FormReader, notation: string, at: number, tokenAfter: number, inner?: Form) {
    this.#reading = reading;
    this.notation = notation;
    this.firstToken = at;
    this.start = this.tree.start(at);
    this.end =
      inner?.end ?? (notation === 'unclosed' ? this.tree.text.length : this.tree.end(tokenAfter - 1));
    this.tokenAfter = tokenAfter;
    this.inner = inner;
    if (inner !== undefined) inner.parent = this;
  }

  /** 'cons': a list with elements, also the (QUOTE X) of 'X. 'comma' and 'read-time' (#., evaluation at read time): a
   * prefix, with the form after it as `inner`. 'atom': anything else, also a reference such as #1#, which is not
   * followed. */
  get kind(): 'atom' | 'cons' | 'comma' | 'read-time' {
    if (this.notation === '(') return this.#reading.isEmpty(this) ? 'atom' : 'cons';
    if (OPERATORS.has(this.notation)) return 'cons';
    if (this.notation === ',') return 'comma';
    if (this.notation === '#.') return 'read-time';
    return 'atom';
  }

  /** The name of a symbol or number, as `tokenName` of lexer.ts returns it. For #. it is the name of the form after it.
   * Undefined for lists and commas; '' for other forms. */
  get name(): string | undefined {
    if (this.notation === 'atom') return this.#nameOfAtom();
    if (this.notation === 'operator') return OPERATORS.get(this.tokenKind);
    let evaluated: Form = this;
    while (evaluated.notation === '#.' && evaluated.inner !== undefined) evaluated = evaluated.inner;
    if (evaluated !== this) return evaluated.name ?? '';
    return this.notation !== '(' && this.kind === 'atom' ? '' : undefined;
  }

  /** The name of a symbol or number without its package; '' for any other form. #.X counts as another form, and so does
   * the operator for which a prefix stands, such as QUOTE for '. */
  get symbolName(): string {
    return this.notation === 'atom' ? withoutPackage(this.#nameOfAtom()) : '';
  }

  #nameOfAtom(): string {
    this.#name ??= this.tree.name(this.firstToken);
    return this.#name;
  }

  get isList(): boolean {
    return this.notation === '(' || this.notation === '#(';
  }

  get isString(): boolean {
    return this.notation === 'atom' && this.tree.text.charAt(this.start) === '"';
  }

  get tokenKind(): string {
    return this.tree.kind(this.firstToken);
  }

  get text(): string {
    return this.tree.text.slice(this.start, this.end);
  }

  /** The text of the form on one line, without comments. */
  get oneLine(): string {
    return this.tree.oneLine(this.firstToken, this.tokenAfter);
  }

  get tree(): Tree {
    return this.#reading.tree;
  }

  /** For a string, its contents. For a symbol, its name without its package. Undefined for other forms. (A string
   * designator of Common Lisp.) */
  get designatedString(): string | undefined {
    return this.isString ? this.text.slice(1, -1).replace(/\\(.)/gs, '$1') : this.symbolName || undefined;
  }

  get isBackquote(): boolean {
    return this.notation === '`';
  }

  /** The first element. Reads the others only if a prefix or feature expression comes first. Until `elements` is read,
   * each call returns a new object, without `parent`. */
  get first(): Form | undefined {
    const alone = this.#items === undefined ? this.#reading.firstIn(this) : undefined;
    return alone ?? this.elements[0];
  }

  /** The elements of a list or vector, without a dotted tail. For a prefix, those of the list that it abbreviates. */
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

/** The number `at` of a token, and the offset of the feature expression directly before it. */
interface TokenPlace {
  at: number;
  featureStart: number | undefined;
}

/** Reads forms as an SBCL with FEATURES would. Without FEATURES, reads everything in the text: it includes forms that
 * #+ excludes, reads dots as elements and unclosed lists as lists, and stores the prefixes of a form in its
 * `prefixes`. */
export class FormReader {
  readonly tree: Tree;
  readonly #features: Features | undefined;
  #depth = 0;

  constructor(tree: Tree, features?: Features) {
    this.tree = tree;
    this.#features = features;
  }

  /** Returns the top-level form at or after the token FROM; undefined at a `)` or the end of the text. A malformed form
   * extends to the end of the text. */
  form(from: number): Form | undefined {
    const form = this.#read(from);
    if (form !== undefined) return form;
    const first = this.#past(from)?.at;
    if (first === undefined || this.tree.kind(first) === 'end' || this.tree.kind(first) === ')')
      return undefined;
    return new Form(this, 'unclosed', first, this.tree.count());
  }

  /** Yields all top-level forms. If this reader was given features, stops at a surplus `)`. This is a generator, so
   * that the memory of one form can be freed before the next is read. */
  *forms(): Generator<Form, void> {
    for (let at = 0; this.tree.kind(at) !== 'end'; ) {
      const form = this.form(at);
      if (form !== undefined) yield form;
      else if (this.#features !== undefined || this.tree.kind(at) !== ')') return;
      at = form?.tokenAfter ?? at + 1;
    }
  }

  /** Returns the form at or after the token FROM; undefined when a list or the text ends first. */
  #read(from: number): Form | undefined {
    if (FIRST.has(this.tree.kind(from))) return this.#plain(from);
    let prefixes: TokenPlace[] | undefined;
    let featureStart: number | undefined;
    let at = from;
    for (let kind = this.tree.kind(at); isFeature(kind) || isPrefix(kind); kind = this.tree.kind(at)) {
      if (isPrefix(kind)) {
        prefixes ??= [];
        prefixes.push({ at: at++, featureStart });
        featureStart = undefined;
        continue;
      }
      const past = this.#past(at);
      if (past === undefined) return undefined;
      ({ at, featureStart } = past);
      if (this.#features === undefined) prefixes = undefined;
    }
    const form = this.#plain(at);
    if (form !== undefined) form.featureStart = featureStart;
    return form === undefined || prefixes === undefined ? form : this.#prefixed(prefixes, form);
  }

  #plain(at: number): Form | undefined {
    const kind = this.tree.kind(at);
    if (kind === ')' || kind === 'end') return undefined;
    if (kind !== '(' && kind !== '#(') return new Form(this, kind, at, at + 1);
    const tokenAfter = this.tree.tokenAfterList(at);
    const broken = tokenAfter === undefined && this.#features !== undefined;
    return new Form(this, broken ? 'unclosed' : kind, at, tokenAfter ?? this.tree.count());
  }

  #prefixed(prefixes: readonly TokenPlace[], form: Form): Form {
    if (this.#features === undefined) {
      form.prefixes = prefixes.map(({ at }) => this.tree.kind(at));
      return form;
    }
    return prefixes.reduceRight<Form>((inner, { at, featureStart }) => {
      const notation = this.tree.kind(at);
      const whole = TRANSPARENT.has(notation) ? inner : new Form(this, notation, at, inner.tokenAfter, inner);
      whole.featureStart = featureStart ?? whole.featureStart;
      return whole;
    }, form);
  }

  /** Skips feature expressions from the token FROM on, with the forms that they exclude. Returns the next token, and
   * the offset of the #+ or #- directly before it. Returns undefined when an expression or an excluded form is
   * missing. */
  #past(from: number): TokenPlace | undefined {
    let featureStart: number | undefined;
    for (let at = from; ; ) {
      const kind = this.tree.kind(at);
      if (!isFeature(kind)) return { at, featureStart };
      const test = this.#test(at);
      if (test === undefined) return undefined;
      const next = test.holds ? test.tokenAfter : this.#skipped(test.tokenAfter);
      if (next === undefined) return undefined;
      featureStart = test.holds ? (featureStart ?? this.tree.start(at)) : undefined;
      at = next;
    }
  }

  /** Evaluates the feature expression after the #+ or #- at token AT. Returns whether the next form is included, and
   * the number of the token after the expression. Returns undefined when the expression is missing or is nested too
   * deeply. */
  #test(at: number): { holds: boolean; tokenAfter: number } | undefined {
    if (this.#depth > MAX_DEPTH) return undefined;
    this.#depth++;
    const test = this.#read(at + 1);
    const holds =
      this.#features === undefined ||
      (test !== undefined && this.#holds(test, this.#features, 0) === (this.tree.kind(at) === '#+'));
    this.#depth--;
    return test && { holds, tokenAfter: test.tokenAfter };
  }

  #holds(test: Form, features: Features, depth: number): boolean {
    const symbol = (test.kind === 'cons' ? test.first : test)?.name ?? '';
    // As in Features.
    const name = symbol.replace(PACKAGE_MARKER, symbol.startsWith(PACKAGE_MARKER) ? '' : '::');
    if (test.kind !== 'cons') return features.has(name);
    if (depth > MAX_DEPTH) return false;
    const parts = test.elements.slice(1);
    const holds = (part: Form) => this.#holds(part, features, depth + 1);
    if (name === 'NOT') return parts[0] !== undefined && !holds(parts[0]);
    if (name === 'OR') return parts.some(holds);
    return name === 'AND' && parts.every(holds);
  }

  /** Skips the form at token FROM, which a #+ or #- excludes. Returns the number of the token after it; undefined when
   * there is no form. Like SBCL, counts a radix or package prefix as a form of its own. */
  #skipped(from: number): number | undefined {
    let at: number | undefined = from;
    for (let remaining = 1; remaining > 0 && at !== undefined; ) {
      const kind = this.tree.kind(at);
      if (kind === ')' || kind === 'end') return undefined;
      if (isFeature(kind)) {
        const test = this.#test(at);
        if (test?.holds === false) remaining++;
        at = test?.tokenAfter;
        continue;
      }
      if (!isPrefix(kind) || kind === '::' || RADIX.test(kind)) remaining--;
      at = kind === '(' || kind === '#(' ? this.tree.tokenAfterList(at) : at + 1;
    }
    return at;
  }

  /** Returns the first element of the list FORM; undefined if a prefix or feature expression precedes it. */
  firstIn({ notation, firstToken }: Form): Form | undefined {
    return notation === '(' && FIRST.has(this.tree.kind(firstToken + 1))
      ? this.#plain(firstToken + 1)
      : undefined;
  }

  isEmpty(form: Form): boolean {
    return !FIRST.has(this.tree.kind(form.firstToken + 1)) && form.elements.length === 0;
  }

  itemsOf(form: Form): Items {
    if (form.inner !== undefined && OPERATORS.has(form.notation)) {
      const operator = new Form(this, 'operator', form.firstToken, form.firstToken + 1);
      return { elements: [operator, form.inner] };
    }
    if (form.tokenKind !== '(' && form.tokenKind !== '#(') return { elements: NONE };
    const elements: Form[] = [];
    let dot: number | undefined;
    for (let each = this.#read(form.firstToken + 1); each !== undefined; each = this.#read(each.tokenAfter)) {
      each.parent = form;
      each.index = elements.length;
      if (each.notation === '.' && this.#features !== undefined) dot = elements.length;
      else elements.push(each);
    }
    return dot === undefined ? { elements } : { elements: elements.slice(0, dot), tail: elements[dot] };
  }
}

/** Yields FORM and all forms inside it, in the order of the text. */
export function* formsWithin(form: Form): Generator<Form, void> {
  const pending = [form];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    yield next;
    if (next.inner !== undefined) pending.push(next.inner);
    else {
      if (next.tail !== undefined) pending.push(next.tail);
      for (let index = next.elements.length - 1; index >= 0; index--)
        pending.push(next.elements[index] as Form);
    }
  }
}

/** Returns the form at or after INDEX of SOURCE; undefined when there is none. FEATURES decide what #+ and #- include.
 * If FEATURES is undefined, reads all that the text contains. */
export function readForm(source: string, index: number, features?: Features): Form | undefined {
  const tree = treeOf(source);
  const number = tree.tokenAt(index);
  // If the tree has misread a string, for example because of a reader macro, only tokens that are read from INDEX on
  // are right.
  const { start } = nextToken(source, index);
  const known = start === tree.start(number) && (number === 0 || tree.end(number - 1) <= index);
  return new FormReader(known ? tree : new Tree(source, index), features).form(known ? number : 0);
}

/** Returns the name of the symbol FORM without its package; '' when FORM is neither a symbol nor a number. In contrast
 * to `symbolName`, it also returns the name of the form after #., and of the operator that a prefix abbreviates. */
export function symbolNameOf(form: Form | undefined): string {
  return withoutPackage(nameOf(form));
}

/** Returns the `name` of FORM, usually an operator; '' when FORM is a list or missing. */
export function nameOf(form: Form | undefined): string {
  return form?.name ?? '';
}

/** Returns the elements of the list FORM, including those in a dotted tail; [] when FORM is not a list. */
export function elementsOf(form: Form | undefined): readonly Form[] {
  return spineOf(form).elements;
}

/** Returns the elements of the list FORM, and the object after the last dot. If a list follows a dot, its elements
 * count as further elements of FORM. */
export function spineOf(form: Form | undefined): { elements: readonly Form[]; tail: Form | undefined } {
  if (form?.kind !== 'cons') return { elements: NONE, tail: form };
  const lists = [form];
  let { tail } = form;
  for (; tail?.kind === 'cons'; { tail } = tail) lists.push(tail);
  return { elements: lists.length === 1 ? form.elements : lists.flatMap(({ elements }) => elements), tail };
}
