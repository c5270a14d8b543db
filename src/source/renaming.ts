/** Finds the edits that rename symbols in a text, and the places where the old name stays. */

import type { Form } from './form.ts';
import { formatCalls } from './format-calls.ts';
import { isParameter, namesKeyword, noteTakers, type Takers, takesKeyword } from './keywords.ts';
import { upperCase } from './lexer.ts';
import { atomsIn, formsMentioning } from './mentioning.ts';
import { mayDefinePackage, type Packages, type Renaming } from './packages.ts';
import { spokenAs, spokenOf } from './prose.ts';
import { spelled, symbolIn, writtenSymbol } from './symbol-text.ts';
import { treeOf } from './tree.ts';

/** What to rename in a text. */
export interface Task {
  renamings: readonly Renaming[];
  packages: Packages;
  packageAt: (index: number) => string;
  /** By symbol name: the functions, classes and structures that take the keyword of that name. */
  takers: ReadonlyMap<string, Takers>;
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
  /** What the edit replaces: the symbol itself; a string, keyword or other symbol with its name ('name'); the
   *  keyword of a parameter or slot; or a mention in a comment or string ('prose'). */
  how: 'symbol' | 'name' | 'keyword' | 'prose';
}

/** A place that keeps the old name, and the reason. 'package definition': in a list within an option of a
 *  package definition, where the meaning of the name is unknown. */
interface KeptName {
  start: number;
  why: 'prose' | 'string' | 'keyword' | 'word of LOOP' | 'unknown package' | 'package definition';
}

export interface Scan {
  edits: RenameEdit[];
  kept: KeptName[];
  /** Offset of an unclosed form or string. The text from there on was not read. */
  cut?: number;
}

/** Returns the edits that TASK makes in TEXT, sorted by start, and the places that keep an old name. */
export function scanFor(text: string, task: Task): Scan {
  return new Scanner(text, task).scan();
}

/** Properties of a top-level form, determined once because a test for each part is slow. */
interface May {
  definePackage: boolean;
  takeKeys: boolean;
}

/** The current package at a place in code, and the properties of the top-level form around it. */
interface Context {
  current: string;
  may: May;
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
      const may = { definePackage: mayDefinePackage(top.text), takeKeys: /&key/i.test(top.text) };
      for (const part of atomsIn(top)) {
        const renaming = byName.get(part.designated ?? '');
        if (renaming === undefined && !part.isString) continue;
        const current = this.#task.packageAt(part.start);
        if (part.isString) this.#string(part, current);
        if (renaming !== undefined) this.#name(part, renaming, { current, may });
      }
    }
    for (const { start, end } of tree.gaps()) this.#prose(start, end, 'comment');
    const edits = this.#edits.sort((one, other) => one.start - other.start);
    return { edits, kept: this.#kept, ...(tree.cut !== undefined && { cut: tree.cut }) };
  }

  #name(part: Form, renaming: Renaming, context: Context): void {
    const { packages } = this.#task;
    const inPackageDefinition = context.may.definePackage ? packages.inDefinition(part, renaming) : undefined;
    if (inPackageDefinition === 'symbol') this.#replace(part, renaming, 'name');
    if (inPackageDefinition === 'symbol' || inPackageDefinition === 'other') return;
    const { prefix } = part.isString ? { prefix: '#' } : writtenSymbol(part.text);
    if (prefix !== '' && prefix !== '#') this.#symbol(part, renaming, prefix, context);
    else if (namedBeside(part, renaming, packages)) this.#replace(part, renaming, 'name');
    else if (inPackageDefinition === 'deeper') this.#keep(part, 'package definition');
    else if (prefix === '' && this.#isTaken(part, renaming)) this.#replace(part, renaming, 'keyword');
    else this.#keep(part, part.isString ? 'string' : 'keyword');
  }

  /** True when the keyword PART is an argument to a function, class or structure that takes it. */
  #isTaken(part: Form, { from }: Renaming): boolean {
    const takers = this.#task.takers.get(from);
    return takers !== undefined && takesKeyword(part, takers);
  }

  /** Handles PART, a symbol with the old name. PREFIX is the package that the text writes before it, if
   *  any. */
  #symbol(part: Form, renaming: Renaming, prefix: string | undefined, { current, may }: Context): void {
    const isRenamed = this.#task.packages.has(renaming, prefix ?? current, current);
    if (isRenamed === undefined) this.#keep(part, 'unknown package');
    else if (isRenamed && isLoopWord(part)) this.#keep(part, 'word of LOOP');
    else if (isRenamed) this.#edits.push(symbolEdit(part, renaming, may.takeKeys && !this.#task.keywords));
  }

  #replace({ start, end, text }: Form, renaming: Renaming, how: RenameEdit['how']): void {
    this.#edits.push({ start, end, text: renamed(text, renaming), from: renaming.from, how });
  }

  #keep({ start }: Pick<Form, 'start'>, why: KeptName['why']): void {
    this.#kept.push({ start, why });
  }

  /** Handles the string PART. It can be a symbol with package prefix, contain a FORMAT directive ~/NAME/, or
   *  mention a symbol in prose. */
  #string(part: Form, current: string): void {
    const inside = part.text.slice(1, -1);
    for (const renaming of this.#task.renamings) {
      if (!upperCase(inside).includes(renaming.from)) continue;
      const whole = /^[^\s:]+::?[^\s:]+$/.test(inside) ? [{ at: 0, written: inside, home: '' }] : [];
      for (const { at, written, home } of [...whole, ...formatCalls(inside)]) {
        const found = symbolIn(written);
        if (found?.name !== renaming.from) continue;
        if (this.#task.packages.has(renaming, found.prefix ?? home, current) !== true) continue;
        const start = part.start + 1 + at;
        // A string that begins with ~/NAME/ can be a path in the user's home directory.
        const isPath = found.prefix === undefined && inside.startsWith('~/') && at === 2;
        if (isPath && !FORMATTING.has(part.parent?.first?.bare ?? '')) this.#keep({ start }, 'string');
        else {
          const text = renamed(written, renaming);
          this.#edits.push({ start, end: start + written.length, text, from: renaming.from, how: 'name' });
        }
      }
    }
    this.#prose(part.start + 1, part.end - 1, 'string');
  }

  /** Handles the mentions of the symbols from START to END of the text, in a comment or a string. Skips
   *  mentions within an edit. */
  #prose(start: number, end: number, kind: 'comment' | 'string'): void {
    for (const renaming of this.#task.renamings) {
      const outside = this.#edits.findLastIndex((edit) => edit.end <= start || edit.start >= end);
      const there = this.#edits.slice(outside + 1).sort((one, other) => one.start - other.start);
      let next = 0;
      for (const spoken of spokenOf(this.#text, renaming.from, start, end)) {
        // A string with only the name is a designator, not prose.
        if (kind === 'string' && spoken.start === start && spoken.end === end) continue;
        while ((there[next]?.end ?? Number.POSITIVE_INFINITY) <= spoken.start) next++;
        if ((there[next]?.start ?? Number.POSITIVE_INFINITY) < spoken.end) continue;
        if (this.#task.prose) {
          const text = spokenAs(renaming.to, this.#text.slice(spoken.start, spoken.end));
          this.#edits.push({ ...spoken, text, from: renaming.from, how: 'prose' });
        } else this.#keep(spoken, 'prose');
      }
    }
  }
}

