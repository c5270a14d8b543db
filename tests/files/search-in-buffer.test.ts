// What search_in_buffer finds: text and regular expressions, lines and columns, in one file or many.

import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedWorkspace } from './sessions.ts';

// A pattern has an hour for a text, so none is ended.
const at = sharedWorkspace({ waits: { matchMs: 3_600_000 } });
beforeAll(() => {
  at.put('src/a.lisp', '(defun a ()\n  1)\n\n(defun b ()\n  (a))\n');
  at.put('src/b.lisp', ';; DEFUN\r\n(a)\r\n');
  at.put('notes', 'a😀b needle (defun\nλλ needle needle');
  at.put('bytes', Buffer.from([0, 1, 2]));
  at.put('.git/config', 'needle');
  at.put('node_modules/x/index.js', 'needle');
});

function find(pattern: string, more: object = {}): Promise<string> {
  return at.answer('search_in_buffer', { pattern, ...more });
}

const NO_TEXT = 'Note: not searched (not text, or too large): bytes.';

describe('plain text', () => {
  test('is found in all files, in any case, with the file, line and column', async () => {
    expect(await find('defun')).toBe(
      `Found 4 matches of 'defun' in 3 of 3 files:

  notes:
    1:13  a😀b needle (defun
  src/a.lisp:
    1:2  (defun a ()
    4:2  (defun b ()
  src/b.lisp:
    1:4  ;; DEFUN
${NO_TEXT}`,
    );
  });

  test('columns count characters, not their bytes or halves', async () => {
    expect(await find('needle', { buffer: 'notes' })).toBe(
      "Found 3 matches of 'needle' in notes:\n\n  1:5  a😀b needle (defun\n  2:4,11  λλ needle needle",
    );
  });

  test('none of its characters is special', async () => {
    expect(await find('(a))', { buffer: 'a.lisp' })).toBe(
      "Found 1 match of '(a))' in src/a.lisp:\n\n  5:3  (a))",
    );
    expect(await find('[^z]', { buffer: 'src', limit: 1 })).toContain('as a regular expression');
    expect(await find('(z', { buffer: 'a.lisp' })).toBe("Found 0 matches of '(z' in src/a.lisp");
  });

  test('that no file has is read as a regular expression, and that is said', async () => {
    expect(await find('zzz|needle', { buffer: 'notes', limit: 1 })).toBe(
      `No file contains the text 'zzz|needle', so the pattern was used as a regular expression.\n\n${(
        await find('needle', { buffer: 'notes', limit: 1 })
      ).replace("'needle'", "'zzz|needle'")}`,
    );
    at.put('bar/text', 'zzz|needle');
    expect(await find('zzz|needle', { buffer: 'bar' })).toBe(
      "Found 1 match of 'zzz|needle' in 1 of 1 file:\n\n  bar/text:\n    1:1  zzz|needle",
    );
  });

  test('C13 limit and offset reach all matches, and the total is true', async () => {
    const pages = await Promise.all(
      [0, 2, 4].map((offset) => find('needle', { buffer: 'notes', limit: 2, offset })),
    );
    expect(pages).toEqual([
      "Found 3 matches of 'needle' in notes:\n\n  1:5  a😀b needle (defun\n  2:4  λλ needle needle\n  ...",
      "Found 3 matches of 'needle' in notes:\n\n  2:11  λλ needle needle",
      "Found 3 matches of 'needle' in notes:\n\nNote: there are 3 matches, and none from offset 4 on.",
    ]);
  });

  test('C13 an answer is bounded in size, whatever is asked for', async () => {
    at.put('many/long', `${'needle '.repeat(3000)}\n`.repeat(20));
    const text = await find('needle', { buffer: 'many', limit: 2000 });
    expect(text).toMatch(/^Found 60000 matches of 'needle' in 1 of 1 file:\n/);
    expect(text).toMatch(/\n {2}\.\.\.$/);
    expect(text.length).toBeLessThan(40_000);
  });
});

