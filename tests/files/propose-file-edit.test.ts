// What propose_file_edit changes, what it refuses before a human is asked, and what they are shown.

import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { within } from '../load.ts';
import { changedMeanwhile } from '../said.ts';
import { APPROVE, accept, DENY, sharedWorkspace } from './sessions.ts';

const at = sharedWorkspace({ era: 'modern' });
beforeEach(() => {
  at.questions.length = 0;
  at.human = () => APPROVE;
});

function edit(path: string, original: string, modified: string, more: object = {}): Promise<string> {
  return at.answer('propose_file_edit', { path, original, modified, ...more });
}

function bytes(path: string): string {
  return readFileSync(join(at.root, path), 'latin1');
}

describe('an edit', () => {
  test('replaces the one place, and the answer says where', async () => {
    chmodSync(at.put('a.lisp', '(defun a ()\n  1)\n\n(defun b ()\n  (a))\n'), 0o750);
    expect(await edit('a.lisp', '(defun b ()\n  (a))', '(defun b ()\n  (list (a)))')).toBe(
      'Changed a.lisp: line 5, +1 −1. It has 44 bytes and 2 top-level forms now.',
    );
    expect(bytes('a.lisp')).toBe('(defun a ()\n  1)\n\n(defun b ()\n  (list (a)))\n');
    expect(statSync(join(at.root, 'a.lisp')).mode & 0o777).toBe(0o750);
  });

  test('can delete', async () => {
    at.put('delete', 'one\ntwo\nthree\n');
    expect(await edit('delete', 'two\n', '')).toBe('Changed delete: line 2, +0 −1. It has 10 bytes now.');
    expect(await edit('delete', 'one\nthree\n', '')).toBe(
      'Changed delete: line 1, +0 −2. It has 0 bytes now.',
    );
    expect(bytes('delete')).toBe('');
  });

  test('with an empty original makes a file, or fills an empty one', async () => {
    expect(await edit('deep/new', '', 'one\n')).toBe('Created deep/new. It has 4 bytes.');
    at.put('hollow', '');
    expect(await edit('hollow', '', 'one\n')).toBe('Changed hollow: line 1, +1 −0. It has 4 bytes now.');
  });

  test.each<[string, string | Buffer, string, string, string]>([
    ['CRLF', 'one\r\ntwo\r\nthree\r\n', 'two\nthree', '2\n2.5\n3', 'one\r\n2\r\n2.5\r\n3\r\n'],
    ['mixed line ends', 'one\ntwo\r\nthree\n', 'three', '3\n4', 'one\ntwo\r\n3\n4\n'],
    ['a byte order mark', '\ufeffone\n', 'one', '1', '\xef\xbb\xbf1\n'],
    ['Latin-1', Buffer.from('café\n', 'latin1'), 'é', 'è', 'caf\xe8\n'],
    ['dollars, which replacing could take for patterns', '$&$1\n', '$1', "$$$&$'", "$&$$$&$'\n"],
  ])('keeps %s', async (_, content, original, modified, expected) => {
    at.put('kept', content);
    expect(await edit('kept', original, modified)).toMatch(/^Changed kept: /);
    expect(bytes('kept')).toBe(expected);
  });
});

