/** Finds the places where comments, strings and other prose mention a symbol. */

import { lowerCase, upperCase } from './lexer.ts';

/** Matches a character of a symbol's name. A period is left out, because after a word it usually ends a sentence. */
const NAME_CHARACTER = String.raw`[\p{L}\p{N}*+\-%$&!?<>=/_~^@\\|]`;

/** A mention in prose, by UTF-16 indices. */
interface ProseMention {
  start: number;
  end: number;
}

/** Returns the mentions of the symbol NAME from START to END of TEXT. A name of letters counts only in upper case, or
 * after a package prefix, a quote or a parenthesis. */
export function proseMentions(text: string, name: string, start = 0, end = text.length): ProseMention[] {
  if (end - start < name.length) return [];
  const pattern = patternOf(name);
  const plainWord = /^\p{L}+$/u.test(name);
  const found: ProseMention[] = [];
  // The pattern looks at the two characters after a match, even after END. To search all of TEXT would be slow.
  const area = text.slice(0, end + 2);
  pattern.lastIndex = start;
  for (let match = pattern.exec(area); match !== null; match = pattern.exec(area)) {
    const from = match.index;
    const to = from + match[0].length;
    if (to > end) break;
    const marked = /[`'(:]$/.test(text.slice(Math.max(0, from - 1), from));
    const sameCase = match[0] === name || match[0] === lowerCase(name);
    if (sameCase && (!plainWord || match[0] === name || marked)) found.push({ start: from, end: to });
  }
  return found;
}

/** The last pattern. It is kept because to compile a pattern takes longer than to search a short comment. */
let last: [name: string, pattern: RegExp] | undefined;

function patternOf(name: string): RegExp {
  if (last?.[0] === name) return last[1];
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  last = [name, new RegExp(`(?<!${NAME_CHARACTER})${word}(?!${NAME_CHARACTER}|\\.\\w)`, 'giu')];
  return last[1];
}

/** Returns NAME in the letter case of WORD, the word in prose that it replaces. */
export function inCaseOfProse(name: string, word: string): string {
  return word === upperCase(word) ? name : lowerCase(name);
}
