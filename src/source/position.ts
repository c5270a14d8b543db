/** Decides where in a Lisp source file a form is that SBCL names by its offset and form number. */

import { MARK, nextToken, type Token } from './lexer.ts';
import type { SourcePosition, SourceText } from './text.ts';

type Features = ReadonlySet<string>;
type Reader = ReturnType<typeof newReader>;

/** What the reader would build; a comma has its form in CAR, and a label what it names. Of what `#.` makes,
 *  only the place is known. */
export interface Form {
  kind: 'atom' | 'comma' | 'cons' | 'label' | 'made';
  start: number;
  name?: string;
  car?: Form | undefined;
  cdr?: Form | undefined;
}

/** What the reader puts before the form behind a macro character. */
const OPERATORS = new Map([
  ["'", 'QUOTE'],
  ["#'", 'FUNCTION'],
  ['`', 'QUASIQUOTE'],
]);
const MAX_DEPTH = 500; // A form nested deeper is taken for malformed, lest it overflow the stack.

/** The top-level forms of a text, where symbols like 'SBCL', or 'PACKAGE::NAME' when no keyword, are features. They are
 *  read as far as somebody asks for one. The form that was asked for last is kept: many places are in one function. */
export class TopLevelForms {
  readonly #source: SourceText;
  readonly #features: Features;
  readonly #reader: Reader;
  readonly #starts: number[] = [];
  #last: { index: number; form: Form | undefined } | undefined;

  constructor(source: SourceText, features: Features) {
    this.#source = source;
    this.#features = features;
    this.#reader = newReader(source.text, 0, features);
  }

  /** Gives where the Nth (0-based) form begins, or undefined when there is none. */
  start(n: number): number | undefined {
    while (this.#starts.length <= n) {
      const form = readTopLevel(this.#reader);
      if (form === undefined) break;
      this.#starts.push(form.start);
    }
    return this.#starts[n];
  }

  /** Gives the position of the sub-form with number FORM_NUMBER (see sb-di:form-number-translations) of the form at or
   *  after INDEX. Gives the place of the form itself when it has no such sub-form, undefined without a form. Where `#.`
   *  made conses before it, the numbers of the text are too low by an unknown count. Then the last form up to that
   *  number that names CALLEE is taken. */
  position(index: number, formNumber: number, callee?: string): SourcePosition | undefined {
    const start = this.formStart(index, formNumber, callee);
    return start === undefined ? undefined : this.#source.positionAt(start);
  }

  /** Gives the index of what POSITION gives the place of. */
  formStart(index: number, formNumber: number, callee?: string): number | undefined {
    const form = formNumber === 0 ? this.#listAt(index) : this.#formAt(index);
    return form && (numberedCons(form, formNumber, callee) ?? form).start;
  }

  /** Tells whether they are the same under FEATURES. */
  holdUnder(features: Features): boolean {
    return this.#features.size === features.size && [...features].every((name) => this.#features.has(name));
  }

  #formAt(index: number): Form | undefined {
    if (this.#last?.index !== index) {
      this.#last = { index, form: readTopLevel(newReader(this.#source.text, index, this.#features)) };
    }
    return this.#last.form;
  }

