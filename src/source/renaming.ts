/** Finds the edits that rename symbols in a text, and the places where the old name stays. */

import { isDefiner } from './definition.ts';
import type { Form } from './form.ts';
import { formatCalls } from './format-calls.ts';
import { addKeywordTakers, isParameter, type KeywordTakers, namesKeyword, takesKeyword } from './keywords.ts';
import { upperCase } from './lexer.ts';
import { isLoopWord } from './loop-words.ts';
import { atomsIn, formsMentioning } from './mentioning.ts';
import { mayDefinePackage, type Packages, type Renaming } from './packages.ts';
import { inCaseOfProse, proseMentions } from './prose.ts';
import { spelled, symbolIn, writtenSymbol } from './symbol-text.ts';
import { type Span, treeOf } from './tree.ts';

/** The renamings to make in a text, and the data that they need. */
export interface Task {
  renamings: readonly Renaming[];
  packages: Packages;
  /** Returns the name of the current package at an index in the text. */
  packageAt: (index: number) => string;
  /** Maps a symbol name to the functions, classes and structures that take the keyword of that name. addTakersIn adds
   * to them before the scan. */
  takers: ReadonlyMap<string, KeywordTakers>;
  /** Whether to rename the keyword of a parameter together with the parameter. */
  keywords: boolean;
  /** Whether to rename in comments and strings. */
  prose: boolean;
}

export interface RenameEdit {
  start: number;
  end: number;
  text: string;
  from: string;
  /** What the edit replaces: the symbol itself; a string, keyword or other symbol with its name ('name'); the keyword
   * of a parameter or slot; or a mention in a comment or string ('prose'). */
  how: 'symbol' | 'name' | 'keyword' | 'prose';
}

/** A place that keeps the old name, and the reason. 'package definition': in a list within an option of a package
 * definition, where the meaning of the name is unknown. */
interface KeptName {
  start: number;
  why: 'prose' | 'string' | 'keyword' | 'word of LOOP' | 'unknown package' | 'package definition';
}

export interface Scan {
  edits: RenameEdit[];
  kept: KeptName[];
  /** Offset of an unclosed form or string, from which on the text was not read. Absent when all was read. */
  unreadableAt?: number;
}

/** Returns the edits that TASK makes in TEXT, sorted by start, and the places that keep an old name. */
export function scanFor(text: string, task: Task): Scan {
  return new Scanner(text, task).scan();
}

/** A place in code: the current package there, and two facts about the top-level form around it: whether the form may
 * contain a package definition, and whether it may contain a lambda list with &KEY. The facts are determined once for
 * each top-level form, because this is slow. */
interface Context {
  current: string;
  mayDefinePackage: boolean;
  mayHaveKeys: boolean;
}

class Scanner {
  readonly #text: string;
  readonly #task: Task;
  readonly #edits: RenameEdit[] = [];
  readonly #kept: KeptName[] = [];

  constructor(text: string, task: Task) {
    this.#text = text;
    this.#task = task;
  }

  scan(): Scan {
    const tree = treeOf(this.#text);
    const byName = new Map(this.#task.renamings.map((renaming) => [renaming.from, renaming]));
    for (const top of formsMentioning(this.#text, [...byName.keys()])) {
      const may = { mayDefinePackage: mayDefinePackage(top.text), mayHaveKeys: /&key/i.test(top.text) };
      for (const part of atomsIn(top)) {
        const renaming = byName.get(part.designatedString ?? '');
        if (renaming === undefined && !part.isString) continue;
        const current = this.#task.packageAt(part.start);
        if (part.isString) this.#string(part, current);
        if (renaming !== undefined) this.#name(part, renaming, { current, ...may });
      }
    }
    for (const { start, end } of tree.gaps()) this.#prose(start, end, 'comment');
    const edits = this.#edits.sort(byStart);
    return {
      edits,
      kept: this.#kept,
      ...(tree.unreadableAt !== undefined && { unreadableAt: tree.unreadableAt }),
    };
  }

  #name(part: Form, renaming: Renaming, context: Context): void {
    const { packages } = this.#task;
    const role = context.mayDefinePackage ? packages.roleInDefinition(part, renaming) : undefined;
    // The order matters. In an option of a package definition, a symbol or keyword is only a name: (:export old). In a
    // list within an option, a call that names the package decides before 'deeper': #.(find-symbol "OLD" :package).
    if (role === 'other') return; // (:use old)
    if (role === 'symbol')
      this.#replace(part, renaming, 'name'); // (:export old)
    else if (!isPlainName(part))
      this.#symbol(part, renaming, context); // (old 1)
    else if (namedWithPackage(part, renaming, packages))
      this.#replace(part, renaming, 'name'); // (intern "OLD" :package)
    else if (role === 'deeper')
      this.#keep(part, 'package definition'); // (:export #.(names :old))
    else if (part.text.startsWith(':') && this.#isTaken(part, renaming))
      this.#replace(part, renaming, 'keyword'); // (f :old 1)
    else this.#keep(part, part.isString ? 'string' : 'keyword'); // (print "OLD")
  }

  /** Returns true when the keyword PART is an argument of a function, class or structure that takes this keyword. */
  #isTaken(part: Form, { from }: Renaming): boolean {
    const takers = this.#task.takers.get(from);
    return takers !== undefined && takesKeyword(part, takers);
  }

  /** Handles PART, a symbol with the old name of RENAMING that is neither a keyword nor uninterned. */
  #symbol(part: Form, renaming: Renaming, { current, mayHaveKeys }: Context): void {
    const { prefix = current } = writtenSymbol(part.text);
    const isRenamed = this.#task.packages.has(renaming, prefix, current);
    if (isRenamed === undefined) this.#keep(part, 'unknown package');
    else if (isRenamed && isLoopWord(part)) this.#keep(part, 'word of LOOP');
    else if (isRenamed) this.#edits.push(symbolEdit(part, renaming, mayHaveKeys && !this.#task.keywords));
  }

  #replace({ start, end, text }: Form, renaming: Renaming, how: RenameEdit['how']): void {
    this.#edits.push({ start, end, text: renamed(text, renaming), from: renaming.from, how });
  }

