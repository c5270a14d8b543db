// What the ranking of tools is made of, held against the plain way to the same answer.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ToolMetadata } from '../../src/catalog/metadata.ts';
import { OpenCatalog } from '../../src/catalog/open-catalog.ts';
import { searchCatalog } from '../../src/catalog/search.ts';
import { words } from '../../src/catalog/terms.ts';

test.each([
  ['who_calls', ['who', 'calls']],
  ['getUserInfo', ['getuserinfo', 'get', 'user', 'info']],
  ['HTTPServer2Go', ['httpserver2go', 'http', 'server2', 'go']],
  ['Größe: 10%', ['größe', '10']],
  ['天気予報', ['天気予報', '天気', '気予', '予報']],
  ['GitHubの検索', ['github', 'git', 'hub', 'の検索', 'の検', '検索']],
  ['만드는', ['만드는', '만드', '드는']],
  ['हिन्दी', ['हिन्दी']],
  ['cafe\u0301', ['caf\u00e9']],
  ['ＭＡＩＬ', ['mail']],
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
        const { tools, totalCount, categories } = searchCatalog({ query, limit: 0 }, catalog);
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
    const { tools: found } = searchCatalog({ query: asked, limit: 0 }, catalog);
    const hits = found.filter(({ searchScore }) => searchScore !== undefined);
    expect(hits.map(({ name, searchScore }) => ({ name, searchScore }))).toEqual(scored);
  };
  fc.assert(fc.property(fc.array(tool, { maxLength: 6 }), query, check), { numRuns: 1500 });
});
