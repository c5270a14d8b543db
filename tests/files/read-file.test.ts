// What read_file shows of a file: ranges, bounds, encodings, and what it does not read.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedWorkspace } from './sessions.ts';

const at = sharedWorkspace();

function read(path: string, more: object = {}): Promise<string> {
  return at.answer('read_file', { path, ...more });
}

describe('a range of lines', () => {
  beforeAll(() => {
    at.put('five.lisp', '(defun a ()\n  1)\n\n(defun b ()\n  (a))\n');
  });

  test.each([
    [{}, 'lines 1 to 5 of 5, 37 bytes\n\n(defun a ()\n  1)\n\n(defun b ()\n  (a))'],
    [{ start_line: 2, end_line: 4 }, 'lines 2 to 4 of 5, 37 bytes\n\n  1)\n\n(defun b ()'],
    [{ start_line: 5 }, 'line 5 of 5, 37 bytes\n\n  (a))'],
    [{ start_line: 4, end_line: 99 }, 'lines 4 to 5 of 5, 37 bytes\n\n(defun b ()\n  (a))'],
    [{ start_line: 2, limit: 2 }, 'lines 2 to 3 of 5, 37 bytes; start_line 4 reads on\n\n  1)\n'],
  ])('%j', async (range, text) => {
    expect(await read('five.lisp', range)).toBe(`five.lisp, ${text}`);
  });

  test.each([
    [{ start_line: 6 }, 'five.lisp has 5 lines; start_line 6 is beyond its end.'],
    [{ start_line: 3, end_line: 2 }, 'end_line 2 is before start_line 3.'],
  ])('%j is refused', async (range, text) => {
    expect(await read('five.lisp', range)).toBe(`failed: ${text}`);
  });
});

describe('several files', () => {
  beforeAll(() => {
    at.put('one.txt', 'one\n');
    at.put('two.txt', 'two\nzwei\n');
    at.put('long.txt', `${'x'.repeat(30_000)}\n`);
  });
  const several = (paths: string[], more: object = {}) => at.answer('read_file', { paths, ...more });

  test('are read in one call, each as by itself', async () => {
    expect(await several(['one.txt', 'two.txt'], { limit: 1 })).toBe(
      `${await read('one.txt', { limit: 1 })}\n\n${await read('two.txt', { limit: 1 })}`,
    );
    expect(await read('one.txt', { paths: ['two.txt'] })).toBe(
      `${await read('one.txt')}\n\n${await read('two.txt')}`,
    );
  });

  test('are read once each, and the one that is required may be empty', async () => {
    const both = await several(['one.txt', 'two.txt']);
    expect(await read('', { paths: ['one.txt', 'two.txt', 'one.txt'] })).toBe(both);
    expect(await read('one.txt', { paths: ['one.txt', 'two.txt'] })).toBe(both);
    expect(await read('', { paths: [] })).toBe('failed: The path must not be empty.');
  });

  test('that fill the answer are read, and the others named', async () => {
    at.put('long2.txt', `${'x'.repeat(30_000)}\n`);
    expect(await several(['two.txt', 'long.txt', 'long2.txt', 'one.txt'])).toBe(
      `${await read('two.txt')}\n\n${await read('long.txt')}\n\nNot shown, as the answer is full: long2.txt, one.txt. Ask for those in another call.`,
    );
  });

  test('are at least one', async () => {
    expect(await several([])).toBe('failed: paths is empty; give at least one path.');
  });
});

describe('a directory', () => {
  beforeAll(() => {
    at.put('dir/b.lisp', '(b)\n');
    at.put('dir/a.lisp', '(a)\n(aa)\n');
    at.put('dir/more/c.lisp', '(c)\n');
    at.put('dir/more/d.bin', Buffer.from([1, 0, 2]));
    at.put('dir/node_modules/left.js', 'out');
  });

  test('is read as each of its files, those of its own before those in directories', async () => {
    const files = await at.answer('read_file', {
      paths: ['dir/a.lisp', 'dir/b.lisp', 'dir/more/c.lisp'],
    });
    const left = 'dir/more/d.bin is a binary file, which is not shown.';
    expect(await read('dir')).toBe(`dir has 4 files.\n\n${files}\n\n${left}`);
    expect(await at.answer('read_file', { paths: ['dir/more', 'dir/b.lisp'] })).toBe(
      `${await read('dir/more')}\n\n${await read('dir/b.lisp')}`,
    );
  });

  test('without files is told so', async () => {
    mkdirSync(join(at.root, 'nothing'));
    expect(await read('nothing')).toBe('nothing has 0 files.');
  });

  const put = (size: number, ...names: string[]) => {
    for (const name of names) at.put(`full/${name}.txt`, `${'x'.repeat(size)}\n`);
  };
  const line = (size: number) => `line 1 of 1, ${size + 1} bytes`;

  test('that just fits is read, and of one that does not all that fits', async () => {
    put(18_900, 'one', 'two');
    const both = `${await read('full/one.txt')}\n\n${await read('full/two.txt')}`;
    expect(await read('full')).toBe(`full has 2 files.\n\n${both}`);
    put(300, 'three');
    expect(await read('full')).toBe(
      `full has 3 files.\n\n${await read('full/one.txt')}\n\n${await read('full/three.txt')}\n\nNot shown, as the answer is full; to read them, give their names in paths:\n\n  full/two.txt, ${line(18_900)}`,
    );
  });

  test('of which less than half fits is listed', async () => {
    put(30_000, 'two', 'three');
    put(3000, 'four');
    expect(await read('full')).toBe(
      `full has 4 files, too long for one answer:\n\n  full/four.txt, ${line(3000)}\n  full/one.txt, ${line(18_900)}\n  full/three.txt, ${line(30_000)}\n  full/two.txt, ${line(30_000)}\n\nRead some of them with parameter 'paths', or the outline of one with read_definition.`,
    );
  });

  test('with too many files for a list tells how many more there are', async () => {
    for (let file = 0; file < 200; file += 1) at.put(`many/${'n'.repeat(150)}${file}.txt`, 'x'.repeat(300));
    const text = await read('many');
    const listed = text.match(/^ {2}many/gm)?.length ?? 0;
    expect(text).toContain('many has 200 files, too long for one answer:');
    expect(text).toContain(
      `\n  ...\n\nNote: ${200 - listed} more files are not listed. Name a subdirectory.`,
    );
    expect(text.length).toBeLessThan(40_000);
  });

  test('is given to code whole', async () => {
    const form = '(live-lisp:call-tool "read_file" :path "full")';
    expect(
      await at.session.eval(
        `(map 'list (lambda (file) (length (gethash "text" file))) (gethash "files" ${form}))`,
      ),
    ).toContain('(3000 18900 30000 30000)');
  });
});

