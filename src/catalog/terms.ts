// Decides which terms a text has: the stems of its words, names in parts and as one.

import { stemmer } from 'stemmer';
import STOP from './stop-words.json' with { type: 'json' };

/** Words that say nothing about a tool: grammar, and what every request says. */
const STOP_WORDS: ReadonlySet<string> = new Set(STOP.words.split(' '));

const RUN = /[\p{L}\p{N}]+/gu;
/** Scripts that are written without spaces. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** Where a name in camelCase has a new word. */
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu;

/** Returns the words of TEXT in lower case. A name in camelCase is its parts and the whole. Of a script without spaces
 *  each two characters that follow each other are a word too. */
export function words(text: string): string[] {
  const found: string[] = [];
  for (const run of text.match(RUN) ?? []) {
    const whole = run.toLowerCase();
    found.push(whole);
    if (UNSPACED.test(run)) found.push(...pairs(whole));
    const parts = run.split(HUMP);
    if (parts.length > 1) found.push(...parts.map((part) => part.toLowerCase()));
  }
  return found;
}

function pairs(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** Returns whether WORD, in lower case, tells something of what a text is about. */
export function isTelling(word: string): boolean {
  return (word.length > 1 || /[^a-z]/.test(word)) && !STOP_WORDS.has(word);
}

/** Stems that were found, by word: texts and requests have the same words again and again. */
const STEMS = new Map<string, string>();
const KEPT_STEMS = 10_000;

/** Returns the term that WORD, in lower case, stands for, as do its other forms. */
export function stem(word: string): string {
  const kept = STEMS.get(word);
  if (kept !== undefined) return kept;
  if (STEMS.size >= KEPT_STEMS) STEMS.clear();
  const found = stemmer(word);
  STEMS.set(word, found);
  return found;
}
