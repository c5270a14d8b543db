// Decides which terms a text has: the stems of its words, names in parts and as one.

import { stemmer } from 'stemmer';
import STOP from './stop-words.json' with { type: 'json' };

/** Words that say nothing about a tool: grammar, and what every request says. */
const STOP_WORDS: ReadonlySet<string> = new Set(STOP.words.split(' '));

/** A run that is one word as it stands: nearly all are. */
const PLAIN = /^(?:[A-Za-z]?[a-z\d]*|[A-Z]+)$/;
// What a pattern has of Unicode's properties is looked up where it is made. So that is done by the first search, and not by
// each start.

/** Returns what finds runs of letters and numbers. */
function ofRuns(): RegExp {
  return /[\p{L}\p{N}\p{M}]+/gu;
}

/** Returns what finds keys with those that are held, as Emacs writes them. */
function ofKeys(): RegExp {
  return /(?<![\p{L}\p{N}-])(?:[CMS]-)+\S(?![\p{L}\p{N}-])/gu;
}

/** Patterns for runs that are no plain words. */
interface Scripts {
  /** Scripts that are written without spaces, and Hangul, where a word and its particles are one run. */
  unspaced: RegExp;
  /** Where a name in camelCase has a new word, and where a script without spaces begins or ends. */
  border: RegExp;
}

let made: Scripts | undefined;

function scripts(): Scripts {
  if (made !== undefined) return made;
  const unspaced =
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
  const camel = String.raw`(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})`;
  const ends = '(?<=U)(?!U)|(?<!U)(?=U)'.replaceAll('U', unspaced.source);
  made = { unspaced, border: new RegExp(`${camel}|${ends}`, 'u') };
  return made;
}

/** Yields the runs of letters and numbers in TEXT, with where they begin. */
export function* runs(text: string): Generator<{ run: string; index: number }> {
  for (const { 0: run, index } of text.matchAll(ofRuns())) {
    if (PLAIN.test(run) || /[\p{L}\p{N}]/u.test(run)) yield { run, index };
  }
}

/** Returns the words of TEXT in lower case. A name in camelCase is its parts and the whole. Of a script without spaces
 *  each two characters that follow each other are a word too, and so is a key such as C-c. */
export function words(text: string): string[] {
  const found = (text.match(ofKeys()) ?? []).map((key) => key.toLowerCase());
  for (const run of text.match(ofRuns()) ?? []) {
    if (PLAIN.test(run)) found.push(run.toLowerCase());
    else found.push(...wordsOfRun(run));
  }
  return found;
}

/** Returns the words of RUN: as it is written, as Unicode writes it plainly, and its parts. */
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
