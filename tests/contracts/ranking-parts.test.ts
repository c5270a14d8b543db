// What the ranking of tools is made of, held against the plain way to the same answer.

import fc from 'fast-check';
import { distance } from 'fastest-levenshtein';
import MiniSearch from 'minisearch';
import { expect, test } from 'vitest';
import { Spelling } from '../../src/catalog/spelling.ts';
import { TermIndex } from '../../src/catalog/term-index.ts';

const TERM = fc.constantFrom('list', 'find', 'call', 'constructor', 'é', 'file', 'file list', 'x');
const TERMS = fc.array(TERM, { maxLength: 12 });
const WEIGHTS = { name: 2, full: 0.5, texts: 0.3 };
const DOCUMENTS = fc.array(fc.record({ name: TERMS, full: TERMS, texts: TERMS }), {
  minLength: 1,
  maxLength: 8,
});

/** Returns what MiniSearch finds in DOCUMENTS for TERMS, the Ith of which counts as BOOST says. */
function byMiniSearch(
  documents: Record<string, string[]>[],
  terms: string[],
  boost: (term: string, at: number) => number,
) {
  const search = new MiniSearch({
    fields: Object.keys(WEIGHTS),
    tokenize: (text) => text.split('|').filter(Boolean),
    processTerm: (term) => term,
    searchOptions: { boost: WEIGHTS, bm25: { k: 1.2, b: 0.3, d: 0.5 } },
  });
  search.addAll(
    documents.map((document, id) => ({
      id,
      ...Object.fromEntries(Object.entries(document).map(([field, list]) => [field, list.join('|')])),
    })),
  );
  return search.search(terms.join('|'), { boostTerm: boost });
}

test('S1.15 terms score as MiniSearch scores them, and stand in the same fields', () => {
  const check = (documents: Record<string, string[]>[], terms: string[], rare: number) => {
    const boost = (term: string, at: number) => (term.length + at > 8 ? rare : 1);
    const index = new TermIndex(documents, WEIGHTS);
    const found = index.search(terms, boost);
    const expected = byMiniSearch(documents, terms, boost);
    const scores = (list: { id: number; score: number }[]) =>
      [...list].sort((one, other) => one.id - other.id).map(({ score }) => score.toPrecision(10));
    expect(scores(found)).toEqual(scores(expected.map(({ id, score }) => ({ id, score }))));
    for (const { id, match } of expected)
      for (const [term, fields] of Object.entries(match))
        expect(index.fieldsWith(term)?.get(id)?.fields).toEqual(fields);
  };
  fc.assert(fc.property(DOCUMENTS, TERMS, fc.constantFrom(0.25, 0.7), check), { numRuns: 500 });
});

/** Returns the word of WORDS that WORD is likeliest a slip of, comparing it with all. */
function mendedByAll(word: string, words: string[]): string {
  const sorted = (text: string) => [...text].sort().join();
  let [best, least] = [word, word.length < 8 ? 1.5 : 2.5];
  for (const candidate of words) {
    if (candidate[0] !== word[0] || Math.abs(candidate.length - word.length) > 2) continue;
    const swapped = sorted(word) === sorted(candidate);
    if (word.length < 6 && candidate.length === word.length && !swapped) continue;
    const cost = swapped ? distance(word, candidate) / 2 : distance(word, candidate);
    if (cost < least) [best, least] = [candidate, cost];
  }
  return best;
}

test('S1.15 a slip is mended to the word that comparing with all words finds', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'é', 'λ', '1'), maxLength: 10 });
  const check = (words: string[], slip: string) => {
    expect(new Spelling(words).mended(slip)).toBe(mendedByAll(slip, words));
  };
  fc.assert(fc.property(fc.array(word, { maxLength: 30 }), word, check), { numRuns: 3000 });
});
