// What a human is shown of a change: every byte that changes, also those that no line shows.

import { describe, expect, test } from 'vitest';
import { type FileDiff, fileDiffOf, newFileDiff, wholeContentDiff } from '../../src/files/diff.ts';
import { decode } from '../../src/files/text.ts';
import { questionLine } from '../../src/question-line.ts';

const file = (text: string) => decode(Buffer.from(text));
/** What a human is shown of the change, without its first line. */
const diff = (before: string, after: string) => behindHead(fileDiffOf('n', file(before), file(after)));
const behindHead = ({ text }: FileDiff) => text.slice(1).join('\n');
const NONE = '\\ No newline at end of file';
const STAYS = 'The lines stay the same.';

describe('a diff', () => {
  test.each([
    [
      'one mix of line ends and another',
      'a\r\nb\n',
      'a\nb\r\n',
      '@@ -1,2 +1,2 @@\n-a<U+000D>\n-b\n+a\n+b<U+000D>',
    ],
    [
      'a line end among others',
      'a\nb\n',
      'a\nb\nc\r\n',
      'Stored as UTF-8, LF; becomes UTF-8, mixed LF and CRLF.\n@@ -1,2 +1,3 @@\n a\n b\n+c<U+000D>',
    ],
    [
      'the first line end',
      'a',
      'a\r\n',
      `Stored as UTF-8, no line end; becomes UTF-8, CRLF.\n@@ -1,1 +1,1 @@\n-a\n${NONE}\n+a`,
    ],
    [
      'an empty file',
      '',
      '\ufeffa\r\n',
      'Stored as UTF-8, no line end; becomes UTF-8, byte order mark, CRLF.\n@@ -0,0 +1,1 @@\n+a',
    ],
    ['the mark', '\ufeffa', 'a', `Stored as UTF-8, byte order mark; becomes UTF-8.\n${STAYS}`],
    ['the last newline, lost', 'a\n', 'a', `@@ -1,1 +1,1 @@\n-a\n+a\n${NONE}`],
  ])('tells %s', (_, before, after, shown) => {
    expect(diff(before, after)).toBe(shown);
  });

  test('tells another encoding', () => {
    const latin = decode(Buffer.from('é\n', 'latin1'));
    expect(behindHead(fileDiffOf('n', latin, file('é\n')))).toBe(
      `Stored as Latin-1; becomes UTF-8.\n${STAYS}`,
    );
  });

  test('of any two short files that differ is another one', () => {
    const parts = ['', 'a', 'b', '\n', '\r\n', '\ufeff'];
    const texts = [
      ...new Set(parts.flatMap((x) => parts.flatMap((y) => parts.flatMap((z) => [`${x}${y}${z}`])))),
    ];
    for (const before of ['', 'a\n', 'a\r\n', 'a\r\nb\n', 'b']) {
      const shown = new Map<string, string>();
      for (const after of texts.filter((text) => text !== before)) {
        const text = diff(before, after);
        expect([shown.get(text), after]).toEqual([undefined, after]);
        shown.set(text, after);
      }
    }
  });
});

describe('lines whose end may be out of sight are named', () => {
  const long = `a${' '.repeat(300)}(evil)`;
  test.each([
    [
      'several, not those that were there',
      `${'x\n'.repeat(9)}b \n`,
      `${'x\n'.repeat(9)}b \nc\t\r\nd\n${long}\n`,
      'Note: lines 11, 13 are longer than 200 characters or end in white space.',
    ],
    [
      'many',
      '',
      'a \n'.repeat(15),
      'Note: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 5 more are longer than 200 characters or end in white space.',
    ],
  ])('%s', (_, before, after, note) => {
    expect(diff(before, after).split('\n@@ ')[0]?.split('\n').at(-1)).toBe(note);
  });

  test('in a whole content', () => {
    expect(wholeContentDiff(questionLine`New file n`, file('a\nb \n')).text.join('\n')).toBe(
      'New file n, 2 lines:\nNote: line 2 is longer than 200 characters or ends in white space.\n+a\n+b ',
    );
  });
});

test.each([
  ['\ufeffa', '1 line, byte order mark, no newline at the end:\n+a'],
  ['a\r\nb\n', '2 lines, mixed LF and CRLF line ends:\n+a<U+000D>\n+b'],
  ['', '0 lines:'],
])('the whole content %j tells how it is stored', (text, shown) => {
  expect(newFileDiff('n', file(text)).text.join('\n')).toBe(`New file n, ${shown}`);
});
