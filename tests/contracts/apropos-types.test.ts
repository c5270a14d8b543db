// S0: what a symbol is labelled, which symbols a package has, and long answers.

import { expect, test } from 'vitest';
import { expectOracle, searchText, sharedFixture } from '../oracle.ts';

const fixture = sharedFixture();
const { session } = fixture;

function search(args: Record<string, unknown>): Promise<string> {
  return session.text('apropos_search', args);
}

/** Returns the rows of a search that answers with one page. */
async function rowsOf(args: Record<string, unknown>): Promise<string[]> {
  return [...(await search({ limit: 1000, ...args })).matchAll(/^ {2}(\S.*)$/gm)].map(([, row]) => row ?? '');
}

/** Each symbol of APP, and all that it names. */
const NATURES: [string, string[]][] = [
  ['SHAPE-AND-MACRO', ['MACRO', 'CLASS']],
  ['GREET', ['GENERIC-FUNCTION']],
  ['MANY-SIDED', ['FUNCTION', 'CLASS', 'VARIABLE']],
  ['SHAPE-AND-VARIABLE', ['CLASS', 'VARIABLE']],
  ['PERSON', ['CLASS']],
  ['TROUBLE', ['CLASS']],
  ['*LEVEL*', ['VARIABLE']],
  ['*UNBOUND-LEVEL*', ['VARIABLE']],
  ['+LIMIT+', ['VARIABLE']],
  ['**EVERYWHERE**', ['VARIABLE']],
  ['FIRST-LEVEL', ['VARIABLE']],
  ['LEVEL', []],
];
const FILTERS = ['MACRO', 'GENERIC-FUNCTION', 'FUNCTION', 'CLASS', 'VARIABLE'];

test.each(NATURES)(
  'C15 S0.12 APP::%s is labelled by the first, and found under each, of %j',
  async (name, natures) => {
    const label = natures[0] ?? 'SYMBOL';
    const unfiltered = await rowsOf({ pattern: name, package: 'APP' });
    expect(unfiltered.filter((row) => row.startsWith(`APP::${name} `))).toEqual([`APP::${name} [${label}]`]);
    for (const type of FILTERS) {
      const rows = await rowsOf({ pattern: name, package: 'APP', type: type.toLowerCase() });
      const expected = natures.includes(type) ? [`APP::${name} [${type}]`] : [];
      expect(
        rows.filter((row) => row.startsWith(`APP::${name} `)),
        type,
      ).toEqual(expected);
    }
  },
);

test.each(NATURES)(
  'S0.17 C15 describe_symbol tells all natures of APP::%s, the label first',
  async (symbol, natures) => {
    const text = await session.text('describe_symbol', { symbol, package: 'APP' });
    expect(text.split('\n')[0]).toBe(`APP::${symbol} [${natures.join(', ') || 'SYMBOL'}]`);
  },
);

test.each([
  ['if', 'FUNCTION'],
  ['list', 'FUNCTION, CLASS'],
  ['*', 'FUNCTION, VARIABLE'],
  ['print-object', 'GENERIC-FUNCTION'],
  ['t', 'CLASS, VARIABLE'],
  ['satisfies', 'SYMBOL'],
])('S0.17 C15 describe_symbol says that %s in CL is %s, and so does the search', async (symbol, natures) => {
  const described = await session.text('describe_symbol', { symbol, package: 'CL' });
  const row = `COMMON-LISP::${symbol.toUpperCase()} [${natures.split(',')[0]}]`;
  expect(described.split('\n')[0]).toBe(`COMMON-LISP::${symbol.toUpperCase()} [${natures}]`);
  expect(await rowsOf({ pattern: symbol, package: 'CL' })).toContain(row);
});

test('C15 list as a class shows CLASS, and * as a variable shows VARIABLE', async () => {
  expect(await search({ pattern: 'list', type: 'class', package: 'CL' })).toBe(
    searchText('list', ['COMMON-LISP::LIST [CLASS]']),
  );
  expect(await rowsOf({ pattern: '*', type: 'variable', package: 'CL' })).toContain(
    'COMMON-LISP::* [VARIABLE]',
  );
});

test('C15 a special operator is found as a function only', async () => {
  expect(await rowsOf({ pattern: 'unwind-protect', type: 'function', package: 'CL' })).toEqual([
    'COMMON-LISP::UNWIND-PROTECT [FUNCTION]',
  ]);
  expect(await rowsOf({ pattern: 'unwind-protect', type: 'macro', package: 'CL' })).toEqual([]);
});

