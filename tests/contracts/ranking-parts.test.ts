// What the ranking of tools is made of, held against the plain way to the same answer.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ToolMetadata } from '../../src/catalog/metadata.ts';
import { searchCatalog } from '../../src/catalog/search.ts';
import { words } from '../../src/catalog/terms.ts';
import { executeSearchTools, searchTools } from '../../src/index.ts';
import { foreignCatalog } from './catalogs.ts';

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

function names(query: string, catalog: ReturnType<typeof foreignCatalog>): string[] {
  return searchTools({ query }, catalog).tools.map(({ id, name }) => id ?? name);
}

test('S1.10 an id tells tools of one name apart in the answer, and a query finds it', () => {
  const catalog = foreignCatalog([
    { name: 'sendMail', fullDescription: 'Send a message to somebody.' },
    { name: 'search', server: 'web', id: 'web/search', fullDescription: 'Find pages.' },
    { name: 'search', server: 'shop', id: 'shop/search', fullDescription: 'Find articles to buy.' },
  ]);
  expect(executeSearchTools({ query: 'search' }, catalog).tools).toMatchObject([
    { name: 'search', id: 'web/search' },
    { name: 'search', id: 'shop/search' },
  ]);
  expect(names('shop/search', catalog)).toEqual(['shop/search', 'web/search']);
  expect(executeSearchTools({ query: 'search articles', limit: 1 }, catalog).more).toEqual(['web/search']);
  expect(executeSearchTools({ query: 'send mail' }, catalog).tools[0]).not.toHaveProperty('id');
});

test('C27 names with spaces and signs, in any case, are found as they stand and in lists', () => {
  const catalog = foreignCatalog(
    ['Get Weather Alerts', 'Get Weather', 'C++', 'x', 'tool', 'toolbox', 'Straße?'].map((name) => ({ name })),
  );
  const first = (query: string, count: number) => names(query, catalog).slice(0, count);
  expect(first('get weather', 2)).toEqual(['Get Weather', 'Get Weather Alerts']);
  expect(first('Get weather, tool; X', 3)).toEqual(['Get Weather', 'tool', 'x']);
  expect(first('c++', 1)).toEqual(['C++']);
  expect(first('straße?', 1)).toEqual(['Straße?']);
  expect(first('TOOL', 2)).toEqual(['tool', 'toolbox']);
  expect(first('[x] **tool**', 2)).toEqual(['x', 'tool']);
});

test('S1.15 a request in another script finds its tool', () => {
  const catalog = foreignCatalog([
    { name: 'recipe', fullDescription: '요리 레시피를 검색합니다. 스테이크도 있습니다.' },
    { name: 'code', fullDescription: 'GitHubのコードを検索する。' },
    { name: 'hindi', fullDescription: 'हिन्दी में मौसम बताता है' },
    { name: 'bar', fullDescription: 'Find a cafe\u0301.' },
  ]);
  expect(names('스테이크 만드는 법', catalog)).toEqual(['recipe']);
  expect(names('search GitHub for me', catalog)).toEqual(['code']);
  expect(names('コード', catalog)).toEqual(['code']);
  expect(names('आज का मौसम', catalog)).toEqual(['hindi']);
  expect(names('caf\u00e9 nearby', catalog)).toEqual(['bar']);
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
    fullDescription: written,
    keywords: fc.array(written, { maxLength: 2 }),
    shortDescription: written,
  });
  const query = written.filter((each) => each !== '');
  const check = (tools: Parameters<typeof foreignCatalog>[0], asked: string) => {
    const catalog = foreignCatalog(tools);
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
