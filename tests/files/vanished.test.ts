// What a search says of a directory that vanishes once it was found.

import { expect, test } from 'vitest';
import { budgetOf } from '../../src/files/budget.ts';
import { Workspace } from '../../src/files/workspace.ts';
import { WorkspaceBuffers } from '../../src/tools/buffer/buffers.ts';
import { makeWorkspace } from './workspaces.ts';

/** Finds the directory gone, which is not there any more. */
class Vanishing extends Workspace {
  override async locate() {
    return { real: `${this.root}/gone`, missing: [] };
  }
}

test('a directory that vanishes is none', async () => {
  const at = makeWorkspace();
  const buffers = new WorkspaceBuffers(new Vanishing({ roots: [at.root] }));
  expect(await buffers.below('gone', budgetOf(10, 1000))).toBeUndefined();
  at.remove();
});
