// What the ranking of tools is made of, held against the plain way to the same answer.

import fc from 'fast-check';
import { distance } from 'fastest-levenshtein';
import { expect, test } from 'vitest';
import type { ToolMetadata } from '../../src/catalog/metadata.ts';
import { OpenCatalog } from '../../src/catalog/open-catalog.ts';
import { Postings } from '../../src/catalog/postings.ts';
import { searchTools } from '../../src/catalog/search.ts';
import { Spelling } from '../../src/catalog/spelling.ts';
import { Tally } from '../../src/catalog/tally.ts';
import { words } from '../../src/catalog/terms.ts';

/** Returns a tally of COUNT documents. */
function tallyOf(count: number): Tally {
  const tally = new Tally();
  for (let id = 0; id < count; id++) tally.add(id, 0);
  return tally;
}

test('S1.15 what each term tells is added up for the documents that have it, however many there are', () => {
  const adding = fc.record({ term: fc.nat(40), value: fc.integer({ min: 1, max: 9 }) });
  const check = (documents: { term: number; value: number }[][], asked: number[], some: number[]) => {
    const postings = new Postings();
    documents.forEach((list, id) => {
      for (const { term, value } of list) postings.add(term, id, value);
    });
    const tally = tallyOf(documents.length);
    for (const term of asked) postings.accumulate(term, 2, tally);
    const plain = documents.map((list) => {
      const values = asked.flatMap((term) => list.filter((each) => each.term === term));
      return values.reduce((sum, { value }) => sum + 2 * value, 0);
    });
    expect([...tally.sums].slice(0, documents.length)).toEqual(plain);
    const holders = documents.flatMap((list, id) => list.filter(({ term }) => term === 7).map(() => id));
    expect(postings.holders(7)).toEqual(holders);
    const ids = some.toSorted((one, other) => one - other);
    expect(postings.intersect(7, ids)).toEqual(ids.filter((id) => holders.includes(id)));
  };
  const once = { selector: ({ term }: { term: number }) => term };
  const documents = fc.array(fc.uniqueArray(adding, { ...once, maxLength: 6 }), { maxLength: 30 });
  const numbers = fc.uniqueArray(fc.nat(40), { maxLength: 5 });
  fc.assert(fc.property(documents, numbers, numbers, check), { numRuns: 300 });
  const many = Array.from({ length: 2500 }, (_, id) =>
    id % 5 > 3 ? [] : [{ term: 7, value: (id % 9) + 1 }],
  );
  check(many, [7], [0, 4, 5, 611, 612, 614, 1999, 2498, 2499, 2500, 9000]);
});

test('S1.15 the best documents are those that adding and sorting all of them gives, to the bit', () => {
  const values = fc.array(fc.constantFrom(0, 0.1, 0.3, 0.7, 1.9), { minLength: 3, maxLength: 3 });
  const search = fc.record({
    weights: fc.array(fc.constantFrom(0.25, 1 / 3, 2.2), { minLength: 3, maxLength: 3 }),
    most: fc.constantFrom(0, 1, 2, 5, 20, Number.MAX_SAFE_INTEGER),
    kinds: fc.integer({ min: 1, max: 3 }),
    gone: fc.nat(200),
  });
  type Search = { weights: number[]; most: number; kinds: number; gone: number };
  const check = (documents: number[][], searches: Search[]) => {
    const [postings, tally] = [new Postings(), new Tally()];
    const left = new Set(documents.keys());
    documents.forEach((list, id) => {
      tally.add(id, id % 3);
      for (const [term, value] of list.entries()) if (value > 0) postings.add(term, id, value);
    });
    for (const { weights, most, kinds, gone } of searches) {
      if (left.delete(gone)) tally.delete(gone);
      for (const [term, weight] of weights.entries()) postings.accumulate(term, weight, tally);
      const plain = documents.map((list, id) => ({ id, score: plainSum(list, weights) }));
      const all = plain.filter(({ id, score }) => score > 0 && id % kinds === 0 && left.has(id));
      all.sort((one, other) => other.score - one.score || one.id - other.id);
      const counts = [0, 0, 0];
      const best = tally.best(most, counts, kinds === 1 ? undefined : (id) => id % kinds === 0);
      expect(best.map((id) => ({ id, score: tally.sums[id] }))).toEqual(all.slice(0, most));
      expect(counts).toEqual([0, 1, 2].map((kind) => all.filter(({ id }) => id % 3 === kind).length));
      tally.clear();
    }
  };
  fc.assert(fc.property(fc.array(values, { maxLength: 200 }), fc.array(search, { maxLength: 4 }), check), {
    numRuns: 300,
  });
});

/** Returns VALUES times WEIGHTS, added up in numbers of four bytes. */
function plainSum(values: readonly number[], weights: readonly number[]): number {
  const sum = new Float32Array(1);
  values.forEach((value, term) => {
    if (value > 0) sum[0] = (sum[0] ?? 0) + (weights[term] ?? 0) * Math.fround(value);
  });
  return sum[0] ?? 0;
}

/** Returns the word of WORDS that WORD is likeliest a slip of, comparing it with all. */
function costs(word: string, candidate: string): number {
  const sorted = (text: string) => [...text].sort().join();
  if (candidate[0] !== word[0] || Math.abs(candidate.length - word.length) > 2) return 9;
  const swapped = sorted(word) === sorted(candidate);
  if (word.length < 6 && candidate.length === word.length && !swapped) return 9;
  return swapped ? distance(word, candidate) / 2 : distance(word, candidate);
}

