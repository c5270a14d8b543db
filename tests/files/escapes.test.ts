// No path, and no exchange of directories and links while a call runs, leads a file tool outside the workspace.

import { closeSync, lstatSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { budgetOf } from '../../src/files/budget.ts';
import { filesBelow } from '../../src/files/walk.ts';
import { presentFile, replaceFile } from '../../src/files/write.ts';
import { WorkspaceBuffers } from '../../src/tools/buffer/buffers.ts';
import { cases, LONG, PATIENCE_MS } from '../long.ts';
import { makeWorkspace, type TestWorkspace, tree } from './workspaces.ts';

/** Every file outside says this, and no file inside. */
const SECRET = 'SECRET';

async function textAt({ workspace }: TestWorkspace, path: string): Promise<string> {
  return workspace
    .read(path, async ({ handle }) => handle.readFile('utf8'))
    .catch((error: Error) => `refused: ${error.message}`);
}

async function writeAt({ workspace }: TestWorkspace, path: string): Promise<string> {
  return replaceFile(workspace, path, Buffer.from('written'), () => {}).catch(
    (error: Error) => `refused: ${error.message}`,
  );
}

async function pathsBelow({ workspace }: TestWorkspace): Promise<string[]> {
  const paths: string[] = [];
  const budget = budgetOf(1000, 10_000);
  for await (const path of filesBelow(workspace, workspace.rootFolders(), budget)) paths.push(path);
  return paths;
}

async function bufferAt({ workspace }: TestWorkspace, path: string): Promise<void> {
  const buffer = await new WorkspaceBuffers(workspace).find(path).catch(() => undefined);
  const excerpt = await buffer?.read(1).catch(() => undefined);
  expect(JSON.stringify(excerpt) ?? '').not.toContain(SECRET);
}

/** Returns all that is outside: the names, and the texts of the files. */
function allOutside({ outside }: TestWorkspace): string[] {
  return tree(outside).map((name) => {
    return name.endsWith('.txt') ? `${name}: ${readFileSync(join(outside, name), 'utf8')}` : name;
  });
}

/** Calls ACTION, and passes over what fails because something stands there already. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {}
}

/** Makes PLACE below the root a link to TARGET, unless that would go through another link, to who knows where. */
function putLink({ root }: TestWorkspace, place: string, target: string): void {
  let folder = root;
  for (const name of dirname(place).split('/')) {
    folder = join(folder, name);
    if (!lstatSync(folder, { throwIfNoEntry: false })) mkdirSync(folder);
    if (!lstatSync(folder).isDirectory()) return;
  }
  symlinkSync(target, join(root, place));
}

const NAME = fc.constantFrom('a', 'A', 'b', 'secret.txt', 'outside', 'app', 'APP', 'app2');
const PART = fc.oneof({ weight: 4, arbitrary: NAME }, fc.constantFrom('..', '.', '', '~', 'a\0', ' ', '...'));
const PATH = fc
  .tuple(
    fc.constantFrom('', '', '/', 'ROOT/', 'OUTSIDE/', 'ROOT2/', '/proc/self/rootOUTSIDE/', '/proc/self/cwd/'),
    fc.array(PART, { maxLength: 6 }),
  )
  .map(([start, parts]) => start + parts.join('/'));
const PLACE = fc.array(NAME, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));

test(
  'among any files and links, no path leads outside',
  async () => {
    const links = fc.array(fc.tuple(PLACE, PATH), { maxLength: 6 });
    const property = fc.asyncProperty(
      fc.array(PLACE, { maxLength: 4 }),
      links,
      fc.array(PATH, { minLength: 1, maxLength: 8 }),
      async (files, targets, paths) => {
        const at = makeWorkspace();
        const whole = (path: string) => path.replace('ROOT', at.root).replace('OUTSIDE', at.outside);
        mkdirSync(`${at.root}2`);
        writeFileSync(join(`${at.root}2`, 'a'), SECRET);
        try {
          mkdirSync(join(at.outside, 'a'));
          writeFileSync(join(at.outside, 'a', 'secret.txt'), SECRET);
          for (const place of files) attempt(() => at.put(place, 'inside'));
          for (const [place, target] of targets) attempt(() => putLink(at, place, whole(target)));
          const before = allOutside(at);
          for (const path of paths.map(whole)) {
            expect(await textAt(at, path)).not.toContain(SECRET);
            await writeAt(at, path);
            await bufferAt(at, path);
            await presentFile(at.workspace, path).catch(() => {});
          }
          for (const path of await pathsBelow(at)) expect(path.startsWith(`${at.root}/`)).toBe(true);
          expect(allOutside(at)).toEqual(before);
          expect(readFileSync(join(`${at.root}2`, 'a'), 'utf8')).toBe(SECRET);
          expect(tree(`${at.root}2`)).toEqual(['a']);
        } finally {
          at.remove();
        }
      },
    );
    await fc.assert(property, cases(30));
  },
  PATIENCE_MS,
);

