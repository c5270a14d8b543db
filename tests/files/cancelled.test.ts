// What a call leaves that is cancelled, or whose file changed: no change that comes later, and no file that is read on.

import { readFileSync, truncateSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { presentFile, replaceFile } from '../../src/files/write.ts';
import { checkApproved } from '../../src/tools/approved.ts';
import { WorkspaceBuffers } from '../../src/tools/buffer/buffers.ts';
import { readBufferTool, readFileTool } from '../../src/tools/buffer/reading.ts';
import { searchInBufferTool } from '../../src/tools/buffer/search-in-buffer.ts';
import { writeFileTool } from '../../src/tools/buffer/writing.ts';
import { proposeFileEditTool } from '../../src/tools/diff/edit.ts';
import { within } from '../load.ts';
import { makeWorkspace, type TestWorkspace, tree } from './workspaces.ts';

const UNCHANGED = 'The call was cancelled before the file was changed; nothing was written.';

let at: TestWorkspace;
beforeEach(() => {
  at = makeWorkspace();
});
afterEach(() => at.remove());

/** Calls the handler of the file tool NAME with a signal that is aborted after MS milliseconds. */
async function cancelled(name: string, args: object, ms: number): Promise<unknown> {
  const { workspace } = at;
  const buffers = new WorkspaceBuffers(workspace);
  const tools = [
    ...[readFileTool(workspace, buffers), readBufferTool(buffers)],
    ...[writeFileTool(workspace), proposeFileEditTool(workspace), searchInBufferTool(buffers)],
  ];
  return tools
    .find((each) => each.name === name)
    ?.handler({ ...args }, { signal: ms === 0 ? AbortSignal.abort() : AbortSignal.timeout(ms) });
}

/** Makes a text file of 200 GB, of which the disk holds only the beginning. */
function putHuge(name: string): void {
  truncateSync(at.put(name, 'x'.repeat(10_000)), 200_000_000_000);
}

test.each([
  ['write_file', { path: 'new/deep/b', content: 'new' }],
  ['propose_file_edit', { path: 'a', original: 'old', modified: 'new' }],
])('%s %j, cancelled before it began, changes nothing', async (name, args) => {
  const file = at.put('a', 'old');
  await expect(cancelled(name, args, 0)).rejects.toThrow(UNCHANGED);
  expect([tree(at.root), readFileSync(file, 'utf8')]).toEqual([['a'], 'old']);
});

test('cancelled at the last moment, a write is undone to the last directory', async () => {
  const controller = new AbortController();
  let looks = 0;
  const confirm = () => {
    looks += 1;
    if (looks === 2) controller.abort();
  };
  await expect(
    replaceFile(at.workspace, 'new/deep/b', Buffer.from('new'), confirm, controller.signal),
  ).rejects.toThrow(UNCHANGED);
  expect([looks, tree(at.root)]).toEqual([2, []]);
});

test('cancelled while it waits for another write, it does nothing', async () => {
  const controller = new AbortController();
  const first = replaceFile(at.workspace, 'a', Buffer.from('1'), () => controller.abort());
  const second = replaceFile(at.workspace, 'b', Buffer.from('2'), () => {}, controller.signal);
  await first;
  await expect(second).rejects.toThrow(UNCHANGED);
  expect(tree(at.root)).toEqual(['a']);
});

test('a file that is too large to read in time is not read on', async () => {
  putHuge('huge');
  const range = { start_line: 7 };
  const text = 'The call was cancelled before line 7 was found.';
  await within(3000, async () => {
    await expect(presentFile(at.workspace, 'huge', AbortSignal.timeout(100))).rejects.toThrow(UNCHANGED);
    await expect(cancelled('write_file', { path: 'huge', content: '' }, 100)).rejects.toThrow(UNCHANGED);
    await expect(cancelled('read_file', { path: 'huge', ...range }, 100)).rejects.toThrow(text);
    await expect(cancelled('read_buffer', { buffer: 'huge', ...range }, 100)).rejects.toThrow(text);
  });
});

test('a search looks at no further file', async () => {
  at.put('a.lisp', '(a)');
  for (const code of [false, true])
    expect(await cancelled('search_in_buffer', { pattern: 'a', code }, 0)).toMatchObject({
      data: { total: 0, files: 0, complete: false },
    });
});

test('a file that changed since the call was prepared is refused, whoever approved the change', () => {
  const now = { name: 'shop.lisp', size: 1, bytes: undefined, fingerprint: 'now' };
  expect(() => checkApproved(now, 'before')).toThrow(
    'shop.lisp changed while this call was prepared; nothing was written. Call again.',
  );
  for (const same of ['now', undefined]) checkApproved(now, same);
});
