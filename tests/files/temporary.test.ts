// What a server that was killed while it wrote leaves: it is not searched, and removed in time.

import { mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { budgetOf } from '../../src/files/budget.ts';
import { filesBelow } from '../../src/files/walk.ts';
import { replaceFile } from '../../src/files/write.ts';
import { makeWorkspace, tree } from './workspaces.ts';

test('temporary files are not searched; the next write removes those of hours ago, and nothing else', async () => {
  const at = makeWorkspace();
  const name = (digit: string) => `.live-lisp-${digit.repeat(16)}.tmp`;
  const old = [name('a'), `sub/${name('b')}`, '.live-lisp-notes.tmp', `${name('c')}.txt`];
  for (const path of old) utimesSync(at.put(path, 'x'), 1000, 1000);
  at.put(name('d'), 'x');
  mkdirSync(join(at.root, name('e')));
  utimesSync(join(at.root, name('e')), 1000, 1000);
  const budget = budgetOf(100, Number.POSITIVE_INFINITY);
  const found: string[] = [];
  for await (const path of filesBelow(at.workspace, [at.root], budget)) found.push(at.workspace.name(path));
  expect(found).toEqual([`${name('c')}.txt`, '.live-lisp-notes.tmp']);
  await replaceFile(at.workspace, 'a', Buffer.from('new'), () => {});
  const left = [
    name('d'),
    name('e'),
    'a',
    'sub',
    `sub/${name('b')}`,
    '.live-lisp-notes.tmp',
    `${name('c')}.txt`,
  ];
  expect(tree(at.root)).toEqual(left.sort());
  at.remove();
});
