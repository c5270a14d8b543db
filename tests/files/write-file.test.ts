// What write_file writes, what its human is shown before, and that nothing else happens.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changedMeanwhile, NUL_IN_PATH, noRegularFile } from '../said.ts';
import { APPROVE, DENY, type FileSession, openWorkspace } from './sessions.ts';
import { tree } from './workspaces.ts';

const CHANGED = `failed: ${changedMeanwhile('write_file')}`;

// How a question travels in each era is in tests/server/approvals.test.ts.
describe('write_file', () => {
  let at: FileSession;
  beforeAll(async () => {
    at = await openWorkspace({ era: 'modern' });
    // What stands for protected folders is made when the image starts, not while the root is emptied.
    await at.answer('apropos_search', { pattern: 'mapcar' });
  });
  afterAll(() => at.close());
  beforeEach(() => {
    rmSync(at.root, { recursive: true });
    mkdirSync(at.root);
    at.questions.length = 0;
    at.human = () => APPROVE;
  });

  const write = (path: string, content: string) => at.answer('write_file', { path, content });
  const text = (path: string) => readFileSync(join(at.root, path), 'utf8');

  test('S2.17 C18 writes a new file, with its directories, and tells its bytes and the path as given', async () => {
    expect(await write('new/deep/./λ.lisp', 'λ😀\n')).toBe('Wrote 7 bytes to new/deep/./λ.lisp');
    expect(text('new/deep/λ.lisp')).toBe('λ😀\n');
    expect(at.questions).toEqual([
      'Approve write_file (dangerous)? new file, +1 \u22120, in new/deep/λ.lisp\n+λ😀\nAll of it: FILE',
    ]);
    expect(await write('empty', '')).toBe('Wrote 0 bytes to empty');
    expect(tree(at.root)).toEqual(['empty', 'new', 'new/deep', 'new/deep/λ.lisp']);
  });

  test('S2.17 replaces what is there, once a human has seen the difference', async () => {
    at.put('a.txt', 'one\ntwo\nthree\n');
    expect(await write('a.txt', 'one\n2\nthree')).toBe('Wrote 11 bytes to a.txt');
    expect(text('a.txt')).toBe('one\n2\nthree');
    expect(at.questions[0]).toBe(`Approve write_file (dangerous)? line 2, +2 \u22122, in a.txt
-two
-three
+2
+three
\\ No newline at end of file
All of it: FILE`);
  });

  test('S2.12 denied, nothing is written, and no directory is made', async () => {
    at.human = () => DENY;
    expect(await write('new/deep/x', 'x')).toBe('failed: Tool execution denied by user');
    expect(tree(at.root)).toEqual([]);
  });

  test.each<[string, (path: string) => void]>([
    ['changed', (path) => writeFileSync(path, 'someone else')],
    ['removed', (path) => rmSync(path)],
    [
      'exchanged for a file of the same content',
      (path) => {
        rmSync(path);
        mkdirSync(`${path}.d`);
        writeFileSync(`${path}.d/x`, 'old');
        symlinkSync(`${path}.d/x`, path);
      },
    ],
  ])('a file that was %s after it was asked about is left alone', async (_, change) => {
    const path = at.put('a.txt', 'old');
    at.human = () => {
      change(path);
      return APPROVE;
    };
    expect(await write('a.txt', 'new')).toBe(CHANGED);
    for (const name of tree(at.root)) {
      if (lstatSync(join(at.root, name)).isFile()) expect(text(name)).not.toBe('new');
    }
  });

  test('a file that came into being after it was asked about is left alone', async () => {
    at.human = () => {
      at.put('a.txt', 'someone else');
      return APPROVE;
    };
    expect(await write('a.txt', 'new')).toBe(CHANGED);
    expect(text('a.txt')).toBe('someone else');
  });

  test('a directory that was exchanged for a link outside is not written through', async () => {
    mkdirSync(join(at.root, 'folder'));
    at.human = () => {
      renameSync(join(at.root, 'folder'), join(at.root, 'kept'));
      symlinkSync(at.outside, join(at.root, 'folder'));
      return APPROVE;
    };
    expect(await write('folder/x', 'new')).toBe(
      `failed: Path folder/x leads by a link outside the workspace ${at.root}. File tools stay inside it; the user can add a root with --root DIR.`,
    );
    expect(tree(at.outside)).toEqual(['secret.txt']);
  });
});

