// What the file tools may reach: exact texts for what is refused, and that nothing is reached besides.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Workspace } from '../../src/files/workspace.ts';
import { presentFile, replaceFile } from '../../src/files/write.ts';
import { isInside } from '../../src/paths.ts';
import { NUL_IN_PATH, noRegularFile } from '../said.ts';
import { makeWorkspace, type TestWorkspace, tree } from './workspaces.ts';

let at: TestWorkspace;
beforeEach(() => {
  at = makeWorkspace('library');
});
afterEach(() => at.remove());

/** Returns the text of the file at PATH, or why it cannot be read. */
async function read(path: string, workspace = at.workspace): Promise<string> {
  return workspace
    .read(path, async ({ handle }) => handle.readFile('utf8'))
    .catch((error: Error) => error.message);
}

/** Writes `new` to PATH, and returns its name in the workspace or why it cannot be written. */
async function write(path: string, workspace = at.workspace): Promise<string> {
  return replaceFile(workspace, path, Buffer.from('new'), () => {}).catch((error: Error) => error.message);
}

/** Expects that PATH can be neither read nor written, for this REASON, and that nothing changed. */
async function expectRefused(path: string, reason: string): Promise<void> {
  const before = [tree(at.root), tree(at.outside)];
  expect([await read(path), await write(path)]).toEqual([reason, reason]);
  await expect(presentFile(at.workspace, path)).rejects.toThrow(reason);
  expect([tree(at.root), tree(at.outside)]).toEqual(before);
  expect(readFileSync(join(at.outside, 'secret.txt'), 'utf8')).toBe('SECRET\n');
}

const OUTSIDE = (path: string, how = 'is outside') =>
  `Path ${path} ${how} the workspace ${at.root}. File tools stay inside it; the user can add a root with --root DIR.`;
const TO_READ = (path: string, how = 'is outside') =>
  `Path ${path} ${how} the workspace ${at.root} and the read roots ${at.root.replace('app', 'library')}. File tools stay inside them; the user can add a root with --root DIR, or a read-only one with --read-root DIR. Sources of loaded systems can be read too.`;

describe('what is outside', () => {
  const paths = ['../outside/secret.txt', '..', '/', 'a/../../x'];

  test.each(paths)('%s is refused with the root', async (path) => {
    mkdirSync(`${at.root}2`);
    expect([await read(path), await write(path)]).toEqual([TO_READ(path), OUTSIDE(path)]);
  });

  test('a sibling with the same beginning is outside, also as an absolute path', async () => {
    mkdirSync(`${at.root}2`);
    writeFileSync(`${at.root}2/x`, 'x');
    expect(await write(`${at.root}2/x`)).toBe(OUTSIDE(`${at.root}2/x`));
    expect(isInside('/w/app', '/w/app2')).toBe(false);
    expect(isInside('/w/app', '/w/app/..x')).toBe(true);
    expect(isInside('/', '/etc')).toBe(true);
  });

  test('whether something exists outside cannot be told from the answers', async () => {
    expect((await read('../outside/secret.txt')).replace('secret.txt', 'none')).toBe(
      await read('../outside/none'),
    );
    expect((await read('../outside/secret.txt/x')).replace('secret.txt', 'none')).toBe(
      await read('../outside/none/x'),
    );
  });

  test('without read roots, and with several roots, the text fits', async () => {
    const workspace = new Workspace({ roots: [at.root], sources: async () => [] });
    expect(await read('../x', workspace)).toBe(
      `Path ../x is outside the workspace ${at.root}. File tools stay inside it; the user can add a root with --root DIR, or a read-only one with --read-root DIR. Sources of loaded systems can be read too.`,
    );
    expect(await write('/x', new Workspace({ roots: [at.root, '/nowhere'] }))).toBe(
      `Path /x is outside the workspaces ${at.root}, /nowhere. File tools stay inside them; the user can add a root with --root DIR.`,
    );
  });

  test('control and bidirectional characters of a path are made visible', async () => {
    expect(await write('../a\n\u202eb\u001b[1m\ud800')).toBe(
      OUTSIDE('../a<U+000A><U+202E>b<U+001B>[1m<U+D800>'),
    );
  });
});