describe('without asking anybody, it refuses', () => {
  beforeAll(() => {
    at.put('text', 'one\n  (two   three)\nfour\nfive\nfour\n');
    at.put('binary', Buffer.from([0, 1]));
    at.put('rows', 'row\n'.repeat(30));
    at.put('latin', Buffer.from('café\n', 'latin1'));
  });

  const HEAD = "The text of 'original' was not found in text as it is on the disk; nothing was changed.";
  test.each<[string, string, string, string, string]>([
    [
      'a stale original, with the nearest place',
      'text',
      'five\nfoul',
      'x',
      `${HEAD} The most similar text is lines 4 to 5:\n\n4: five\n5: four\n\nGive the exact text as parameter 'original'.`,
    ],
    [
      'an original with other white space',
      'text',
      '(two three)\n  four',
      'x',
      `${HEAD} The most similar text is lines 2 to 3, which differs only in white space:\n\n2:   (two   three)\n3: four\n\nGive the exact text as parameter 'original'.`,
    ],
    [
      'an original like nothing',
      'text',
      '#<zzz>',
      'x',
      `${HEAD} No similar text was found; read the file again.`,
    ],
    [
      'an original that occurs in several places, with all lines',
      'text',
      'four',
      'x',
      `The text of 'original' occurs 2 times in text, at lines 3, 5. Give more of the text around it, so that it occurs once.`,
    ],
    [
      'an original that occurs in many places, with the first lines',
      'rows',
      'row',
      'x',
      `The text of 'original' occurs 30 times in rows, first at lines ${Array.from({ length: 20 }, (_, n) => n + 1).join(', ')}. Give more of the text around it, so that it occurs once.`,
    ],
    [
      'places that overlap',
      'over',
      'aa',
      'x',
      `The text of 'original' occurs 2 times in over, at line 1. Give more of the text around it, so that it occurs once.`,
    ],
    [
      'no change',
      'text',
      'one',
      'one',
      "Parameters 'original' and 'modified' are the same, so there is nothing to change.",
    ],
    [
      'an empty original of a file with text',
      'text',
      '',
      'x',
      "text exists and is not empty, so 'original' must be the text to replace. It may be empty only for a new file.",
    ],
    [
      'a file that is not there',
      'none',
      'a',
      'b',
      'There is no file none to change. Relative paths start at ROOT; an empty original makes a new file.',
    ],
    ['a binary file', 'binary', 'a', 'b', 'binary is a binary file, which this tool does not change.'],
    [
      'what the encoding of the file lacks',
      'latin',
      'caf',
      'λ',
      'latin is in Latin-1, which has no λ. Write the whole file with write_file, which makes it UTF-8.',
    ],
  ])('%s', async (_, path, original, modified, text) => {
    at.put('over', 'aaa');
    expect(await edit(path, original, modified)).toBe(`failed: ${text.replace('ROOT', at.root)}`);
    expect(at.questions).toEqual([]);
  });

  test('in time, however large the file and however often the text stands in it', async () => {
    at.put('lines', 'the same line\n'.repeat(100_000));
    await within(3000, async () => {
      expect(await edit('lines', 'e', 'E')).toContain(
        "The text of 'original' occurs 300000 times in lines, first at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20. Give",
      );
      expect(await edit('lines', 'the sane line\n'.repeat(20_000), 'x')).toMatch(
        /The most similar text is lines 1 to /,
      );
    });
    rmSync(join(at.root, 'lines'));
  });
});

// How a question travels in each era is in tests/server/approvals.test.ts.
describe('the question', () => {
  beforeEach(() => {
    at.put('a.txt', 'one\ntwo\n');
  });
  const propose = (original: string, modified: string, more: object = {}) =>
    edit('a.txt', original, modified, more);

  test('shows what changes above the reason, which cannot look like more than that', async () => {
    at.human = () => DENY;
    const description = 'Harmless.\n\n--- other\n+++ other\u202e\u0007';
    expect(await propose('two', '2', { description })).toBe('failed: Tool execution denied by user');
    expect(at.questions).toEqual([
      `Approve propose_file_edit (dangerous)? line 2, +1 \u22121, in a.txt
-two
+2
The agent says: Harmless. --- other +++ other<U+202E><U+0007>
All of it: FILE`,
    ]);
    expect(bytes('a.txt')).toBe('one\ntwo\n');
  });

  test('shows hidden characters in the diff, and is bounded', async () => {
    at.human = () => DENY;
    await propose('two', '\u202e\u200b\u001b[2K\rx');
    expect(at.questions[0]).toContain('+<U+202E><U+200B><U+001B>[2K<U+000D>x');
    await propose('two', 'long\n'.repeat(1_500), { description: 'x'.repeat(5000) });
    expect(at.questions[1]).toMatch(
      /^97 of 1503 lines are shown\. Approve propose_file_edit \(dangerous\)\? line 2,\n\u2026 \+1501 \u22121, in a\.txt\n-two\n(?:\+long\n){96}All of it: FILE$/,
    );
  });

  test('approved after the file changed elsewhere, nothing is applied', async () => {
    at.human = () => {
      writeFileSync(join(at.root, 'a.txt'), 'zero\none\ntwo\n');
      return APPROVE;
    };
    expect(await propose('two', '2')).toBe(`failed: ${changedMeanwhile('propose_file_edit')}`);
    expect(bytes('a.txt')).toBe('zero\none\ntwo\n');
  });

  test('approved for the session, Lisp files of the same folder are changed without asking', async () => {
    at.human = () => accept({ decision: 'approve for this session' });
    at.put('b.lisp', 'one\ntwo\n');
    expect(await propose('two', '2', { path: 'b.lisp' })).toMatch(/^Changed/);
    expect(await propose('one', '1', { path: 'b.lisp' })).toMatch(/^Changed/);
    at.put('sub/b.lisp', 'one\n');
    at.human = () => DENY;
    expect(await edit('sub/b.lisp', 'one', '1')).toMatch(/^failed/);
    expect(at.questions.length).toBe(2);
  });
});
