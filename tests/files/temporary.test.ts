// What a search passes over: what a server that was killed while it wrote leaves, and what vanishes.

import { mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { budgetOf } from '../../src/files/budget.ts';
import { filesBelow } from '../../src/files/walk.ts';
import { Workspace } from '../../src/files/workspace.ts';
import { replaceFile } from '../../src/files/write.ts';
import { WorkspaceBuffers } from '../../src/tools/buffer/buffers.ts';
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

/** Finds the directory gone, which is not there any more. */
class Vanishing extends Workspace {
  override async locate() {
    return { real: `${this.root}/gone`, missing: [] };
  }
}

test('a directory that vanishes once it was found is none', async () => {
  const at = makeWorkspace();
  const buffers = new WorkspaceBuffers(new Vanishing({ roots: [at.root] }));
  expect(await buffers.below('gone', budgetOf(10, 1000))).toBeUndefined();
  at.remove();
});