test('links of the system to what is open or to its root lead to where they lead', async () => {
  const at = makeWorkspace();
  const file = openSync(join(at.outside, 'secret.txt'), 'r');
  const targets = [
    `/dev/fd/${file}`,
    `/proc/self/fd/${file}`,
    `/proc/${process.pid}/fd/${file}`,
    `/proc/self/root${at.outside}/secret.txt`,
    `/proc/self/cwd/${relative(process.cwd(), at.outside)}/secret.txt`,
  ];
  for (const [index, target] of targets.entries()) {
    symlinkSync(target, join(at.root, `link${index}`));
    for (const path of [target, `link${index}`]) {
      expect(await textAt(at, path)).toMatch(
        /^refused: .* (is outside|leads by a link outside) the workspace /,
      );
      expect(await writeAt(at, path)).toMatch(
        /^refused: .* (is outside|leads by a link outside) the workspace /,
      );
    }
  }
  closeSync(file);
  expect(allOutside(at)).toEqual(['secret.txt: SECRET\n']);
  at.remove();
});

test('what leads from there into the workspace is in it, and a file open in it has a name in it', async () => {
  const at = makeWorkspace();
  const file = openSync(at.put('a', 'inside'), 'r');
  expect(await textAt(at, `/proc/self/root${at.root}/a`)).toBe('inside');
  expect(await textAt(at, `/proc/self/fd/${file}`)).toBe('inside');
  expect(await writeAt(at, `/proc/self/fd/${file}`)).toBe('a');
  closeSync(file);
  at.remove();
});

/** Exchanges, as fast as it can, the directory `swap` for a link to the outside and back. It does the same to the file
 *  `secret.txt` in it, with a link to a secret. */
const SWAPPER = `
const { renameSync, symlinkSync, unlinkSync, writeFileSync } = require('node:fs');
const { workerData: { root, outside, stop } } = require('node:worker_threads');
const done = new Int32Array(stop);
const attempt = (action) => { try { action(); } catch {} };
while (Atomics.load(done, 0) === 0) {
  attempt(() => renameSync(root + '/swap', root + '/kept'));
  attempt(() => symlinkSync(outside, root + '/swap'));
  attempt(() => unlinkSync(root + '/swap'));
  attempt(() => renameSync(root + '/kept', root + '/swap'));
  attempt(() => unlinkSync(root + '/swap/secret.txt'));
  attempt(() => symlinkSync(outside + '/secret.txt', root + '/swap/secret.txt'));
  attempt(() => unlinkSync(root + '/swap/secret.txt'));
  attempt(() => writeFileSync(root + '/swap/secret.txt', 'inside', { flag: 'wx' }));
  Atomics.add(done, 1, 1);
}`;

/** Calls USE with a workspace in which a thread exchanges files and links all the time, and with a function that returns
 *  how often it has done so. */
async function whileSwapping(use: (at: TestWorkspace, swaps: () => number) => Promise<void>): Promise<void> {
  const at = makeWorkspace();
  at.put('swap/secret.txt', 'inside');
  const stop = new SharedArrayBuffer(8);
  const done = new Int32Array(stop);
  const thread = new Worker(SWAPPER, {
    eval: true,
    workerData: { root: at.root, outside: at.outside, stop },
  });
  const ended = new Promise((resolve) => thread.once('exit', resolve));
  try {
    await new Promise((resolve) => thread.once('online', resolve));
    await use(at, () => Atomics.load(done, 1));
  } finally {
    Atomics.store(done, 0, 1);
    await ended;
    at.remove();
  }
}

const SWAPPED = fc.constantFrom('swap/secret.txt', 'swap/new.txt', 'swap/new/deep.txt', 'kept/secret.txt');

test(
  'what is exchanged for a link while it is read or written does not lead outside',
  async () => {
    const seen = new Set<string>();
    await whileSwapping(async (at, swaps) => {
      const before = allOutside(at);
      const property = fc.asyncProperty(SWAPPED, fc.boolean(), async (path, writes) => {
        const answer = await (writes ? writeAt(at, path) : textAt(at, path));
        seen.add(answer.replace(/^refused: .* (changed|outside|no file|nowhere).*/s, '$1'));
        expect(answer).not.toContain(SECRET);
        expect(allOutside(at)).toEqual(before);
      });
      // Until exchanges came at all moments: before the checks, after them, and not at all.
      const all = () => ['inside', 'outside', 'changed', 'swap/secret.txt'].every((each) => seen.has(each));
      do await fc.assert(property, cases(200));
      while (!all() || swaps() <= 100);
    });
  },
  PATIENCE_MS,
);

test('a walk does not leave the workspace while directories are exchanged for links', async () => {
  await whileSwapping(async (at) => {
    for (let count = 0; count < (LONG ? 300 : 30); count += 1) {
      for (const path of await pathsBelow(at)) expect(path.startsWith(`${at.root}/`)).toBe(true);
    }
  });
});