describe('links', () => {
  test.each([
    ['a link to a file', 'link', 'secret.txt'],
    ['a link to a folder', 'link/secret.txt', ''],
    ['a link to a folder, and a file that is not there', 'link/new/deep.txt', ''],
  ])('%s outside is refused', async (_, path, target) => {
    symlinkSync(join(at.outside, target), join(at.root, 'link'));
    expect([await read(path), await write(path)]).toEqual([
      TO_READ(path, 'leads by a link outside'),
      OUTSIDE(path, 'leads by a link outside'),
    ]);
    expect(tree(at.outside)).toEqual(['secret.txt']);
  });

  test('a chain of links is followed to its end', async () => {
    symlinkSync('two', join(at.root, 'one'));
    symlinkSync('../outside', join(at.root, 'two'));
    expect(await write('one/x')).toBe(OUTSIDE('one/x', 'leads by a link outside'));
  });

  test.each([
    ['that does not exist', 'nowhere/target'],
    ['outside that does not exist', '../outside/new'],
    ['to itself', 'link'],
  ])('a link to a place %s is refused', async (_, target) => {
    symlinkSync(target, join(at.root, 'link'));
    await expectRefused('link', 'Path link goes through the link link, whose target does not exist.');
    await expectRefused('link/x', 'Path link/x goes through the link link, whose target does not exist.');
  });

  test('a link within the workspace is followed: its target is read and written, and it stays', async () => {
    at.put('src/real.lisp', 'old');
    symlinkSync('src', join(at.root, 'folder'));
    symlinkSync('src/real.lisp', join(at.root, 'link.lisp'));
    expect([await read('link.lisp'), await read('folder/real.lisp')]).toEqual(['old', 'old']);
    expect(await write('link.lisp')).toBe('src/real.lisp');
    expect(await write('folder/more.lisp')).toBe('src/more.lisp');
    expect([await read('src/real.lisp'), await read('link.lisp')]).toEqual(['new', 'new']);
    expect(tree(join(at.root, 'src'))).toEqual(['more.lisp', 'real.lisp']);
    for (const link of ['folder', 'link.lisp']) {
      expect(lstatSync(join(at.root, link)).isSymbolicLink()).toBe(true);
    }
  });

  test('the root itself may be a link', async () => {
    symlinkSync(at.root, `${at.root}-link`);
    const workspace = new Workspace({ roots: [`${at.root}-link`] });
    expect(await write('a/b', workspace)).toBe('a/b');
    expect(await read(join(at.root, 'a/b'), workspace)).toBe('new');
    expect(await read(`${at.root}-link/a/b`, workspace)).toBe('new');
    expect(await write('..', workspace)).toContain(`outside the workspace ${at.root}-link.`);
  });
});

