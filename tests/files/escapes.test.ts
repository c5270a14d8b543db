// No path, and no exchange of directories and links while a call runs, leads a file tool outside the workspace.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { filesBelow } from '../../src/files/walk.ts';
import { presentFile, replaceFile } from '../../src/files/write.ts';
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
  const budget = { entries: 1000, until: performance.now() + 10_000 };
  for await (const path of filesBelow(workspace, workspace.rootFolders(), budget)) paths.push(path);
  return paths;
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

const NAME = fc.constantFrom('a', 'b', 'secret.txt', 'outside', 'app', 'app2');
const PART = fc.oneof({ weight: 4, arbitrary: NAME }, fc.constantFrom('..', '.', '', '~', 'a\0', ' ', '...'));
const PATH = fc
  .tuple(fc.constantFrom('', '', '/', 'ROOT/', 'OUTSIDE/'), fc.array(PART, { maxLength: 6 }))
  .map(([start, parts]) => start + parts.join('/'));
const PLACE = fc.array(NAME, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));

test('among any files and links, no path leads outside', async () => {
  const links = fc.array(fc.tuple(PLACE, PATH), { maxLength: 6 });
  const property = fc.asyncProperty(
    fc.array(PLACE, { maxLength: 4 }),
    links,
    fc.array(PATH, { minLength: 1, maxLength: 8 }),
    async (files, targets, paths) => {
      const at = makeWorkspace();
      const whole = (path: string) => path.replace('ROOT', at.root).replace('OUTSIDE', at.outside);
      try {
        mkdirSync(join(at.outside, 'a'));
        writeFileSync(join(at.outside, 'a', 'secret.txt'), SECRET);
        for (const place of files) attempt(() => at.put(place, 'inside'));
        for (const [place, target] of targets) {
          attempt(() => mkdirSync(dirname(join(at.root, place)), { recursive: true }));
          attempt(() => symlinkSync(whole(target), join(at.root, place)));
        }
        const before = allOutside(at);
        for (const path of paths.map(whole)) {
          expect(await textAt(at, path)).not.toContain(SECRET);
          await writeAt(at, path);
          await presentFile(at.workspace, path).catch(() => {});
        }
        for (const path of await pathsBelow(at)) expect(path.startsWith(`${at.root}/`)).toBe(true);
        expect(allOutside(at)).toEqual(before);
      } finally {
        at.remove();
      }
    },
  );
  await fc.assert(property, { numRuns: 500 });
});

/** Exchanges, as fast as it can, the directory `swap` for a link to the outside and back, the file `file.txt` in it
 *  for a link to a secret and back. */
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

/** Calls USE with a workspace in which a thread exchanges files and links all the time, and returns how often. */
async function whileSwapping(use: (at: TestWorkspace) => Promise<void>): Promise<number> {
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
    await use(at);
  } finally {
    Atomics.store(done, 0, 1);
    await ended;
    at.remove();
  }
  return Atomics.load(done, 1);
}

const SWAPPED = fc.constantFrom('swap/secret.txt', 'swap/new.txt', 'swap/new/deep.txt', 'kept/secret.txt');

test('what is exchanged for a link while it is read or written does not lead outside', async () => {
  const seen = new Set<string>();
  const swaps = await whileSwapping(async (at) => {
    const before = allOutside(at);
    const property = fc.asyncProperty(SWAPPED, fc.boolean(), async (path, writes) => {
      const answer = await (writes ? writeAt(at, path) : textAt(at, path));
      seen.add(answer.replace(/^refused: .* (changed|outside|no file|nowhere).*/s, '$1'));
      expect(answer).not.toContain(SECRET);
      expect(allOutside(at)).toEqual(before);
    });
    await fc.assert(property, { numRuns: 3000 });
  });
  expect(swaps).toBeGreaterThan(100);
  // The exchanges came at all moments: before the checks, after them, and not at all.
  expect([...seen]).toEqual(expect.arrayContaining(['inside', 'outside', 'changed', 'swap/secret.txt']));
});

test('a walk does not leave the workspace while directories are exchanged for links', async () => {
  await whileSwapping(async (at) => {
    for (let count = 0; count < 300; count += 1) {
      for (const path of await pathsBelow(at)) expect(path.startsWith(`${at.root}/`)).toBe(true);
    }
  });
});

test('concurrent writes of one file leave one of the contents, whole, and nothing else', async () => {
  const at = makeWorkspace();
  const contents = Array.from({ length: 30 }, (_, index) => `${index}\n`.repeat(50_000));
  await Promise.all(
    contents.map((content) => replaceFile(at.workspace, 'one.txt', Buffer.from(content), () => {})),
  );
  expect(contents).toContain(readFileSync(join(at.root, 'one.txt'), 'utf8'));
  expect(tree(at.root)).toEqual(['one.txt']);
  at.remove();
});
