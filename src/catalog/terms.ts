// Splits a text into words, a name also into its parts, and reduces words to terms (stems).

import { stemmer } from 'stemmer';
import STOP from './stop-words.json' with { type: 'json' };

/** Stop words: grammar, and words that every request has. */
const STOP_WORDS: ReadonlySet<string> = new Set(STOP.words.split(' '));

/** Matches a run that is a single word, as nearly all runs are. */
const PLAIN_RUN = /^(?:[A-Za-z]?[a-z\d]*|[A-Z]+)$/;
// Unicode properties in a pattern are resolved when it is created. Patterns are therefore created by the first search,
// not at start.

/** Returns a pattern for runs of letters and numbers. */
function runPattern(): RegExp {
  return /[\p{L}\p{N}\p{M}]+/gu;
}

/** Returns a pattern for keys with modifiers, as Emacs writes them. */
function keyPattern(): RegExp {
  return /(?<![\p{L}\p{N}-])(?:[CMS]-)+\S(?![\p{L}\p{N}-])/gu;
}

/** Patterns for runs that are no plain words. */
interface Scripts {
  /** Scripts without spaces between words, and Hangul, where a word and its particles are one run. */
  unspaced: RegExp;
  /** Borders between words within a run: in camelCase, and at the ends of a script without spaces. */
  border: RegExp;
}

let cachedScripts: Scripts | undefined;

function scripts(): Scripts {
  if (cachedScripts !== undefined) return cachedScripts;
  const unspaced =
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
  const camel = String.raw`(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})`;
  const ends = '(?<=U)(?!U)|(?<!U)(?=U)'.replaceAll('U', unspaced.source);
  cachedScripts = { unspaced, border: new RegExp(`${camel}|${ends}`, 'u') };
  return cachedScripts;
}

/** Yields the runs of letters and numbers in TEXT, with their indices. */
export function* runs(text: string): Generator<{ run: string; index: number }> {
  for (const { 0: run, index } of text.matchAll(runPattern())) {
    if (PLAIN_RUN.test(run) || /[\p{L}\p{N}]/u.test(run)) yield { run, index };
  }
}

/** Returns the words of TEXT in lower case. A camelCase name yields its parts and the whole. Each two adjacent
 *  characters of a script without spaces are a word too, and so is a key such as C-c. */
export function words(text: string): string[] {
  const found = (text.match(keyPattern()) ?? []).map((key) => key.toLowerCase());
  for (const run of text.match(runPattern()) ?? []) {
    if (PLAIN_RUN.test(run)) found.push(run.toLowerCase());
    else found.push(...wordsOfRun(run));
  }
  return found;
}

/** Returns the words of WRITTEN, a run, in lower case: as written, normalized, its parts, and characters in pairs. */
function wordsOfRun(written: string): string[] {
  const run = written.replace(/^\p{M}+/u, '').normalize('NFKC');
  if (run === '') return [];
  const { unspaced, border } = scripts();
  const parts = run.split(border).map((part) => part.toLowerCase());
  const pairs = parts.filter((part) => unspaced.test(part)).flatMap(pairsOf);
  const wholes = new Set([run.toLowerCase(), written.toLowerCase()]);
  return [...wholes, ...(parts.length > 1 ? parts : []), ...pairs];
}

function pairsOf(text: string): string[] {
  const characters = [...text];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** True when WORD, in lower case, is no stop word and not a single letter. */
export function isContentWord(word: string): boolean {
  return (word.length > 1 || /[^a-z]/.test(word)) && !STOP_WORDS.has(word);
}

/** Cache of stems by word: texts and requests repeat words. */
const STEMS = new Map<string, string>();
const STEM_LIMIT = 10_000;

/** Returns the stem that WORD (in lower case) shares with its inflected forms. */
export function stem(word: string): string {
  const cached = STEMS.get(word);
  if (cached !== undefined) return cached;
  if (STEMS.size >= STEM_LIMIT) STEMS.clear();
  const found = stemmer(word);
  STEMS.set(word, found);
  return found;
}