describe('how a file is stored', () => {
  test.each<[string, string | Buffer, string]>([
    ['empty', '', 'empty is empty (0 bytes).'],
    ['unended', 'one\ntwo', 'unended, lines 1 to 2 of 2, 7 bytes, no newline at the end\n\none\ntwo'],
    ['crlf', 'one\r\ntwo\r\n', 'crlf, lines 1 to 2 of 2, 10 bytes, CRLF line ends\n\none\ntwo'],
    ['mark', '\ufeffhello\n', 'mark, line 1 of 1, 9 bytes, byte order mark\n\nhello'],
    ['only-mark', '\ufeff', 'only-mark is empty (3 bytes, byte order mark).'],
    ['latin1', Buffer.from('café\n', 'latin1'), 'latin1, line 1 of 1, 5 bytes, Latin-1\n\ncafé'],
  ])('%s', async (name, content, text) => {
    at.put(name, content);
    expect(await read(name)).toBe(text);
  });

  test.each<[string, Buffer, string]>([
    ['utf16be', Buffer.from('\ufeffhi', 'utf16le').swap16(), 'UTF-16 text'],
    ['binary', Buffer.from([1, 0, 2]), 'a binary file'],
  ])('%s is not shown', async (name, content, kind) => {
    at.put(name, content);
    expect(await read(name)).toBe(`failed: ${name} is ${kind}, which is not shown.`);
  });
});

describe('a large file', () => {
  const LINE = '0123456789'.repeat(10);
  const END = 'the end';
  beforeAll(() => {
    at.put('huge', `${`${LINE}\n`.repeat(200_000)}${END}`);
    at.put('one-line', 'x'.repeat(20 * 1024 * 1024));
  });

  test('is read as far as one answer has room, and on from there', async () => {
    const text = await read('huge');
    const [head = '', ...lines] = text.split('\n');
    const shown = lines.length - 1;
    expect(head).toBe(
      `huge, lines 1 to ${shown}, 20200007 bytes, too large to count its lines; start_line ${shown + 1} reads on`,
    );
    expect(shown).toBeGreaterThan(300);
    expect(text.length).toBeLessThan(40_000);
  });

  test('is read in its middle and at its end, where its lines are counted', async () => {
    expect(await read('huge', { start_line: 150_000, end_line: 150_001 })).toBe(
      `huge, lines 150000 to 150001, 20200007 bytes, too large to count its lines\n\n${LINE}\n${LINE}`,
    );
    expect(await read('huge', { start_line: 200_000 })).toBe(
      `huge, lines 200000 to 200001 of 200001, 20200007 bytes, no newline at the end\n\n${LINE}\n${END}`,
    );
    expect(await read('huge', { start_line: 200_002 })).toBe(
      'failed: huge has fewer than 200002 lines; start_line 200002 is beyond its end.',
    );
  });

  test('of one line is shown with its middle left out', async () => {
    const text = await read('one-line');
    expect(text).toMatch(/^one-line, line 1, 20971520 bytes, too large to count its lines.*\n\nx/);
    expect(text).toMatch(/\n\[\.\.\. \d+ characters left out \.\.\.\]\n/);
    expect(text.length).toBeLessThan(41_000);
  });
});

test('S2.21 data for code has the range, the totals and the text', async () => {
  at.put('data.txt', 'one\ntwo\n');
  const form = '(live-lisp:call-tool "read_file" :path "data.txt" :start-line 2)';
  expect(await at.session.eval(`(gethash "text" ${form})`)).toContain('"two"');
  expect(await at.session.eval(`(gethash "totalLines" ${form})`)).toContain('2');
});

test('of a file that is not there, similar names are told', async () => {
  expect(await read('none')).toBe(
    `failed: There is no file none. Relative paths start at ${at.root}. No file has a similar name.`,
  );
  at.put('similar/reader.lisp', '');
  expect(await read('src/raeder.lisp')).toBe(
    `failed: There is no file src/raeder.lisp. Relative paths start at ${at.root}. Similar names: similar/reader.lisp.`,
  );
});
