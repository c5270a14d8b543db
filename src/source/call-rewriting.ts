/** Rewrites the calls of a function in a source text by a pattern, for example after a change of its lambda list. */

import type { CallMention } from './calls.ts';
import { elementsOf, type Form, formsWithin, readForm, symbolNameOf } from './form.ts';
import { argumentOf, checkFit, type LambdaList } from './lambda-list.ts';
import { PACKAGE_MARKER, withoutPackage } from './lexer.ts';
import { type Argument, isKeyword, NewArguments, type Reason, Unfit } from './new-arguments.ts';
import type { Splice } from './splice.ts';
import type { SourceText } from './text.ts';
import type { Span } from './tree.ts';

/** A rule to rewrite calls. A call of `operator` is replaced by `replacement`, in which each parameter stands for its
 * arguments in the call. */
export interface CallPattern {
  operator: string;
  required: string[];
  optional: string[];
  /** Maps a keyword of the call to the parameter that stands for its value. */
  keys: Map<string, string>;
  rest?: string;
  replacement: Form;
}

/** Returns the pattern that rewrites calls such as FROM, `(NAME PARAMETER ... &optional ... &key ...)`, to TO. Returns
 * an error message when FROM or TO is malformed. */
export function callPatternOf(from: string, to: string): CallPattern | string {
  const [old, replacement] = [wholeList(from), wholeList(to)];
  if (old === undefined) return "Parameter 'old' must be one call, such as (area shape &key unit)";
  if (replacement === undefined) return "Parameter 'new' must be one call, such as (area :of shape)";
  for (const [name, form] of [
    ['old', old],
    ['new', replacement],
  ] as const)
    if (!hasBlanksOnly(form.tree.text, form, elementsOf(form)))
      return `Parameter '${name}' has a dot, a comment, #+ or #- between its elements. Leave this out: the new calls would lose it`;
  const pattern: CallPattern = {
    operator: symbolNameOf(old.first),
    required: [],
    optional: [],
    keys: new Map(),
    replacement,
  };
  // The lambda list keyword before PART; '' before the first one.
  let mode = '';
  for (const part of elementsOf(old).slice(1)) {
    const name = symbolNameOf(part);
    if (name === '' || part.name?.startsWith(PACKAGE_MARKER) || !Number.isNaN(Number(name)))
      return `Parameter 'old' must have a plain symbol for each argument, not ${part.oneLine}`;
    if (name.startsWith('&')) mode = name;
    else if (mode === '') pattern.required.push(name);
    else if (mode === '&OPTIONAL') pattern.optional.push(name);
    else if (mode === '&KEY') pattern.keys.set(name, name);
    else if (mode === '&REST' && pattern.rest === undefined) pattern.rest = name;
    else return `Parameter 'old' can have only &optional, &rest and &key, not ${mode}`;
  }
  return pattern;
}

/** Returns true when PATTERN changes only arguments: its new calls call the same function as its old calls. */
export function keepsOperator({ operator, replacement }: CallPattern): boolean {
  return symbolNameOf(replacement.first) === operator;
}

/** Returns true when the new calls of PATTERN may be written for LIST, the lambda list that the function has in the
 * image: they fit LIST, or have too few arguments for it. Otherwise the image probably still has the function from
 * before its change. */
export function isMeantFor({ replacement, rest }: CallPattern, list: LambdaList): boolean {
  const args = elementsOf(replacement)
    .slice(1)
    .map((part) => (symbolNameOf(part) === rest ? { unknown: true } : argumentOf(part)));
  return args.length < list.required || typeof checkFit(list, args) !== 'string';
}

/** Returns TEXT as a list; undefined unless TEXT is exactly one list. */
function wholeList(text: string): Form | undefined {
  const form = readForm(text.trim(), 0, new Set());
  return form?.kind === 'cons' && form.tokenKind === '(' && form.end === text.trim().length
    ? form
    : undefined;
}

/** Returns true when only white space is between ELEMENTS, the elements of the list FORM in TEXT. */
function hasBlanksOnly(text: string, form: Form, elements: readonly Form[]): boolean {
  const ends = [form.start + 1, ...elements.map(({ end }) => end)];
  const starts = [...elements.map(({ start }) => start), form.end - 1];
  return starts.every((start, index) => !/\S/.test(text.slice(ends[index], start)));
}

/** A mention of a function that is not rewritten, and the reason. */
export interface KeptMention extends Reason {
  start: number;
}

/** Returns the lambda list of the function that a rewritten call calls; undefined when it is not known. TOP is the
 * start of the top-level form that contains the call. */
export type ListAt = (top: number) => LambdaList | undefined;