describe('what is no file', () => {
  test.each([
    ['', 'The path must not be empty.'],
    ['a\0b', NUL_IN_PATH],
    ['λ'.repeat(2049), 'The path is longer than 4096 bytes. Give a shorter one.'],
  ])('the path %j is refused', async (path, reason) => expectRefused(path, reason));

  test('~ is not the home directory', async () => {
    await expectRefused(
      '~/x',
      `Path ~/x begins with ~, which is not expanded here. Relative paths start at ${at.root}.`,
    );
  });

  test.each(['.', 'folder/'])('the directory %j is one', async (path) => {
    mkdirSync(join(at.root, 'folder'));
    await expectRefused(path, `${path} is a directory. Give the path of a file.`);
  });

  test('a FIFO and a socket are not opened', async () => {
    execFileSync('mkfifo', [join(at.root, 'pipe')]);
    await expectRefused('pipe', noRegularFile('pipe', 'a FIFO'));
    const server = createServer().listen(join(at.root, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    await expectRefused('socket', noRegularFile('socket', 'a socket'));
    server.close();
  });

  test('a device is not opened', async () => {
    const workspace = new Workspace({ roots: ['/'] });
    const reason = noRegularFile('/dev/null', 'a device');
    expect([await read('/dev/null', workspace), await write('/dev/null', workspace)]).toEqual([
      reason,
      reason,
    ]);
  });

  test('a file that is not there, or stands where a directory should', async () => {
    at.put('file', 'x');
    expect(await read('none')).toBe(`There is no file none. Relative paths start at ${at.root}.`);
    expect(await read('file/x')).toBe(`There is no file file/x. Relative paths start at ${at.root}.`);
    expect(await write('file/x')).toBe('file/x cannot be written: file is not a directory.');
  });

  test('a path that ends like a directory names no file', async () => {
    at.put('file', 'x');
    await expectRefused('file/', 'Path file/ ends like a directory, but is a file.');
    expect(await write('new/')).toBe('Path new/ ends like a directory. Give the path of a file.');
    expect(tree(at.root)).toEqual(['file']);
  });

  test('a name that is too long', async () => {
    const name = 'x'.repeat(300);
    expect([await read(name), await write(`a/${name}`)]).toEqual([
      `${name} cannot be read: the path or a name in it is too long.`,
      `a/${name} cannot be written: the path or a name in it is too long.`,
    ]);
    expect(tree(at.root)).toEqual([]);
  });
});

describe('read roots', () => {
  test('are read, and not written', async () => {
    const library = at.root.replace('app', 'library');
    writeFileSync(join(library, 'code.lisp'), 'library');
    expect(await read('../library/code.lisp')).toBe('library');
    expect(await read(join(library, 'code.lisp'))).toBe('library');
    expect(await write('../library/code.lisp')).toBe(
      `Path ../library/code.lisp is in a read-only directory. Write inside the workspace ${at.root}; the user can add a root with --root DIR.`,
    );
  });

  test('directories that are yielded later count as well', async () => {
    let more: string[] = [];
    const workspace = new Workspace({ roots: [at.root], sources: async () => more });
    expect(await read('../outside/secret.txt', workspace)).toContain('is outside');
    more = [at.outside, '/nowhere'];
    expect(await read('../outside/secret.txt', workspace)).toBe('SECRET\n');
    expect(await write('../outside/secret.txt', workspace)).toContain('is in a read-only directory');
  });

  test.each([
    ['that is hidden', 'outside', 'the sandbox hides it from the image'],
    ['of the system', '/proc', 'it is in /proc, /sys or /dev, not on a disk'],
  ])('a folder that code exchanges while it is asked for them leads to no file %s', async (_, to, why) => {
    const made = at.root.replace('app', 'made');
    const target = resolve(at.root, '..', to);
    const [file = '', inner = ''] = to === '/proc' ? ['status', String(process.pid)] : ['secret.txt', 'keys'];
    mkdirSync(join(made, 'a', inner), { recursive: true });
    writeFileSync(join(made, 'a', inner, file), 'of code');
    if (to !== '/proc') {
      mkdirSync(join(target, inner));
      writeFileSync(join(target, inner, file), 'SECRET');
    }
    let exchanged = false;
    const sources = async () => {
      if (!exchanged) {
        exchanged = true;
        renameSync(join(made, 'a'), join(made, 'b'));
        symlinkSync(target, join(made, 'a'));
      }
      return [made, target];
    };
    const hides = (real: string) => isInside(join(at.outside, 'keys'), real);
    const path = join(made, 'a', inner, file);
    expect(await read(path, new Workspace({ roots: [at.root], sources, hides }))).toBe(
      `${path} is not read: ${why}. Put a copy into the workspace.`,
    );
    expect(exchanged).toBe(true);
  });

  test('a second root is written, and its files have whole names', async () => {
    const workspace = new Workspace({ roots: [at.root, at.outside] });
    expect(await write('../outside/secret.txt', workspace)).toBe(join(at.outside, 'secret.txt'));
  });
});

test('a hard link is a file of the workspace: writing it leaves the other name alone', async () => {
  linkSync(join(at.outside, 'secret.txt'), join(at.root, 'hard'));
  expect(await write('hard')).toBe('hard');
  expect(readFileSync(join(at.outside, 'secret.txt'), 'utf8')).toBe('SECRET\n');
});

test('a read-only file is not replaced', async () => {
  chmodSync(at.put('fixed', 'old'), 0o444);
  expect(await write('fixed')).toBe(
    'fixed is not writable (mode 444); nothing was written. Ask the user to make it writable.',
  );
  expect([await read('fixed'), tree(at.root)]).toEqual(['old', ['fixed']]);
});