test('C11 only symbols present in the package are found; a note tells of inherited ones', async () => {
  expect(await search({ pattern: 'mapc', package: 'APP' })).toBe(
    "Found 0 symbols matching 'mapc':\n\nNote: 4 inherited symbols match; inherited: true lists them.",
  );
  expect(await search({ pattern: 'with-open', package: 'APP', type: 'macro' })).toBe(
    "Found 0 symbols matching 'with-open':\n\nNote: 2 inherited symbols match; inherited: true lists them.",
  );
});

test('C11 without an inherited match, or with a present one, there is no note', async () => {
  expect(await search({ pattern: 'xyznonexistent', package: 'APP' })).toBe(
    "Found 0 symbols matching 'xyznonexistent':\n\n",
  );
  expect(await search({ pattern: 'borrowed', package: 'APP.LIB' })).toBe(
    searchText('borrowed', ['APP.LIB::BORROWED [FUNCTION]']),
  );
  expect(await search({ pattern: 'person', package: 'APP', type: 'class' })).toBe(
    searchText('person', ['APP::PERSON [CLASS]']),
  );
});

test('C11 inherited: true finds what the package inherits as well', async () => {
  const names = ['MAPC', 'MAPCAN', 'MAPCAR', 'MAPCON'];
  expect(await search({ pattern: 'mapc', package: 'APP', inherited: true })).toBe(
    searchText(
      'mapc',
      names.map((name) => `COMMON-LISP::${name} [FUNCTION]`),
    ),
  );
  await expectOracle(fixture, [
    { pattern: '', package: 'APP', inherited: true },
    { pattern: 'a', package: 'APP.FACADE', inherited: true },
    { pattern: 'e', package: 'CL', inherited: true },
    { pattern: '', package: 'SB-EXT', inherited: true, type: 'variable' },
  ]);
});

test('C11 S0.15 a symbol that is imported and inherited is listed once', async () => {
  expect(await search({ pattern: 'borrowed', package: 'APP', inherited: true })).toBe(
    searchText('borrowed', ['APP.LIB::BORROWED [FUNCTION]']),
  );
});

test('C11 inherited: true without a package changes nothing', async () => {
  const plain = await search({ pattern: 'apply' });
  expect(await search({ pattern: 'apply', inherited: true })).toBe(plain);
});

test('C13 limit and offset choose the lines; the header keeps the true count', async () => {
  const [rows = []] = await fixture.rows([{ pattern: 'a', package: 'CL' }]);
  for (const [offset, limit] of [
    [0, 1],
    [1, 2],
    [199, 7],
    [0, rows.length],
    [rows.length - 1, 1],
  ] as const) {
    expect(await search({ pattern: 'a', package: 'CL', offset, limit })).toBe(
      searchText('a', rows, offset, limit),
    );
  }
  const { length } = rows;
  expect(await search({ pattern: 'a', package: 'CL', offset: length, limit: 5 })).toBe(
    `${searchText('a', rows, length, 5)}Note: there are ${length} symbols, and none from offset ${length} on.`,
  );
});

test('C13 exactly 200 matches are listed whole, 201 with a last ...', async () => {
  await session.eval(
    '(let ((p (make-package "COUNTED" :use ()))) (dotimes (i 200) (intern (format nil "N~3,\'0D" i) p)))',
  );
  const rows = Array.from({ length: 201 }, (_, i) => `COUNTED::N${String(i).padStart(3, '0')} [SYMBOL]`);
  expect(await search({ pattern: '', package: 'COUNTED' })).toBe(searchText('', rows.slice(0, 200)));
  await session.eval('(intern "N200" "COUNTED")');
  expect(await search({ pattern: '', package: 'COUNTED' })).toBe(searchText('', rows, 0, 200));
});

test.each([{ limit: -1 }, { limit: 2.5 }, { offset: -1 }])(
  'C8 C13 %j is an error that names the parameter',
  async (page) => {
    const { text, isError } = await session.call('apropos_search', { pattern: 'car', ...page });
    expect(isError).toBe(true);
    expect(text).toContain(`'${Object.keys(page)[0]}'`);
  },
);

test('C13 the largest limit lists whole lines, and going on after them reaches every symbol', async () => {
  const [expected = []] = await fixture.rows([{ pattern: '' }]);
  const seen: string[] = [];
  for (let more = true; more; ) {
    const text = await search({ pattern: '', offset: seen.length, limit: 2000 });
    const lines = text.split('\n').slice(2);
    more = lines.at(-1) === '  ...';
    const rows = more ? lines.slice(0, -1) : lines;
    expect(rows.find((row, index) => row !== `  ${expected[seen.length + index]}`)).toBeUndefined();
    expect(rows.length).toBeGreaterThan(0);
    seen.push(...rows);
  }
  expect(seen.length).toBe(expected.length);
});