/** Returns the splices that rewrite those calls among MENTIONS that fit PATTERN, also calls inside other calls. Returns
 * the other mentions in `kept`, with the reasons why they are not rewritten. Skips the mentions within REPLACED. */
export function rewriteCalls(
  source: SourceText,
  mentions: readonly CallMention[],
  pattern: CallPattern,
  replaced: readonly Span[],
  listAt: ListAt,
): { splices: Splice[]; kept: KeptMention[] } {
  return new Rewriting(source.text, pattern, listAt).rewrite(
    mentions.filter(({ start }) => !replaced.some((span) => span.start <= start && start < span.end)),
  );
}

/** Maps a parameter of a pattern to the arguments for which it stands in a call. */
type Bindings = Map<string, readonly Form[]>;

class Rewriting {
  readonly #text: string;
  readonly #pattern: CallPattern;
  readonly #listAt: ListAt;
  /** Maps the start of a call to its end and its new text. */
  readonly #rewritten = new Map<number, { end: number; text: string }>();

  constructor(text: string, pattern: CallPattern, listAt: ListAt) {
    this.#text = text;
    this.#pattern = pattern;
    this.#listAt = listAt;
  }

  rewrite(mentions: readonly CallMention[]): { splices: Splice[]; kept: KeptMention[] } {
    const kept: KeptMention[] = [];
    // Inner calls are rewritten first, so that an outer call contains their new text.
    for (const { start, top, how, call } of mentions.toSorted((one, other) => other.start - one.start)) {
      // Only a mention in code that calls the function, also by FUNCALL, has a `call`.
      if (call === undefined) {
        kept.push({ start, why: how ?? 'in a backquote or as data' });
        continue;
      }
      try {
        const text = this.#newCall(call.form, call.elements, this.#listAt(top));
        this.#rewritten.set(start, { end: call.form.end, text });
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        kept.push({ start, ...error.reason });
      }
    }
    return { splices: this.#outermost(0, this.#text.length), kept: kept.reverse() };
  }

  /** Returns the splices for the rewritten calls that begin from offset FROM to offset TO. Leaves out calls inside
   * other rewritten calls. */
  #outermost(from: number, to: number): Splice[] {
    const splices: Splice[] = [];
    for (const [start, { end, text }] of [...this.#rewritten].sort(([one], [other]) => one - other))
      if (start >= (splices.at(-1)?.end ?? from) && start < to) splices.push({ start, end, text });
    return splices;
  }

  /** Returns the new text of the call FORM, whose elements are ELEMENTS. LIST is the lambda list of the function that
   * the new call calls; undefined when it is unknown. A FUNCALL of the function stays a FUNCALL. */
  #newCall(form: Form, elements: readonly Form[], list: LambdaList | undefined): string {
    // The new call would lose a comment.
    if (!hasBlanksOnly(this.#text, form, elements))
      throw new Unfit('a comment, #+, #- or a dot stands between its arguments');
    const { operator, replacement } = this.#pattern;
    const isSameFunction = keepsOperator(this.#pattern);
    const isFuncall = symbolNameOf(elements[0]) !== operator;
    if (isFuncall && !isSameFunction) throw new Unfit("called by FUNCALL, but 'new' calls another function");
    // FUNCALL and the function, or only the operator.
    const head = elements.slice(0, isFuncall ? 2 : 1);
    const begin = isSameFunction
      ? head.map((part) => this.#source(part)).join(' ')
      : (replacement.first?.text ?? '');
    const bindings = this.#bindings(elements.slice(head.length));
    return this.#laidOut(form, begin, this.#arguments(bindings, list));
  }

  #bindings(args: readonly Form[]): Bindings {
    const { required, optional, rest, keys } = this.#pattern;
    if (args.some(({ kind }) => kind === 'comma')) throw new Unfit('in a backquote or as data');
    if (args.length < required.length) throw new Unfit("it has fewer arguments than 'old'");
    const bindings: Bindings = new Map();
    const positional = [...required, ...optional];
    positional.slice(0, args.length).forEach((name, index) => {
      bindings.set(name, [args[index] as Form]);
    });
    const remaining = args.slice(positional.length);
    if (rest !== undefined) bindings.set(rest, remaining);
    if (keys.size > 0) this.#bindKeys(remaining, bindings);
    else if (remaining.length > 0 && rest === undefined) throw new Unfit("it has more arguments than 'old'");
    return bindings;
  }

  #bindKeys(args: readonly Form[], bindings: Bindings): void {
    for (let index = 0; index < args.length; index += 2) {
      const [keyword, value] = [args[index], args[index + 1]];
      const name = keyword?.name ?? '';
      if (!name.startsWith(PACKAGE_MARKER) || value === undefined)
        throw new Unfit('its keywords are not written out');
      const parameter = this.#pattern.keys.get(withoutPackage(name));
      if (parameter === undefined)
        throw new Unfit("it has a keyword that 'old' lacks", { what: keyword?.text });
      // If a call has a keyword twice, the first one counts.
      if (!bindings.has(parameter)) bindings.set(parameter, [value]);
    }
  }

  /** Returns the arguments of the new call. LIST is as in `#newCall`. Throws an Unfit when a required argument would be
   * missing. */
  #arguments(bindings: Bindings, list: LambdaList | undefined): readonly Argument[] {
    const { replacement, rest } = this.#pattern;
    const callee = { name: symbolNameOf(replacement.first), list, same: keepsOperator(this.#pattern) };
    const result = new NewArguments(callee);
    for (const [nth, part] of elementsOf(replacement).slice(1).entries()) {
      if (!this.#isParameter(part)) {
        if (isKeyword(part)) result.addKeyword(part, nth);
        else result.add({ text: this.#filledIn(part, bindings) });
        continue;
      }
      const parameter = symbolNameOf(part);
      const forms = bindings.get(parameter) ?? [];
      const [form] = forms;
      if (parameter === rest) result.addRest(parameter, forms, (each) => this.#source(each));
      else if (form === undefined) result.omit(parameter);
      else result.add({ text: this.#source(form), form });
    }
    return result.all();
  }

  /** Returns the text of PART, an element of the pattern's `replacement`. The arguments of the call replace the
   * parameters in it. */
  #filledIn(part: Form, bindings: Bindings): string {
    const { text: template } = part.tree;
    let [text, at] = ['', part.start];
    for (const inner of formsWithin(part)) {
      if (!this.#isParameter(inner)) continue;
      const bound = bindings.get(symbolNameOf(inner));
      if (bound === undefined)
        throw new Unfit("it lacks an argument that 'new' needs", { what: symbolNameOf(inner) });
      text += template.slice(at, inner.start) + bound.map((form) => this.#source(form)).join(' ');
      at = inner.end;
    }
    return text + template.slice(at, part.end);
  }

  #isParameter(form: Form): boolean {
    const { required, optional, rest, keys } = this.#pattern;
    if (form.notation !== 'atom' || isKeyword(form)) return false;
    return [...required, ...optional, rest, ...keys.values()].includes(symbolNameOf(form));
  }

  /** Returns the source text of a span, in which the rewritten calls have their new text. */
  #source({ start, end }: Span): string {
    let [text, at] = ['', start];
    for (const inner of this.#outermost(start, end)) {
      text += this.#text.slice(at, inner.start) + inner.text;
      at = inner.end;
    }
    return text + this.#text.slice(at, end);
  }

  /** Returns the text of a call that begins with BEGIN, has ARGS, and replaces FORM. If the call does not fit on one
   * line, each argument gets a line of its own, but a keyword shares the line of its value. */
  #laidOut({ start, end }: Form, begin: string, args: readonly Argument[]): string {
    const oneLine = `(${[begin, ...args.map(({ text }) => text)].join(' ')})`;
    const column = this.#column(start);
    const closing = this.#text.slice(end).match(/^\)*/)?.[0].length ?? 0;
    if (args.length === 0 || (column + oneLine.length + closing <= LINE_WIDTH && !oneLine.includes('\n')))
      return oneLine;
    const indent = column + begin.length + 2;
    const rows: string[] = [];
    for (const arg of args) {
      const last = rows.at(-1) ?? '';
      if (isKeywordText(last))
        rows[rows.length - 1] = `${last} ${this.#indented(arg, indent + last.length + 1)}`;
      else rows.push(this.#indented(arg, indent));
    }
    return `(${begin} ${rows.join(`\n${' '.repeat(indent)}`)})`;
  }

  /** Returns the text of an argument that begins in COLUMN. Indents its further lines to match. Leaves the text as it
   * is if it has a string or symbol of several lines, because white space is part of that value. */
  #indented({ text, form }: Argument, column: number): string {
    if (form === undefined || !text.includes('\n') || hasAtomOverLines(form)) return text;
    const by = column - this.#column(form.start);
    return text.replace(
      /\n( *)(?=[^ \n])/g,
      (_, blanks: string) => `\n${' '.repeat(Math.max(0, blanks.length + by))}`,
    );
  }

  #column(at: number): number {
    return at - (this.#text.lastIndexOf('\n', at - 1) + 1);
  }
}

function isKeywordText(text: string): boolean {
  return text.startsWith(':') && !/\s/.test(text);
}

function hasAtomOverLines(form: Form): boolean {
  return [...formsWithin(form)].some((inner) => inner.notation === 'atom' && inner.text.includes('\n'));
}

const LINE_WIDTH = 100;
