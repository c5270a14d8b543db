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
  /** Returns the current package at an index of the text. */
  packageAt: (index: number) => string;
  /** By symbol name: the functions, classes and structures that take the keyword of that name. */
  takers: ReadonlyMap<string, Takers>;
  /** Whether to rename the keyword of a keyword parameter together with the parameter. */
  keywords: boolean;
  /** Whether to rename in comments and in the text of strings. */
  prose: boolean;
}

export interface RenameEdit {
  start: number;
  end: number;
  text: string;
  /** The old name of the symbol that is renamed. */
  from: string;
  /** What the edit replaces: the symbol itself; a string, keyword or other symbol that only gives its name;
   *  the keyword of a parameter or slot; or a mention in a comment or string. */
  how: 'symbol' | 'name' | 'keyword' | 'prose';
}

/** A place that keeps the old name, and why. 'package definition' means a list within an option of a
 *  package definition, where the meaning of the name is unknown. */
interface KeptName {
  start: number;
  why: 'prose' | 'string' | 'keyword' | 'word of LOOP' | 'unknown package' | 'package definition';
}

export interface Scan {
  edits: RenameEdit[];
  kept: KeptName[];
  /** Offset of an unclosed form or string: the text from there on was not read. */
  cut?: number;
}

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

/** Returns the edits that TASK makes in TEXT, sorted by start, and the places that keep an old name. */
export function scanFor(text: string, task: Task): Scan {
  const tree = treeOf(text);
  const scan: Scan = { edits: [], kept: [], ...(tree.cut !== undefined && { cut: tree.cut }) };
  const byName = new Map(task.renamings.map((renaming) => [renaming.from, renaming]));
  for (const top of formsMentioning(text, [...byName.keys()])) {
    const may = { definePackage: mayDefinePackage(top.text), takeKeys: /&key/i.test(top.text) };
    for (const part of atomsIn(top)) {
      const current = () => task.packageAt(part.start);
      if (part.isString) inString(part, task, scan, current());
      const renaming = byName.get(part.designated ?? '');
      if (renaming !== undefined) atName(part, renaming, task, scan, current(), may);
    }
  }
  for (const { start, end } of tree.gaps()) inProse(text, start, end, task, scan);
  scan.edits.sort((one, other) => one.start - other.start);
  return scan;
}

/** What the text of a top-level form may contain, decided once per form, since per part it is slow. */
interface May {
  definePackage: boolean;
  takeKeys: boolean;
}

/** Adds to SCAN the edit of PART, or the reason why PART keeps its name. PART is a symbol or string with
 *  the old name of RENAMING. CURRENT is the current package there. */
function atName(part: Form, renaming: Renaming, task: Task, scan: Scan, current: string, may: May): void {
  const { start, end } = part;
  const token = part.text;
  const named = may.definePackage ? task.packages.inDefinition(part, renaming) : undefined;
  const edit = (how: RenameEdit['how']) =>
    scan.edits.push({ start, end, text: renamed(token, renaming), from: renaming.from, how });
  if (typeof named === 'boolean') {
    if (named) edit('name');
    return;
  }
  const { prefix } = part.isString ? { prefix: '#' } : writtenSymbol(token);
  if (prefix === '' || prefix === '#') {
    const takers = task.takers.get(renaming.from);
    if (namedBeside(part, renaming, task.packages)) edit('name');
    else if (named === 'deeper') scan.kept.push({ start, why: 'package definition' });
    else if (prefix === '' && takers !== undefined && takesKeyword(part, takers)) edit('keyword');
    else scan.kept.push({ start, why: part.isString ? 'string' : 'keyword' });
    return;
  }
  const known = task.packages.has(renaming, prefix ?? current, current);
  if (known === undefined) scan.kept.push({ start, why: 'unknown package' });
  if (known !== true) return;
  if (isLoopWord(part)) scan.kept.push({ start, why: 'word of LOOP' });
  else scan.edits.push(symbolEdit(part, renaming, task.keywords || !may.takeKeys));
}