describe('what stays of the old file', () => {
  let at: FileSession;
  beforeAll(async () => {
    at = await openWorkspace({ args: ['--allow', 'write_file'] });
  });
  afterAll(() => at.close());
  const write = (path: string, content: string) => at.answer('write_file', { path, content });

  test.each([0o600, 0o644, 0o755, 0o640])('its mode %o', async (mode) => {
    chmodSync(at.put('mode', 'old'), mode);
    expect(await write('mode', 'new')).toBe('Wrote 3 bytes to mode');
    expect(statSync(join(at.root, 'mode')).mode & 0o7777).toBe(mode);
  });

  test('a link to it, and its place', async () => {
    at.put('folder/target', 'old');
    symlinkSync('folder/target', join(at.root, 'link'));
    expect(await write('link', 'new')).toBe('Wrote 3 bytes to link');
    expect(lstatSync(join(at.root, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(at.root, 'folder/target'), 'utf8')).toBe('new');
  });

  test('its other name, a hard link, keeps the old content', async () => {
    linkSync(join(at.outside, 'secret.txt'), join(at.root, 'hard'));
    expect(await write('hard', 'new')).toBe('Wrote 3 bytes to hard');
    expect(readFileSync(join(at.outside, 'secret.txt'), 'utf8')).toBe('SECRET\n');
  });

  test('nothing beside it: no temporary file', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => write('busy/x', `${index}\n`)));
    expect(tree(join(at.root, 'busy'))).toEqual(['x']);
  });

  test.each([
    ['folder', 'folder is a directory. Give the path of a file.'],
    ['pipe', noRegularFile('pipe', 'a FIFO')],
    ['new/', 'Path new/ ends like a directory. Give the path of a file.'],
    ['link/x', 'link/x cannot be written: folder/target is not a directory.'],
    ['fixed', 'fixed is not writable (mode 444); nothing was written. Ask the user to make it writable.'],
    ['', 'The path must not be empty.'],
    ['a\0b', NUL_IN_PATH],
  ])('what cannot be written is told: %j', async (path, reason) => {
    if (path === 'pipe') execFileSync('mkfifo', [join(at.root, 'pipe')]);
    if (path === 'fixed') chmodSync(at.put('fixed', 'old'), 0o444);
    expect(await write(path, 'x')).toBe(`failed: ${reason}`);
  });

  test('half of a character is refused, as no file can hold it', async () => {
    // A client sends well-formed text, code of the image can do otherwise.
    const half = '(string (code-char #xd800))';
    expect(
      await at.session.eval(
        `(handler-case (live-lisp:call-tool "write_file" :path "half" :content ${half}) (error (e) (princ-to-string e)))`,
      ),
    ).toContain('The text for half has half of a character (U+D800), which no file can hold.');
  });

  test('a standing approval holds in its place only', async () => {
    const there = await openWorkspace({ args: ['--allow', 'write_file:src/**'] });
    const asked = () => there.questions.length;
    expect(await there.answer('write_file', { path: 'src/a', content: '' })).toBe('Wrote 0 bytes to src/a');
    expect(await there.answer('write_file', { path: 'src/b/../../c', content: '' })).toMatch(/^failed/);
    mkdirSync(join(there.root, 'other'));
    symlinkSync('../other', join(there.root, 'src/up'));
    expect(await there.answer('write_file', { path: 'src/up/d', content: '' })).toMatch(/^failed/);
    expect([asked(), tree(there.root)]).toEqual([2, ['other', 'src', 'src/a', 'src/up']]);
    await there.close();
  });
});

test('C20 with nobody to ask, the refusal names the flag; nothing is written', async () => {
  const at = await openWorkspace();
  const { text, isError } = await at.session.call('eval_form', {
    form: '(handler-case (live-lisp:call-tool "write_file" :path "a b" :content "x") (error (e) (princ e) nil))',
  });
  expect([text, isError]).toEqual([expect.stringContaining("needs a human's approval"), false]);
  expect(text).toContain('Call write_file directly, not from code');
  expect(tree(at.root)).toEqual([]);
  await at.close();
});
