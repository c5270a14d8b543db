// The copy of a root is written into the folder that was made for it, never through a link in its place.

import { mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyRoot } from '../../src/files/copy.ts';
import { Workspace } from '../../src/files/workspace.ts';
import { ownFolder } from '../shared.ts';

test('a link in place of the folder or above it is not followed', async () => {
  const [root, other] = [ownFolder(), ownFolder()];
  root.put('code.lisp', '1');
  const real = realpathSync(root.path);
  const workspace = new Workspace({ roots: [real] });
  const outside = join(realpathSync(other.path), 'outside');
  mkdirSync(join(outside, 'files'), { recursive: true });
  symlinkSync(outside, join(other.path, 'above'));
  symlinkSync(join(outside, 'files'), join(other.path, 'itself'));
  for (const target of [join(other.path, 'above', 'files'), join(other.path, 'itself')]) {
    await expect(copyRoot(workspace, { root: real, target, contents: new Map() })).rejects.toThrow(
      `${target} changed while it was opened; nothing was written. Call again.`,
    );
    expect(readdirSync(join(outside, 'files'))).toEqual([]);
  }
  const target = join(outside, 'files');
  await copyRoot(workspace, { root: real, target, contents: new Map() });
  expect(readdirSync(target)).toEqual(['code.lisp']);
});