  /** Gives the form at or after INDEX. Of a list nobody needs more than the place. */
  #listAt(index: number): Form | undefined {
    const { kind, start } = firstToken(newReader(this.#source.text, index, this.#features));
    return kind === '(' ? { kind: 'atom', start } : this.#formAt(index);
  }
}

function newReader(source: string, at: number, features: Features) {
  return { source, at, features, depth: 0, suppressed: false, labels: new Map<number, Form>() };
}

/** Gives the top-level form that TOKEN begins, as an atom when it is cut off or malformed. */
function readTopLevel(reader: Reader, token = firstToken(reader)): Form | undefined {
  const form = read(reader, token);
  if (form !== undefined) return form;
  reader.at = reader.source.length;
  return token.kind === 'end' || token.kind === ')' ? undefined : { kind: 'atom', start: token.start };
}

/** Gives the form at or after INDEX of SOURCE, with what #+ and #- let through under FEATURES. */
export function readForm(source: string, index: number, features: Features): Form | undefined {
  return readTopLevel(newReader(source, index, features));
}

/** Gives the first token of the next top-level form. */
function firstToken(reader: Reader): Token {
  reader.labels.clear();
  return next(reader);
}

/** Gives the next token that #+ and #- let through. */
function next(reader: Reader): Token {
  for (;;) {
    const token = nextToken(reader.source, reader.at, reader.suppressed);
    reader.at = token.end;
    if (token.kind !== '#+' && token.kind !== '#-') return token;
    const test = read(reader, undefined, false);
    const kept = test && holds(test, reader.features) === (token.kind === '#+');
    if (kept === undefined || (!kept && !read(reader, undefined, true))) return { ...token, kind: 'end' };
  }
}

function read(reader: Reader, token?: Token, suppressed = reader.suppressed): Form | undefined {
  if (reader.depth >= MAX_DEPTH) return undefined;
  const outer = reader.suppressed;
  reader.suppressed = suppressed;
  reader.depth++;
  const form = build(reader, token ?? next(reader));
  reader.depth--;
  reader.suppressed = outer;
  return form;
}

function build(reader: Reader, { kind, start, name }: Token): Form | undefined {
  const atom: Form = { kind: 'atom', start, name: OPERATORS.get(kind) ?? name };
  if (kind === 'end' || kind === ')') return undefined;
  if (kind === 'atom' || kind === '.') return atom;
  if (kind === '##') return reader.labels.get(Number(name)) ?? atom;
  if (kind === '(') return readList(reader, start);
  if (kind === '#(') return readList(reader, start) && atom;
  const label: Form = { kind: 'label', start };
  if (kind === '#=') reader.labels.set(Number(name), label);
  const car = read(reader);
  if (car === undefined) return undefined;
  if (kind === '#=' && resolve(car) !== label) label.car = resolve(car);
  if (kind === '#=') return car;
  if (kind === ',') return { kind: 'comma', start, car };
  if (kind === '#.') return { kind: 'made', start };
  if (kind !== "'" && kind !== "#'" && kind !== '`') return atom;
  return { kind: 'cons', start, car: atom, cdr: { kind: 'cons', start, car } };
}

function readList(reader: Reader, start: number): Form | undefined {
  const elements: Form[] = [];
  const tail: Form[] = [];
  let part = elements;
  for (let token = next(reader); token.kind !== ')'; token = next(reader)) {
    const form = read(reader, token);
    if (form === undefined) return undefined;
    if (token.kind === '.') part = tail;
    else part.push(form);
  }
  const cons = (cdr: Form | undefined, car: Form): Form => ({ kind: 'cons', start, car, cdr });
  return elements.reduceRight<Form | undefined>(cons, tail[0]) ?? { kind: 'atom', start };
}

function holds(test: Form, features: Features): boolean {
  const symbol = (test.kind === 'cons' ? test.car : test)?.name ?? '';
  const name = symbol.replace(MARK, symbol.startsWith(MARK) ? '' : '::');
  if (test.kind !== 'cons') return features.has(name);
  for (let cell = test.cdr; cell?.kind === 'cons'; cell = cell.cdr) {
    const value = cell.car !== undefined && holds(cell.car, features);
    if (name === 'NOT') return !value;
    if (value === (name === 'OR')) return value;
  }
  return name === 'AND';
}

/** Gives FORM, or what the label that it is stands for. */
export function resolve(form: Form | undefined): Form | undefined {
  return form?.kind === 'label' && form.car !== undefined ? resolve(form.car) : form;
}

/** Numbers conses as sb-di:form-number-translations does, and gives the one that gets number WANTED, or what
 *  comes nearest to it when `#.` makes the numbers uncertain. */
function numberedCons(form: Form, wanted: number, callee: string | undefined): Form | undefined {
  const numbered = new Set<Form>();
  const pending = [form];
  let uncertain = false;
  let naming: Form | undefined;
  for (let list = pending.pop(); list !== undefined; list = pending.pop()) {
    if (list.kind !== 'cons' || numbered.has(list)) continue;
    const { elements, names, made } = elementsOf(list);
    if (callee !== undefined && names.some((name) => name === callee || name.endsWith(MARK + callee)))
      naming = list;
    if (numbered.size === wanted) return uncertain && callee !== undefined ? naming : list;
    uncertain ||= made;
    numbered.add(list);
    for (const element of elements.reverse()) pending.push(element);
  }
  return uncertain ? naming : undefined;
}

/** Gives the conses in LIST that are looked into, the names in it, and whether `#.` made something in it. */
function elementsOf(list: Form): { elements: Form[]; names: string[]; made: boolean } {
  const elements: Form[] = [];
  const names: string[] = [];
  const cells = new Set<Form>();
  let made = false;
  for (let cell = resolve(list); cell?.kind === 'cons' && !cells.has(cell); cell = resolve(cell.cdr)) {
    const element = resolve(cell.car);
    const looked = element?.kind === 'comma' ? resolve(element.car) : element;
    if (looked?.name === 'QUOTE') break;
    if (looked?.kind === 'cons') elements.push(looked);
    if (looked?.name) names.push(looked.name);
    made ||= looked?.kind === 'made';
    cells.add(cell);
  }
  return { elements, names, made };
}