/** Returns the edit that renames the symbol PART. With KEEPS_KEYWORD, a keyword parameter keeps its keyword
 *  for callers. */
function symbolEdit(part: Form, renaming: Renaming, keepsKeyword: boolean): RenameEdit {
  const { start, end, text: token } = part;
  const edit: RenameEdit = {
    start,
    end,
    text: renamed(token, renaming),
    from: renaming.from,
    how: 'symbol',
  };
  // In (&key old), OLD is keyword and variable. ((:old new)) keeps the keyword for callers.
  if (!keepsKeyword || !namesKeyword(part)) return edit;
  const named = `(:${spelled(renaming.from, token)} ${edit.text})`;
  return { ...edit, text: part.parent?.first === part && isParameter(part.parent) ? named : `(${named})` };
}

/** Returns TOKEN, a symbol or string, with the new name. Package prefix and case stay. */
function renamed(token: string, { to }: Renaming): string {
  if (token.startsWith('"')) return `"${to.replace(/["\\]/g, '\\$&')}"`;
  const { base } = writtenSymbol(token);
  return token.slice(0, base) + spelled(to, token.slice(base));
}

/** True when PART, a keyword or string, names the symbol in a call such as (intern "NAME" :package). It must
 *  be one of the first two arguments, and the other one must name a package that has the symbol. False in
 *  definitions and their options, and when a package has the same name. */
function namedBeside(part: Form, renaming: Renaming, packages: Packages): boolean {
  if (packages.knows(renaming.from)) return false;
  const means = (other: Form) => {
    const name = isPlainName(other) ? (other.designated ?? '') : '';
    return name !== '' && packages.knows(packages.proper(name)) && packages.has(renaming, name) === true;
  };
  const beside = otherArgument(part);
  if (beside !== undefined && means(beside)) return true;
  const outer = part.parent && isCall(part.parent) ? otherArgument(part.parent) : undefined;
  return outer !== undefined && (means(outer) || (isCall(outer) && outer.elements.some(means)));
}

/** Returns the other of the first two arguments of the call around PART. Returns undefined when PART is
 *  another argument, and when the list is a definition or no call. */