describe('regular expressions', () => {
  /** A server in which a pattern has a second for a text. */
  const short = sharedWorkspace({ waits: { matchMs: 1000 } });

  test('of several lines, with where they end', async () => {
    expect(await find('\\(defun (\\w) \\(\\)\\n', { regex: true, buffer: 'a.lisp' })).toBe(
      `Found 2 matches of '\\(defun (\\w) \\(\\)\\n' in src/a.lisp:

  1:1-2:1  (defun a ()
  4:1-5:1  (defun b ()`,
    );
  });

  test('that match nothing match at each place once', async () => {
    expect(await find('^', { regex: true, buffer: 'a.lisp', limit: 3 })).toBe(
      "Found 5 matches of '^' in src/a.lisp:\n\n  1:1  (defun a ()\n  2:1  1)\n  3:1  \n  ...",
    );
    expect(await find('x*', { regex: true, buffer: 'b.lisp', limit: 1 })).toMatch(
      /^Found 13 matches of 'x\*'/,
    );
  });

  test('find whole characters, and the properties of Unicode', async () => {
    expect(await find('a.b', { regex: true, buffer: 'notes' })).toContain('\n  1:1  a😀b needle');
    expect(await find('\\p{Script=Greek}+', { regex: true, buffer: 'notes' })).toContain('\n  2:1  λλ');
  });

  test('that cannot be read are refused', async () => {
    expect(await find('(', { regex: true })).toBe(
      `failed: The regular expression cannot be read: unterminated group. Its syntax is JavaScript's; without regex: true the pattern is plain text.`,
    );
  });

  const ENDLESS = { pattern: '(y+)+$z', regex: true, buffer: 'slow' };

  test('that would take for ever are ended in time', async () => {
    short.put('slow', `${'y'.repeat(50_000)}\n`);
    expect(await short.answer('search_in_buffer', ENDLESS)).toBe(
      'failed: The search was stopped: the pattern took longer than 1 s. Repetitions within repetitions, such as (a+)+, cause this; use a simpler pattern.',
    );
  });

  test('that take long do not hold up the server', async () => {
    at.put('slow', `${'y'.repeat(50_000)}\n`);
    const cancel = new AbortController();
    let ended = false;
    const slow = at.session.call('search_in_buffer', ENDLESS, { signal: cancel.signal }).finally(() => {
      ended = true;
    });
    await at.answer('image_status', {});
    expect(ended).toBe(false);
    cancel.abort();
    await expect(slow).rejects.toThrow();
  });

  test('that would take for ever in one file are noted, and the others are searched', async () => {
    short.put('hard/a', `${'y'.repeat(50_000)}\n`);
    short.put('hard/b', 'yq\n');
    const search = { pattern: '(y+)+$z|q', regex: true, buffer: 'hard' };
    expect(await short.answer('search_in_buffer', search)).toBe(
      "Found 1 match of '(y+)+$z|q' in 1 of 1 file:\n\n  hard/b:\n    1:2  yq\nNote: not searched, because the pattern took too long or too much stack there: hard/a. Repetitions within repetitions, such as (a+)+, cause this; use a simpler pattern.",
    );
  });

  test('that need too much stack are refused with advice', async () => {
    at.put('stack', 'ab'.repeat(4_000_000));
    expect(await find('(a|b)*c', { regex: true, buffer: 'stack' })).toBe(
      'failed: The search was stopped: the pattern takes too much stack for this text. Repeated groups that match long text, such as (a|b)*, cause this; use a character class such as [ab]*, or a simpler pattern.',
    );
  });
});

