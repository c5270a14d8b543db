// docs/develop/contracts.md has a row for every clause of the contracts, and every row says what shows it.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../harness.ts';

/** How many clauses each part has. */
const PARTS = { C: 32, 'S0.': 21, 'S1.': 18, 'S2.': 21, 'S3.': 18, 'S4.': 14 };
const CLAUSES = Object.entries(PARTS).flatMap(([part, count]) =>
  Array.from({ length: count }, (_, index) => `${part}${index + 1}`),
);

interface Row {
  clause: string;
  words: string;
  shownBy: string;
}

/** Returns the rows of the table in docs/develop/contracts.md. */
function tableRows(): Row[] {
  const lines = readFileSync(join(PROJECT, 'docs', 'develop', 'contracts.md'), 'utf8').split('\n');
  const cells = lines
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return cells.slice(2).map(([, clause = '', words = '', shownBy = '']) => ({ clause, words, shownBy }));
}

/** Returns the clauses that TITLE cites, as whole words. */
function citedIn(title: string): string[] {
  return title.match(/(?<![\w.])(?:C\d+|S\d+\.\d+)(?!\w)/g) ?? [];
}

/** Returns the titles of the tests in the text of a test file, also those that stand after a table. */
function titlesIn(text: string): string[] {
  const titles = text.matchAll(/(?:\btest\(|\)\()\s*(['"`])((?:\\.|(?!\1).)*)\1/g);
  return [...titles].map(([, , title = '']) => title);
}

/** Returns the clauses that the test titles of FILE cite. */
function citedBy(file: string): string[] {
  return titlesIn(readFileSync(join(PROJECT, file), 'utf8')).flatMap(citedIn);
}

function testFiles(): string[] {
  const entries = readdirSync(join(PROJECT, 'tests'), { recursive: true, encoding: 'utf8' });
  return entries
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `tests/${name.replaceAll('\\', '/')}`);
}

/** Returns the test files that SHOWN names. */
function filesOf(shown: string): string[] {
  return [...shown.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
}

test('every clause has exactly one row, in order', () => {
  expect(tableRows().map(({ clause }) => clause)).toEqual(CLAUSES);
});

test('every row has words of its own', () => {
  expect(tableRows().filter(({ words }) => words.length < 15)).toEqual([]);
});

test('every row names test files or the issue that will bring them, and nothing else', () => {
  const part = '(?:`tests/[\\w/-]+\\.test\\.ts`|issue \\d+|a later issue)';
  const whole = new RegExp(`^${part}(?:, ${part})*$`);
  expect(tableRows().filter(({ shownBy }) => !whole.test(shownBy))).toEqual([]);
});

test('every test file that a row names exists and has a test whose title cites the clause', () => {
  const wrong = tableRows().flatMap(({ clause, shownBy }) =>
    filesOf(shownBy)
      .filter((file) => !existsSync(join(PROJECT, file)) || !citedBy(file).includes(clause))
      .map((file) => `${clause} is not cited in ${file}`),
  );
  expect(wrong).toEqual([]);
});

test('no test title cites a clause that does not exist', () => {
  const files = testFiles();
  const stray = files.flatMap((file) =>
    citedBy(file)
      .filter((clause) => !CLAUSES.includes(clause))
      .map((clause) => `${file} cites ${clause}`),
  );
  expect(files).toContain('tests/contracts/coverage.test.ts');
  expect(stray).toEqual([]);
});

test('a clause that a title cites has a row that names a test file', () => {
  const shown = new Set(
    tableRows().flatMap(({ clause, shownBy }) => (filesOf(shownBy).length > 0 ? [clause] : [])),
  );
  const cited = new Set(testFiles().flatMap(citedBy));
  expect([...cited].filter((clause) => CLAUSES.includes(clause) && !shown.has(clause))).toEqual([]);
});

test('titles are read whole words at a time, whatever quotes and tables they have', () => {
  const text = [
    "test('one', () => {});",
    'test("two\'s", async () => {});',
    "test.each(['a', 'b'])('three %s', () => {});",
    "test.each([{}])(\n  'four \\' more',\n  async () => {},\n);",
    "expect('five').toBe('six');",
  ].join('\n');
  expect(titlesIn(text)).toEqual(['one', "two's", 'three %s', "four \\' more"]);
  expect(citedIn('S0.1 S0.10 xS0.1 (C9), C10: CL C U+00C1')).toEqual(['S0.1', 'S0.10', 'C9', 'C10']);
});
