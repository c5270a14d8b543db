// Several files are written, or none of them is.

import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeTogether } from '../../src/files/together.ts';
import type { Present } from '../../src/files/write.ts';
import { makeWorkspace, type TestWorkspace, tree } from './workspaces.ts';

let at: TestWorkspace;
beforeEach(() => {
  at = makeWorkspace();
  at.put('a.lisp', 'old a');
  at.put('sub/b.lisp', 'old b');
});
afterEach(() => at.remove());

/** Writes new content to both files, the second once CONFIRM has not thrown; returns why it failed. */
async function write(confirm: (present: Present) => void = () => {}, signal?: AbortSignal): Promise<string> {
  const replacements = [
    { path: 'a.lisp', bytes: Buffer.from('new a'), confirm: () => {} },
    { path: 'sub/b.lisp', bytes: Buffer.from('new b'), confirm },
  ];
  return writeTogether(at.workspace, replacements, signal).then(
    () => 'written',
    (error: Error) => error.message,
  );
}

function contents(): string[] {
  return ['a.lisp', 'sub/b.lisp'].map((name) => readFileSync(join(at.root, name), 'utf8'));
}

test('all files get their content, and nothing else is left', async () => {
  chmodSync(join(at.root, 'a.lisp'), 0o750);
  expect(await write()).toBe('written');
  expect(contents()).toEqual(['new a', 'new b']);
  expect(tree(at.root)).toEqual(['a.lisp', 'sub', 'sub/b.lisp']);
});

test('none is changed when one must not be', async () => {
  const refuse = () => {
    throw new Error('not that');
  };
  expect(await write(refuse)).toContain('not that');
  expect(contents()).toEqual(['old a', 'old b']);
  expect(tree(at.root)).toEqual(['a.lisp', 'sub', 'sub/b.lisp']);
});

test('none is changed when one is read-only, or the call was cancelled', async () => {
  const cancelled = AbortSignal.abort();
  expect(await write(() => {}, cancelled)).toBe(
    'The call was cancelled before the file was changed; nothing was written.',
  );
  chmodSync(join(at.root, 'sub/b.lisp'), 0o444);
  expect(await write()).toBe(
    'sub/b.lisp is read-only (mode 444); nothing was written. The user can make it writable.',
  );
  expect(contents()).toEqual(['old a', 'old b']);
  expect(tree(at.root)).toEqual(['a.lisp', 'sub', 'sub/b.lisp']);
});

test('what was changed already is changed back when the last one fails', async () => {
  let looks = 0;
  const becomesDirectory = () => {
    if (++looks < 2) return;
    rmSync(join(at.root, 'sub/b.lisp'));
    mkdirSync(join(at.root, 'sub/b.lisp'));
    writeFileSync(join(at.root, 'sub/b.lisp/full'), '');
  };
  expect(await write(becomesDirectory)).toContain('sub/b.lisp');
  expect(readFileSync(join(at.root, 'a.lisp'), 'utf8')).toBe('old a');
  expect(tree(at.root)).toEqual(['a.lisp', 'sub', 'sub/b.lisp', 'sub/b.lisp/full']);
});
