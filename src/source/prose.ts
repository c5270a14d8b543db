/** Decides where comments, strings and other prose speak of a symbol. */

import { lowerCase, upperCase } from './lexer.ts';

/** Characters that a name can have beside others; a period at the end of a word ends a sentence. */
const BESIDE = String.raw`[\p{L}\p{N}*+\-%$&!?<>=/_~^@\\|]`;

/** Where prose names a symbol: indices of the text. */
export interface Spoken {
  start: number;
  end: number;
}

/** Returns the places from START to END of TEXT that speak of the symbol NAME. A word of letters alone counts only in upper
 *  case, or where it is marked as code: by a package, a quote or a parenthesis. */
export function spokenOf(text: string, name: string, start = 0, end = text.length): Spoken[] {
  if (end - start < name.length) return [];
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = new RegExp(`(?<!${BESIDE})${word}(?!${BESIDE}|\\.\\w)`, 'giu');
  const plainWord = /^\p{L}+$/u.test(name);
  const found: Spoken[] = [];
  // No further than what stands beside the last word tells, lest the rest of the text be looked through each time.
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

/** Returns NAME as prose has it in the place of WORD. */
export function spokenAs(name: string, word: string): string {
  return word === upperCase(word) ? name : lowerCase(name);
}
