// Names that imitate others are shown as what they are, and names of all scripts as they are written.

import { expect, test } from 'vitest';
import { visible, visibleLine, visibleName } from '../../src/visible.ts';

test.each([
  'src/a.lisp',
  '\u03bb.lisp',
  '\u65e5\u672c\u8a9eabc.lisp',
  'na\u00efve-\u00f8\u00df.lisp',
  '\u0939\u093f\u0928\u094d\u0926\u0940.txt',
  '\u05e2\u05d1\u05e8\u05d9\u05ea.txt',
])('the name %s is shown as it is', (name) => {
  expect(visibleName(name)).toBe(name);
});

test.each([
  ['a Cyrillic letter among Latin ones', 'm\u0430in.lisp', 'm<U+0430>in.lisp'],
  [
    'a word of Cyrillic letters that all look Latin',
    '\u0441\u043e\u0440\u0435',
    '<U+0441><U+043E><U+0440><U+0435>',
  ],
  ['a wide letter', '\uff41bc', '<U+FF41>bc'],
  ['a mathematical letter', '\u{1d41a}b', '<U+1D41A>b'],
  ['a phonetic letter', '\u0261it', '<U+0261>it'],
  ['a letter without its dot', 'ma\u0131n', 'ma<U+0131>n'],
  ['a sign that looks like a slash', 'a\u2215b', 'a<U+2215>b'],
  ['a mark on a letter', 'a\u0336b', 'a<U+0336>b'],
  ['a letter in two parts', 'e\u0301', 'e<U+0301>'],
  ['stacked marks', '\u0e01\u0e34\u0e48\u0e48\u0e48', '\u0e01\u0e34\u0e48<U+0E48><U+0E48>'],
  ['what reorders', 'a\u202eb', 'a<U+202E>b'],
  ['a letter of a rare script', '\ua4ee\ua4d6', '<U+A4EE><U+A4D6>'],
  ['a stroke that looks like a letter', 'lisp\u4e28', 'lisp<U+4E28>'],
  ['blanks in a row', 'a.lisp   b', 'a.lisp <U+0020><U+0020>b'],
])('%s is shown as a code in a name', (_, name, shown) => {
  expect(visibleName(name)).toBe(shown);
});

test.each([
  ['what reorders', '\u2066', '<U+2066>'],
  ['controls', '\0\u001b\r\u007f\u0085', '<U+0000><U+001B><U+000D><U+007F><U+0085>'],
  ['what has no width', '\u200b\u00ad\ufeff', '<U+200B><U+00AD><U+FEFF>'],
  ['further ends of lines', '\u2028\u2029', '<U+2028><U+2029>'],
  ['what looks like a blank', '\u3164\u00a0\u3000\u2800', '<U+3164><U+00A0><U+3000><U+2800>'],
  ['half of a character', '\ud800', '<U+D800>'],
  ['a tag', '\u{e0041}', '<U+E0041>'],
])('%s is shown as a code everywhere', (_, text, shown) => {
  expect([visible(text), visibleName(text)]).toEqual([shown, shown]);
});

test('other text shows what hides or reorders as codes, and nothing else', () => {
  const text = '\u03bbx \u2192\t\u0430b\u202e\n';
  expect(visible(text)).toBe('\u03bbx \u2192\t\u0430b<U+202E>\n');
  expect(visibleLine(text)).toBe('\u03bbx \u2192<U+0009>\u0430b<U+202E><U+000A>');
});
