// What write_file writes, what its human is shown before, and that nothing else happens.

import {
  chmodSync,
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
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changedMeanwhile } from '../said.ts';
import { APPROVE, DENY, sharedWorkspace } from './sessions.ts';
import { tree } from './workspaces.ts';

const CHANGED = `failed: ${changedMeanwhile('write_file')}`;

// How a question travels in each era is in tests/server/approvals.test.ts.
describe('write_file', () => {
  const at = sharedWorkspace({ era: 'modern' });
  beforeAll(async () => {
    // What stands for protected folders is made when the image starts, not while the root is emptied.
    await at.answer('apropos_search', { pattern: 'mapcar' });
  });
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

  test('tells which file is behind a link', async () => {
    at.put('real.lisp', '1\n');
    symlinkSync('real.lisp', join(at.root, 'link.lisp'));
    expect(await write('link.lisp', '2\n')).toBe('Wrote 2 bytes to link.lisp, which is real.lisp');
    expect(text('real.lisp')).toBe('2\n');
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

  test.each([0o600, 0o755])('keeps the mode %o', async (mode) => {
    chmodSync(at.put('mode', 'old'), mode);
    expect(await write('mode', 'new')).toBe('Wrote 3 bytes to mode');
    expect(statSync(join(at.root, 'mode')).mode & 0o7777).toBe(mode);
  });

  test('writes a file at once: of many writes one is there, whole, and nothing beside it', async () => {
    const contents = Array.from({ length: 20 }, (_, index) => `${index}\n`.repeat(5000));
    await Promise.all(contents.map((content) => write('busy/x', content)));
    expect(contents).toContain(text('busy/x'));
    expect(tree(join(at.root, 'busy'))).toEqual(['x']);
  });

  test('C20 a call from code asks nobody: it is refused, and nothing is written', async () => {
    const { text, isError } = await at.session.call('eval_form', {
      form: '(handler-case (live-lisp:call-tool "write_file" :path "a b" :content "x") (error (e) (princ e) nil))',
    });
    expect([text, isError]).toEqual([expect.stringContaining("needs a human's approval"), false]);
    expect(text).toContain('Call write_file directly, not from code');
    expect([at.questions, tree(at.root)]).toEqual([[], []]);
  });
});

describe('a standing approval', () => {
  const at = sharedWorkspace({ args: ['--allow', 'write_file:src/**'] });

  test('holds in its place only', async () => {
    const write = (path: string) => at.answer('write_file', { path, content: '' });
    expect(await write('src/a')).toBe('Wrote 0 bytes to src/a');
    expect(await write('src/b/../../c')).toMatch(/^failed/);
    mkdirSync(join(at.root, 'other'));
    symlinkSync('../other', join(at.root, 'src/up'));
    expect(await write('src/up/d')).toMatch(/^failed/);
    expect([at.questions.length, tree(at.root)]).toEqual([2, ['other', 'src', 'src/a', 'src/up']]);
  });

  test('allows code no half of a character, as no file can hold it', async () => {
    // A client sends well-formed text, code of the image can do otherwise.
    const half = '(string (code-char #xd800))';
    expect(
      await at.session.eval(
        `(handler-case (live-lisp:call-tool "write_file" :path "src/half" :content ${half}) (error (e) (princ-to-string e)))`,
      ),
    ).toContain('The text for src/half has an unpaired surrogate (U+D800), which no file can hold.');
  });
});