describe('where is searched', () => {
  test('version control and installed code are left out, and links are not followed', async () => {
    symlinkSync(at.outside, join(at.root, 'link'));
    symlinkSync('.', join(at.root, 'loop'));
    expect(await find('SECRET')).toMatch(/^Found 0 matches of 'SECRET' in \d+ files(?:\n|$)/);
    expect(await find('needle', { limit: 1 })).toMatch(/^Found \d+ matches of 'needle' in \d+ of \d+ files/);
    expect(await find('needle', { buffer: '.git' })).toBe(
      "Found 1 match of 'needle' in 1 of 1 file:\n\n  .git/config:\n    1:1  needle",
    );
  });

  test.each<[string, string]>([
    ['none.lisp', 'There is no file none.lisp in the workspace ROOT. No file has a similar name.'],
    ['../outside', 'Path ../outside is outside the workspace ROOT. File tools stay inside it;'],
  ])('%s is refused', async (buffer, text) => {
    expect(await find('x', { buffer })).toContain(`failed: ${text.replace('ROOT', at.root)}`);
  });

  test('a file that is no text is told', async () => {
    expect(await find('x', { buffer: 'bytes' })).toBe(`Found 0 matches of 'x' in bytes\n${NO_TEXT}`);
  });

  test('files that are no text are named again only when they are others, or one is searched', async () => {
    await find('not there');
    expect(await find('not there')).toMatch(/^Found 0 matches of 'not there' in \d+ files$/);
    at.put('more-bytes', Buffer.from([0, 1, 2]));
    expect(await find('not there')).toMatch(
      /files\nNote: not searched \(not text, or too large\): .*more-bytes/,
    );
    rmSync(join(at.root, 'more-bytes'));
    await find('not there');
    expect(await find('x', { buffer: 'bytes' })).toContain(NO_TEXT);
  });

  test('the empty pattern is refused', async () => {
    expect(await find('')).toBe("failed: Parameter 'pattern' must not be empty.");
    expect(await find('x'.repeat(10_001))).toBe(
      "failed: Parameter 'pattern' can have at most 10000 characters. Give the beginning of the text.",
    );
  });
});

describe('code', () => {
  beforeAll(() => {
    at.put(
      'code/a.lisp',
      ';; calls old-name\n(old-name 1)\n(list #\'app:OLD-NAME "old-name"\n  (setf   (old-name x) 2))\n',
    );
    at.put('code/readme.md', 'old-name');
  });

  test('is found by a whole symbol, not in comments, strings and other files', async () => {
    expect(await find('old-name', { code: true, buffer: 'code' })).toBe(
      "Found 3 matches of 'old-name' in 1 of 1 file:\n\n  code/a.lisp:\n    2:2  (old-name 1)\n    3:9  (list #'app:OLD-NAME \"old-name\"\n    4:12  (setf   (old-name x) 2))",
    );
    expect(await find('old', { code: true, buffer: 'code' })).toBe("Found 0 matches of 'old' in 1 file");
  });

  test('is found by a piece of a form, whatever its layout, and by a regular expression', async () => {
    expect(await find('(setf (old-name x)', { code: true, buffer: 'code' })).toContain(
      '  code/a.lisp:\n    4:3  ',
    );
    expect(await find('old-n.me', { code: true, regex: true, buffer: 'code' })).toMatch(/^Found 3 matches/);
  });

  test('has the right line and column where one match begins within another', async () => {
    at.put('code/a.lisp', '(one\n (f\n  (f\n   (f 1))))\n');
    expect(await find('(f (f', { code: true, buffer: 'code' })).toBe(
      "Found 2 matches of '(f (f' in 1 of 1 file:\n\n  code/a.lisp:\n    2:2-3:5  (f (f (f 1)))\n    3:3-4:6  (f (f 1))",
    );
  });

  test('is none in a pattern without a token', async () => {
    expect(await find('; no', { code: true })).toBe(
      'failed: With code: true, the pattern must be Lisp: a symbol, or the beginning of a form, such as "(setf (car". Leave out code: true to find any text.',
    );
    expect(await find(`(${'a '.repeat(1000)})`, { code: true })).toBe(
      'failed: With code: true, the pattern can have at most 2000 characters. Give the beginning of the form.',
    );
  });
});
