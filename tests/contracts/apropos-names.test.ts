// S0 on odd names: whatever characters names and patterns have, CHAR-EQUAL decides and code points order.

import { beforeAll, expect, test } from 'vitest';
import { expectOracle, lispString, type Search, searchText, sharedFixture } from '../oracle.ts';

const fixture = sharedFixture();
beforeAll(async () => {
  const names = ODD_NAMES.map(lispString).join(' ');
  const form = `(let ((package (make-package "ODD" :use ())))
    (dolist (name (list ${names}) (length (list ${names}))) (export (intern name package) package)))`;
  expect(await fixture.session.eval(form)).toBe(String(ODD_NAMES.length));
});

/** Letters whose case is not one to one: SBCL's CHAR-EQUAL and JavaScript differ on nearly all of them. */
const LETTERS = [
  ...['Straße', 'STRASSE', 'STRAẞE', 'İ', 'i', 'ı', 'ſ', 's', '\u212a', 'k', 'K', '\u2126', 'Ω', 'ω'],
  ...['ΣΑΣ', 'σας', 'σασ', 'é', 'É', 'e\u0301', 'ﬁ', 'ÿ', 'Ÿ', 'µ', 'μ', 'Μ', 'Ⅷ', 'ⅷ', 'Ⓐ', 'ⓐ', 'ა', 'Ა'],
];
/** Digraphs with a title case, which CHAR-EQUAL holds equal to neither of their cases. */
const DIGRAPHS = [
  '\u01c4',
  '\u01c5',
  '\u01c6',
  'x\u01c8y',
  'x\u01c9y',
  '\u01cb',
  '\u01cc',
  '\u01f2',
  '\u01f1',
];
const SIGNS = [
  '~a',
  '~%',
  '.*',
  '%',
  '%s',
  '*',
  '?',
  '[a-z]',
  "it's",
  '"quoted"',
  'back\\slash',
  '|bar|',
  '(',
  ';',
  '#x',
];
const INVISIBLE = [
  '',
  ' ',
  '\0',
  'a\0b',
  'new\nline',
  'tab\t',
  '\r',
  '\u007f',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\uffff',
];
const BEYOND = [
  '😀',
  'z😀',
  'z～',
  'z\ud800',
  '\udc00\ud800',
  'lone\ud83d',
  '\ude00lone',
  '\u{10ffff}',
  '𐐀',
  '𐐨',
];
const ODD_NAMES = [...LETTERS, ...DIGRAPHS, ...SIGNS, ...INVISIBLE, ...BEYOND];

const GROUPS: [string, string[]][] = [
  ['letters with unusual case', LETTERS],
  ['digraphs with a title case', DIGRAPHS],
  ['signs of other pattern languages', SIGNS],
  ['white space and control characters', INVISIBLE],
  ['characters beyond 16 bits and lone surrogates', BEYOND],
];

/** Returns searches for NAMES in all their cases and characters, in scope of a package or of all. In all, those characters
 *  that most names of SBCL have are no patterns. */
function searches(names: string[], scope: { package?: string }): Search[] {
  const isPattern = (character: string) => scope.package !== undefined || character > '\u007f';
  const patterns = names.flatMap((name) => [
    ...[name, name.toUpperCase(), name.toLowerCase()],
    ...[...name].filter(isPattern),
  ]);
  return [...new Set(patterns)].map((pattern) => ({ pattern, ...scope }));
}

test.each(GROUPS)('S0.3 S0.4 C14 in one package, %s match as CHAR-EQUAL says', async (_, names) => {
  await expectOracle(fixture, searches(names, { package: 'ODD' }));
});

test.each(GROUPS)('S0.3 S0.4 C14 in all packages, %s match as CHAR-EQUAL says', async (_, names) => {
  await expectOracle(
    fixture,
    searches(
      names.filter((name) => name !== ''),
      {},
    ),
  );
});

test('S0.3 the title case of a digraph finds all its cases, and the others not it', async () => {
  const text = (pattern: string) => fixture.session.text('apropos_search', { pattern });
  const cases = ['ODD::\u01c4 [SYMBOL]', 'ODD::\u01c5 [SYMBOL]', 'ODD::\u01c6 [SYMBOL]'];
  expect(await text('\u01c5')).toBe(searchText('\u01c5', cases));
  expect(await text('\u01c6')).toBe(searchText('\u01c6', ['ODD::\u01c4 [SYMBOL]', 'ODD::\u01c6 [SYMBOL]']));
});

test('S0.3 half of a character matches no whole one', async () => {
  const answer = await fixture.session.text('apropos_search', { pattern: '\ude00' });
  expect(answer).toBe(searchText('\ude00', ['ODD::\ude00lone [SYMBOL]']));
});

test('S0.4 a pattern longer than any name finds nothing', async () => {
  const pattern = 'x'.repeat(5000);
  expect(await fixture.session.text('apropos_search', { pattern })).toBe(searchText(pattern, []));
});

test('C10 S0.15 the order is that of code points, not of UTF-16', async () => {
  const answer = await fixture.session.text('apropos_search', { pattern: 'z', package: 'ODD' });
  const rows = ['ODD::[a-z] [SYMBOL]', 'ODD::z\ud800 [SYMBOL]', 'ODD::z～ [SYMBOL]', 'ODD::z😀 [SYMBOL]'];
  expect(answer).toBe(searchText('z', rows));
});

test('C14 a symbol that lost its home is listed with # for a package', async () => {
  const { session } = fixture;
  await session.eval(
    '(let ((s (intern "NO-HOME" (make-package "WAS-HOME" :use ())))) (import s "ODD") (export s "ODD") (unintern s "WAS-HOME"))',
  );
  expect(await session.text('apropos_search', { pattern: 'no-home' })).toBe(
    searchText('no-home', ['#::NO-HOME [SYMBOL]']),
  );
});