  #keep({ start }: Pick<Form, 'start'>, why: KeptName['why']): void {
    this.#kept.push({ start, why });
  }

  /** Handles the string PART. It can be a symbol with package prefix, contain a FORMAT directive ~/NAME/, or mention a
   * symbol in prose. */
  #string(part: Form, current: string): void {
    const inside = part.text.slice(1, -1);
    for (const renaming of this.#task.renamings) {
      if (!upperCase(inside).includes(renaming.from)) continue;
      // The pattern demands a package prefix, so `home` is not used for it.
      const whole = /^[^\s:]+::?[^\s:]+$/.test(inside) ? [{ at: 0, written: inside, home: '' }] : [];
      for (const { at, written, home } of [...whole, ...formatCalls(inside)]) {
        const found = symbolIn(written);
        if (found?.name !== renaming.from) continue;
        if (this.#task.packages.has(renaming, found.prefix ?? home, current) !== true) continue;
        const start = part.start + 1 + at;
        // A string that begins with ~/NAME/ can be a path in the user's home directory.
        const isPath = found.prefix === undefined && inside.startsWith('~/') && at === 2;
        if (isPath && !FORMATTING.has(part.parent?.first?.symbolName ?? '')) this.#keep({ start }, 'string');
        else {
          const text = renamed(written, renaming);
          this.#edits.push({ start, end: start + written.length, text, from: renaming.from, how: 'name' });
        }
      }
    }
    this.#prose(part.start + 1, part.end - 1, 'string');
  }

  /** The text from START to END is a comment or in a string. Renames the symbols that it mentions or, without the
   * option `prose`, records that they keep their names. Skips a mention within an edit that is made already. */
  #prose(start: number, end: number, kind: 'comment' | 'string'): void {
    for (const { from, to } of this.#task.renamings) {
      // The edits from START to END are the last ones in the list: #string has just added those in a string, and this
      // loop adds those in prose.
      const before = this.#edits.findLastIndex((edit) => edit.end <= start || edit.start >= end);
      const covered = this.#edits.slice(before + 1).sort(byStart);
      for (const spoken of apartFrom(proseMentions(this.#text, from, start, end), covered)) {
        // A string that is just the name is a designator, not prose.
        if (kind === 'string' && spoken.start === start && spoken.end === end) continue;
        if (this.#task.prose) {
          const text = inCaseOfProse(to, this.#text.slice(spoken.start, spoken.end));
          this.#edits.push({ ...spoken, text, from, how: 'prose' });
        } else this.#keep(spoken, 'prose');
      }
    }
  }
}

function byStart(one: Span, other: Span): number {
  return one.start - other.start;
}

/** Returns those of SPANS that overlap none of OTHERS. Both are sorted by start. */
function apartFrom(spans: readonly Span[], others: readonly Span[]): Span[] {
  let next = 0;
  return spans.filter(({ start, end }) => {
    while ((others[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++;
    return (others[next]?.start ?? Number.POSITIVE_INFINITY) >= end;
  });
}

/** Returns the edit that renames the symbol PART. If PART is a keyword parameter of a function and KEEPS_KEYWORD is
 * true, the edit renames only the variable, so that calls of the function can keep the old keyword. */
function symbolEdit(part: Form, renaming: Renaming, keepsKeyword: boolean): RenameEdit {
  const { start, end, text: token } = part;
  const { from } = renaming;
  const edit: RenameEdit = { start, end, text: renamed(token, renaming), from, how: 'symbol' };
  // In (&key old), OLD names keyword and variable. To keep the keyword for callers, (&key old) becomes
  // (&key ((:old new))), and (&key (old 1)) becomes (&key ((:old new) 1)).
  if (!keepsKeyword || !namesKeyword(part)) return edit;
  const named = `(:${spelled(from, token)} ${edit.text})`;
  return { ...edit, text: part.parent?.first === part && isParameter(part.parent) ? named : `(${named})` };
}

/** Returns TOKEN, a symbol or string, with the new name. Package prefix and case stay. */
function renamed(token: string, { to }: Renaming): string {
  if (token.startsWith('"')) return `"${to.replace(/["\\]/g, '\\$&')}"`;
  const { base } = writtenSymbol(token);
  return token.slice(0, base) + spelled(to, token.slice(base));
}

/** Returns true when PART, a keyword or string, names the symbol in a call such as (intern "NAME" :package). For this,
 * PART must be one of the first two arguments, and the other of the two must name a package that has the symbol. Both
 * arguments can also be calls that return the name or the package, as in (intern (string :name) (find-package
 * :package)). Returns false in definitions and their options, and when a package has the same name as the symbol. */
function namedWithPackage(part: Form, renaming: Renaming, packages: Packages): boolean {
  if (packages.knows(renaming.from)) return false;
  let argument = part;
  while (argument.parent?.elements[1] === argument && isCallOf(RETURNING_NAME, argument.parent))
    argument = argument.parent;
  let other = otherArgument(argument);
  while (other !== undefined && isCallOf(RETURNING_PACKAGE, other)) other = other.elements[1];
  const name = other !== undefined && isPlainName(other) ? (other.designatedString ?? '') : '';
  return name !== '' && packages.knows(packages.proper(name)) && packages.has(renaming, name) === true;
}

/** Operators whose calls return the name that the first argument designates, as in (string :name). */
const RETURNING_NAME: ReadonlySet<string> = new Set([
  'STRING',
  'STRING-CAPITALIZE',
  'STRING-DOWNCASE',
  'STRING-UPCASE',
  'SYMBOL-NAME',
]);

/** Operators whose calls designate the same package as their first argument, as in (find-package :app). */
const RETURNING_PACKAGE: ReadonlySet<string> = new Set([
  ...RETURNING_NAME,
  'FIND-PACKAGE',
  'FIND-PACKAGE*', // of UIOP
  'LOAD-TIME-VALUE',
  'PACKAGE-NAME',
]);

/** Returns true when FORM is a call of one of OPERATORS, and not quoted. */
function isCallOf(operators: ReadonlySet<string>, form: Form): boolean {
  return isCall(form) && operators.has(form.first?.symbolName ?? '') && !form.prefixes.includes("'");
}

/** Returns the other one of the first two arguments of the call around PART. Returns undefined when PART is a later
 * argument, and when the list around PART is a definition or not a call. */
function otherArgument(part: Form): Form | undefined {
  const { parent } = part;
  if (parent === undefined || !isCall(parent) || isDefiner(parent.first?.symbolName ?? '')) return undefined;
  const [, first, second] = parent.elements;
  return part === first ? second : part === second ? first : undefined;
}

/** Returns true when a list looks like a call: its first element is a symbol, neither keyword nor uninterned. */
function isCall({ first }: Form): boolean {
  return first !== undefined && first.symbolName !== '' && !isPlainName(first);
}

/** Returns true when PART is a string, a keyword or an uninterned symbol: a name without a package. */
function isPlainName(part: Form): boolean {
  return part.isString || (part.symbolName !== '' && /^#?:/.test(part.text));
}

/** Operators that take a FORMAT control string. In a string elsewhere, a leading ~/NAME/ may be a path. */
const FORMATTING = new Set(
  (
    'BREAK CERROR ERROR FORMAT FORMATTER INVALID-METHOD-ERROR METHOD-COMBINATION-ERROR SIGNAL WARN Y-OR-N-P ' +
    'YES-OR-NO-P'
  ).split(' '),
);

/** Adds definitions in TEXT to the `takers` of TASK: those that have the symbol of RENAMING as a keyword parameter, or
 * as a slot with an initarg of that name. Their calls take a keyword of that name. */
export function addTakersIn(text: string, renaming: Renaming, task: Task): void {
  const takers = task.takers.get(renaming.from);
  if (takers === undefined) return;
  const named = (part: Form) => {
    if (part.symbolName !== renaming.from) return false;
    const { prefix } = writtenSymbol(part.text);
    if (prefix === '' || prefix === '#') return false; // a keyword or an uninterned symbol
    const current = task.packageAt(part.start);
    return task.packages.has(renaming, prefix ?? current, current) === true;
  };
  for (const form of formsMentioning(text, [renaming.from])) addKeywordTakers(form, named, takers);
}