/** Words of LOOP that are always followed by a variable, a type or a form, never by another word. */
const BEFORE_FORMS = new Set(
  (
    'ABOVE ACROSS ALWAYS APPEND APPENDING AS BELOW BY COLLECT COLLECTING COUNT COUNTING DOWNFROM DOWNTO FOR FROM IF IN INTO ' +
    'MAXIMIZE MAXIMIZING MINIMIZE MINIMIZING NAMED NCONC NCONCING NEVER OF OF-TYPE ON REPEAT RETURN SUM SUMMING THEN THEREIS TO ' +
    'UNLESS UNTIL UPFROM UPTO WHEN WHILE WITH'
  ).split(' '),
);

/** What a later AND joins, by word of LOOP: variables, as in (for x in a and y in b), or clauses. */
const JOINED = new Map(
  ['FOR', 'AS', 'WITH', 'IF', 'WHEN', 'UNLESS'].map((word, index) => [
    word,
    index < 3 ? 'variables' : 'clauses',
  ]),
);

const loopWords = new WeakMap<Form, ReadonlySet<Form>>();

/** True when PART is a word of LOOP, such as FOR, not a form or variable that has the same name. */
function isLoopWord(part: Form): boolean {
  const { parent, bare } = part;
  if (!LOOP_WORDS.has(bare) || parent?.first?.bare !== 'LOOP') return false;
  const words = loopWords.get(parent) ?? wordsOfLoop(parent);
  loopWords.set(parent, words);
  return words.has(part);
}

/** Returns the elements that are words of LOOP, not forms or variables that have the name of a word. */
function wordsOfLoop({ elements }: Form): ReadonlySet<Form> {
  const words = new Set<Form>();
  let joined: string | undefined;
  for (const [index, part] of elements.entries()) {
    const before = elements[index - 1];
    if (before === undefined || !LOOP_WORDS.has(part.bare)) continue;
    const behindAnd = joined === 'variables' && before.bare === 'AND';
    const isForm = before.bare === '=' || (words.has(before) && (behindAnd || BEFORE_FORMS.has(before.bare)));
    // IT is always a word: it means the value of the last test.
    if (isForm && part.bare !== 'IT') continue;
    words.add(part);
    joined = JOINED.get(part.bare) ?? joined;
  }
  return words;
}

/** Returns TOKEN, a symbol or string, with its name replaced, and its package prefix and case kept. */
function renamed(token: string, { to }: Renaming): string {
  if (token.startsWith('"')) return `"${to.replace(/["\\]/g, '\\$&')}"`;
  const { base } = writtenSymbol(token);
  return token.slice(0, base) + spelled(to, token.slice(base));
}

/** Returns the edit that renames PART, a symbol. PLAIN is true when no parameter keyword must be kept. */
function symbolEdit(part: Form, renaming: Renaming, plain: boolean): RenameEdit {
  const { start, end, text: token } = part;
  const edit: RenameEdit = {
    start,
    end,
    text: renamed(token, renaming),
    from: renaming.from,
    how: 'symbol',
  };
  // In (&key old), OLD names keyword and variable. To keep the keyword for callers, write ((:old new)).
  if (plain || !namesKeyword(part)) return edit;
  const named = `(:${spelled(renaming.from, token)} ${edit.text})`;
  return { ...edit, text: part.parent?.first === part && isParameter(part.parent) ? named : `(${named})` };
}

/** True when PART, a keyword or a string, names the symbol of RENAMING, as in (intern "NAME" :package). Then
 *  PART is one of the first two arguments of a call, and the other one names a package that has the symbol.
 *  Both may be wrapped in calls, as in (intern (string :name) (find-package :package)). False in definitions
 *  and their options, and when a package has the same name. */
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

/** Returns the second argument of the call around PART if PART is the first, and the first if PART is the
 *  second. Returns undefined otherwise, and when the list is a definition or no call. */
