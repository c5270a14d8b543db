/** Reads Lisp text into the forms that the SBCL reader would build, each part with its offset. */

import { bare, MARK, nextToken, type Token } from './lexer.ts';

/** Feature names: 'SBCL' for a keyword, otherwise 'PACKAGE::NAME'. */
export type Features = ReadonlySet<string>;
type Reader = ReturnType<typeof newReader>;

/** A form as read. 'cons' is a list, with CAR and CDR. 'comma' has as CAR the form behind the comma, 'label' (#1=) the
 *  labelled form. 'made' is a `#.` form: CAR is the form to evaluate, NAME the name of that form. 'atom' is anything
 *  else; NAME is as in Token, and missing for (). TEMPLATE marks the list that stands for a backquote. */
export interface Form {
  kind: 'atom' | 'comma' | 'cons' | 'label' | 'made';
  start: number;
  name?: string;
  /** Offset of the first #+ or #- directly before it, if any. */
  lead?: number;
  template?: true;
  car?: Form | undefined;
  cdr?: Form | undefined;
}

/** UTF-16 indices of a part of a text. */
export interface Span {
  start: number;
  end: number;
}

const MAX_DEPTH = 500; // A form nested deeper counts as malformed, lest it overflow the stack.

/** By macro character: the operator of the list that the reader builds, as (QUOTE X) for 'X. */
const OPERATORS = new Map([
  ["'", 'QUOTE'],
  ["#'", 'FUNCTION'],
]);

/** Returns the state of a reader of SOURCE at index AT, under FEATURES. */
export function newReader(source: string, at: number, features: Features) {
  const labels = new Map<number, Form>();
  const skipped: Span[] = [];
  const lead = undefined as number | undefined;
  return { source, at, features, depth: 0, suppressed: false, lead, labels, skipped };
}

/** Returns the spans that #+ and #- exclude under FEATURES from the form at or after INDEX of SOURCE. Each span begins
 *  at its #+ or #-. */
export function skippedIn(source: string, index: number, features: Features): readonly Span[] {
  const reader = newReader(source, index, features);
  readTopLevel(reader);
  return reader.skipped;
}

/** Returns the top-level form that TOKEN begins. A malformed or cut off form is an atom, and READER then is at the end
 *  of the text. Returns undefined at the end of the text or at a `)`. */
export function readTopLevel(reader: Reader, token = firstToken(reader)): Form | undefined {
  const form = read(reader, token);
  if (form !== undefined) return form;
  reader.at = reader.source.length;
  return token.kind === 'end' || token.kind === ')' ? undefined : { kind: 'atom', start: token.start };
}

/** Returns the form at or after INDEX of SOURCE, without what #+ and #- exclude under FEATURES. */
export function readForm(source: string, index: number, features: Features): Form | undefined {
  return readTopLevel(newReader(source, index, features));
}

/** Returns the first token of the next top-level form. */
export function firstToken(reader: Reader): Token {
  reader.labels.clear();
  return next(reader);
}

/** Returns the next token that #+ and #- do not exclude. Sets `reader.lead` to the first #+ or #- before it. */
function next(reader: Reader): Token {
  for (let lead: number | undefined; ; ) {
    const token = nextToken(reader.source, reader.at, reader.suppressed);
    reader.at = token.end;
    if (token.kind !== '#+' && token.kind !== '#-') {
      reader.lead = lead;
      return token;
    }
    const test = read(reader, undefined, false);
    const kept = test && holds(test, reader.features) === (token.kind === '#+');
    if (kept === undefined || (!kept && !read(reader, undefined, true))) return { ...token, kind: 'end' };
    lead = kept ? (lead ?? token.start) : undefined;
    if (!kept) reader.skipped.push({ start: token.start, end: reader.at });
  }
}

function read(reader: Reader, token?: Token, suppressed = reader.suppressed): Form | undefined {
  if (reader.depth >= MAX_DEPTH) return undefined;
  const outer = reader.suppressed;
  reader.suppressed = suppressed;
  reader.depth++;
  const first = token ?? next(reader);
  const { lead } = reader;
  const form = build(reader, first);
  if (form !== undefined && lead !== undefined) form.lead = lead;
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
  if (kind === '#.') return { kind: 'made', start, name: car.name ?? '', car };
  if (kind === '`')
    return { kind: 'cons', start, template: true, car: atom, cdr: { kind: 'cons', start, car } };
  return OPERATORS.has(kind) ? { kind: 'cons', start, car: atom, cdr: { kind: 'cons', start, car } } : atom;
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

/** Returns whether the feature expression TEST is true. */
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

/** Returns the name of the symbol FORM without its package. */
export function bareName(form: Form | undefined): string {
  return bare(resolve(form)?.name ?? '');
}

/** Returns FORM, or the form that it labels. */
export function resolve(form: Form | undefined): Form | undefined {
  return form?.kind === 'label' && form.car !== undefined ? resolve(form.car) : form;
}

/** Returns the elements of FORM, labels resolved; none when it is no list. */
export function elementsOf(form: Form | undefined): Form[] {
  const elements: Form[] = [];
  const cells = new Set<Form>();
  for (let cell = resolve(form); cell?.kind === 'cons' && !cells.has(cell); cell = resolve(cell.cdr)) {
    cells.add(cell);
    const element = resolve(cell.car);
    if (element !== undefined) elements.push(element);
  }
  return elements;
}

/** Returns the text of FORM, a part of TEXT. */
export function formText(text: string, { start, kind }: Form): string {
  let depth = 0;
  for (let at = start; ; ) {
    const token = nextToken(text, at, false);
    if (token.kind === 'end') return text.slice(start);
    if (token.kind.endsWith('(')) depth++;
    if (token.kind === ')') depth--;
    at = token.end;
    const prefix = /^[',`#]/.test(token.kind) && !token.kind.endsWith('(') && token.kind !== '##';
    // An atom that begins with a prefix is either the operator for which the prefix stands, as ' for QUOTE, and ends
    // behind the prefix. Or it is a literal with a prefix, such as #P"a".
    const operator = kind === 'atom' && (token.kind === '`' || OPERATORS.has(token.kind));
    if (depth === 0 && (!prefix || operator)) return text.slice(start, at);
  }
}