function otherArgument(part: Form): Form | undefined {
  const { parent } = part;
  if (parent === undefined || !isCall(parent) || parent.first?.bare.startsWith('DEF')) return undefined;
  const [, first, second] = parent.elements;
  return part === first ? second : part === second ? first : undefined;
}

/** True when a list looks like a call: its first element is a symbol, neither keyword nor uninterned. */
function isCall({ first }: Form): boolean {
  return first !== undefined && first.bare !== '' && !isPlainName(first);
}

function isPlainName(part: Form): boolean {
  return part.isString || (part.bare !== '' && /^#?:/.test(part.text));
}

const FORMATTING = new Set(
  (
    'BREAK CERROR ERROR FORMAT FORMATTER INVALID-METHOD-ERROR METHOD-COMBINATION-ERROR SIGNAL WARN Y-OR-N-P ' +
    'YES-OR-NO-P'
  ).split(' '),
);

/** Words that LOOP recognizes by name, in any package. */
const LOOP_WORDS = new Set(
  (
    'ABOVE ACROSS ALWAYS AND APPEND APPENDING AS BEING BELOW BY COLLECT COLLECTING COUNT COUNTING DO DOING DOWNFROM ' +
    'DOWNTO EACH ELSE END EXTERNAL-SYMBOL EXTERNAL-SYMBOLS FINALLY FOR FROM HASH-KEY HASH-KEYS HASH-VALUE HASH-VALUES ' +
    'IF IN INITIALLY INTO IT MAXIMIZE MAXIMIZING MINIMIZE MINIMIZING NAMED NCONC NCONCING NEVER OF OF-TYPE ON ' +
    'PRESENT-SYMBOL PRESENT-SYMBOLS REPEAT RETURN SUM SUMMING SYMBOL SYMBOLS THE THEN THEREIS TO UNLESS UNTIL UPFROM ' +
    'UPTO USING WHEN WHILE WITH'
  ).split(' '),
);

/** Words of LOOP that a variable, a type or a form always follows, never another word. */
const BEFORE_FORMS = new Set(
  (
    'ABOVE ACROSS ALWAYS APPEND APPENDING AS BELOW BY COLLECT COLLECTING COUNT COUNTING DOWNFROM DOWNTO FOR FROM IF IN INTO ' +
    'MAXIMIZE MAXIMIZING MINIMIZE MINIMIZING NAMED NCONC NCONCING NEVER OF OF-TYPE ON REPEAT RETURN SUM SUMMING THEN THEREIS TO ' +
    'UNLESS UNTIL UPFROM UPTO WHEN WHILE WITH'
  ).split(' '),
);

/** By word of LOOP: what a later AND adds, either variables, as in (for x in a and y in b), or clauses. */
const JOINED = new Map(
  ['FOR', 'AS', 'WITH', 'IF', 'WHEN', 'UNLESS'].map((word, index) => [
    word,
    index < 3 ? 'variables' : 'clauses',
  ]),
);

const loopWords = new WeakMap<Form, ReadonlySet<Form>>();

/** True when PART is a word of LOOP, such as FOR, not a form or variable of that name. */
function isLoopWord(part: Form): boolean {
  const { parent, bare } = part;
  if (!LOOP_WORDS.has(bare) || parent?.first?.bare !== 'LOOP') return false;
  const words = loopWords.get(parent) ?? wordsOfLoop(parent);
  loopWords.set(parent, words);
  return words.has(part);
}

/** Returns the words of LOOP among the elements. A form or variable named like a word is left out. */
function wordsOfLoop({ elements }: Form): ReadonlySet<Form> {
  const words = new Set<Form>();
  let joined: string | undefined;
  for (const [index, part] of elements.entries()) {
    const before = elements[index - 1];
    if (before === undefined || !LOOP_WORDS.has(part.bare)) continue;
    const behindAnd = joined === 'variables' && before.bare === 'AND';
    const isForm = before.bare === '=' || (words.has(before) && (behindAnd || BEFORE_FORMS.has(before.bare)));
    // IT is always a word: it is the value of the last test.
    if (isForm && part.bare !== 'IT') continue;
    words.add(part);
    joined = JOINED.get(part.bare) ?? joined;
  }
  return words;
}

/** Adds to TASK's takers the definitions in TEXT that have the symbol of RENAMING as a keyword parameter or
 *  as an initarg. */
export function noteKeywords(text: string, renaming: Renaming, task: Task): void {
  const takers = task.takers.get(renaming.from);
  if (takers === undefined) return;
  const named = (part: Form) => {
    if (part.bare !== renaming.from) return false;
    const { prefix } = writtenSymbol(part.text);
    if (prefix === '' || prefix === '#') return false;
    const current = task.packageAt(part.start);
    return task.packages.has(renaming, prefix ?? current, current) === true;
  };
  noteTakers(text, renaming.from, named, takers);
}