function otherArgument(part: Form): Form | undefined {
  const { parent } = part;
  if (parent === undefined || !isCall(parent) || parent.first?.bare.startsWith('DEF')) return undefined;
  const [, first, second] = parent.elements;
  return part === first ? second : part === second ? first : undefined;
}

/** True when LIST looks like a call: it begins with a symbol that is neither a keyword nor uninterned. */
function isCall({ first }: Form): boolean {
  return first !== undefined && first.bare !== '' && !isPlainName(first);
}

/** True when PART is a string, a keyword or an uninterned symbol. */
function isPlainName(part: Form): boolean {
  return part.isString || (part.bare !== '' && /^#?:/.test(part.text));
}

/** Common Lisp operators that take a FORMAT control string. */
const FORMATTING = new Set(
  (
    'BREAK CERROR ERROR FORMAT FORMATTER INVALID-METHOD-ERROR METHOD-COMBINATION-ERROR SIGNAL WARN Y-OR-N-P ' +
    'YES-OR-NO-P'
  ).split(' '),
);

/** Adds to SCAN the edits and kept places within the string PART. The string can be a symbol with package
 *  prefix, contain a FORMAT directive ~/NAME/, or mention a symbol in its text. */
function inString(part: Form, task: Task, scan: Scan, current: string): void {
  const { start } = part;
  const inside = part.text.slice(1, -1);
  for (const renaming of task.renamings) {
    if (!upperCase(inside).includes(renaming.from)) continue;
    const whole = /^[^\s:]+::?[^\s:]+$/.test(inside) ? [{ at: 0, written: inside, home: '' }] : [];
    for (const { at, written, home } of [...whole, ...formatCalls(inside)]) {
      const found = symbolIn(written);
      if (found?.name !== renaming.from) continue;
      if (task.packages.has(renaming, found.prefix ?? home, current) !== true) continue;
      const from = start + 1 + at;
      // A string that begins with ~/NAME/ can be a path in the user's home directory.
      const isPath = found.prefix === undefined && inside.startsWith('~/') && at === 2;
      if (isPath && !FORMATTING.has(part.parent?.first?.bare ?? '')) {
        scan.kept.push({ start: from, why: 'string' });
        continue;
      }
      const edit = { start: from, end: from + written.length, text: renamed(written, renaming) };
      scan.edits.push({ ...edit, from: renaming.from, how: 'name' });
    }
  }
  inProse(part.tree.text, start + 1, part.end - 1, task, scan, true);
}

/** Adds to SCAN the mentions of TASK's symbols from START to END of TEXT. This range is the contents of a
 *  string when STRING is true, else a comment. Leaves out mentions that an edit in SCAN covers. */
function inProse(text: string, start: number, end: number, task: Task, scan: Scan, string = false): void {
  for (const renaming of task.renamings) {
    const outside = scan.edits.findLastIndex((edit) => edit.end <= start || edit.start >= end);
    const there = scan.edits.slice(outside + 1).sort((one, other) => one.start - other.start);
    let next = 0;
    for (const spoken of spokenOf(text, renaming.from, start, end)) {
      // A string that is just the name is a designator, not prose.
      if (string && spoken.start === start && spoken.end === end) continue;
      while ((there[next]?.end ?? Number.POSITIVE_INFINITY) <= spoken.start) next++;
      if ((there[next]?.start ?? Number.POSITIVE_INFINITY) < spoken.end) continue;
      const word = text.slice(spoken.start, spoken.end);
      const said = { ...spoken, text: spokenAs(renaming.to, word), from: renaming.from };
      if (task.prose) scan.edits.push({ ...said, how: 'prose' });
      else scan.kept.push({ start: spoken.start, why: 'prose' });
    }
  }
}

/** Adds to TASK's takers the definitions in TEXT that have the symbol of RENAMING as a keyword parameter, or
 *  as a slot with an initarg of that name. Calls of these definitions take a keyword of that name. */
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