test('S1.15 a slip is mended to a word that none of all words is nearer than', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'é', 'λ', '1'), maxLength: 10 });
  const check = (known: string[], slip: string) => {
    const most = slip.length < 8 ? 1.5 : 2.5;
    const least = Math.min(most, ...known.map((each) => costs(slip, each)));
    const corrected = new Spelling(known).corrected(slip);
    if (least === most) expect(corrected).toBe(slip);
    else expect([known.includes(corrected), costs(slip, corrected)]).toEqual([true, least]);
  };
  fc.assert(fc.property(fc.uniqueArray(word, { maxLength: 30 }), word, check), { numRuns: 3000 });
});

test.each([
  ['who_calls', ['who', 'calls']],
  ['getUserInfo', ['getuserinfo', 'get', 'user', 'info']],
  ['HTTPServer2Go', ['httpserver2go', 'http', 'server2', 'go']],
  ['天気予報', ['天気予報', '天気', '気予', '予報']],
  ['Größe: 10%', ['größe', '10']],
  ['GitHubの検索', ['githubの検索', 'git', 'hub', 'の検索', 'の検', '検索']],
  ['만드는', ['만드는', '만드', '드는']],
  ['हिन्दी', ['हिन्दी']],
  ['cafe\u0301', ['caf\u00e9', 'cafe\u0301']],
  ['ＭＡＩＬ', ['mail', 'ｍａｉｌ']],
  ['\u2764\ufe0flove', ['love', '\ufe0flove']],
  ['\u2764\ufe0f', []],
  ['', []],
])('S1.15 the words of %j', (text, expected) => {
  expect(words(text)).toEqual(expected);
});

const WORDS = ['weather', 'mail', 'send', 'file', 'list', 'user', 'order', 'stop'];
const text = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 })
  .map((list) => list.join(' '));
const tool = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), description: text });
const step = fc.oneof(
  tool.map((each) => ({ kind: 'add' as const, ...each })),
  fc.constantFrom('a', 'b', 'c').map((name) => ({ kind: 'delete' as const, name, description: '' })),
);

test('S1.15 after any changes a catalog finds what one that was made anew finds', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), text, (steps, query) => {
      const changed = new OpenCatalog();
      const kept = new Map<string, string>();
      for (const { kind, name, description } of steps) {
        if (kind === 'add') changed.add({ name, description });
        else changed.delete(name);
        if (kind === 'add') kept.set(name, description);
        else kept.delete(name);
      }
      const anew = new OpenCatalog();
      for (const [name, description] of kept) anew.add({ name, description });
      const found = (catalog: OpenCatalog) => {
        const { tools, totalCount, categories } = searchTools({ query, limit: 0 }, catalog);
        return [
          new Set(tools.map(({ name, match, searchScore }) => `${name} ${match} ${searchScore}`)),
          totalCount,
          categories,
        ];
      };
      expect(found(changed)).toEqual(found(anew));
    }),
    { numRuns: 300 },
  );
});

test('S1.2 S1.4 the literal hits are those that reading all texts gives, with their points and in their order', () => {
  const part = fc.constantFrom(
    'a',
    'B',
    'ab',
    'list',
    'İ',
    'e\u0301',
    '\u0301',
    'ﬁ',
    ' ',
    ' ',
    '-',
    '_',
    '.',
    'の',
    '検索',
  );
  const written = fc.array(part, { maxLength: 8 }).map((list) => list.join(''));
  const tool = fc.record({
    name: written.map((each) => `n${each}`),
    description: written,
    keywords: fc.array(written, { maxLength: 2 }),
    short: fc.option(written, { nil: undefined }),
  });
  const query = written.filter((each) => each !== '');
  type Written = { name: string; description: string; keywords: string[]; short: string | undefined };
  const check = (tools: Written[], asked: string) => {
    const catalog = new OpenCatalog();
    for (const { short, ...each } of tools) {
      const added = catalog.add(each);
      if (short !== undefined) catalog.set(added.name, { ...added, shortDescription: short });
    }
    const points = (each: ToolMetadata) => {
      const has = (found: string) => found.toLowerCase().includes(asked.toLowerCase());
      const name = each.name.toLowerCase().replaceAll('-', '_');
      return (
        (name.includes(asked.toLowerCase().replaceAll('-', '_')) ? 100 : 0) +
        each.keywords.filter(has).length * 50 +
        (has(each.shortDescription) ? 25 : 0) +
        (has(each.fullDescription) ? 10 : 0)
      );
    };
    const plain = [...catalog.values()].map((each) => ({ name: each.name, searchScore: points(each) }));
    const scored = plain.filter(({ searchScore }) => searchScore > 0);
    scored.sort((one, other) => other.searchScore - one.searchScore);
    const { tools: found } = searchTools({ query: asked, limit: 0 }, catalog);
    const hits = found.filter(({ searchScore }) => searchScore !== undefined);
    expect(hits.map(({ name, searchScore }) => ({ name, searchScore }))).toEqual(scored);
  };
  fc.assert(fc.property(fc.array(tool, { maxLength: 6 }), query, check), { numRuns: 1500 });
});

test('S1.15 a catalog in which tools are replaced without end does not grow', () => {
  const catalog = new OpenCatalog();
  for (let at = 0; at < 5000; at++)
    catalog.add({ name: `tool_${at % 3}`, description: `Paint fence ${at}.` });
  expect(
    searchTools({ query: 'painting fences' }, catalog)
      .tools.map(({ name }) => name)
      .sort(),
  ).toEqual(['tool_0', 'tool_1', 'tool_2']);
  expect(searchTools({ query: 'fence 4998' }, catalog).tools[0]?.shortDescription).toBe('Paint fence 4998.');
  expect(searchTools({ query: 'fence 12' }, catalog).tools[0]?.searchScore).toBeUndefined();
});
