// Which images serve, by the files that they have in their folder, and which of them fit a workspace.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import type { Server } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fittingImages, listeningImages, servedImages } from '../../src/image/attached/serving.ts';
import type { Served } from '../../src/image/wire/served.ts';
import { servingFolder } from '../../src/paths.ts';
import { temporaryFolder } from '../harness.ts';
import { described, listen, publish, servingPlace } from './served.ts';

/** A number that no process has: it is above the largest one of Linux. */
const GONE = 2 ** 31 - 1;

let place: ReturnType<typeof servingPlace>;
let servers: Server[];

beforeEach(() => {
  place = servingPlace();
  servers = [];
});
afterEach(() => {
  for (const server of servers) server.close();
  place.remove();
});

/** Publishes the image NAME with MORE, whose socket listens. */
async function serve(name: string, more: Partial<Served> = {}): Promise<Served> {
  servers.push(await listen(join(place.path, `${name}.socket`)));
  return publish(place.path, described(place.path, name, more));
}

/** Writes TEXT as the file of the image NAME, whose socket listens. */
async function plant(name: string, text: string): Promise<void> {
  servers.push(await listen(join(place.path, `${name}.socket`)));
  writeFileSync(join(place.path, `${name}.json`), text);
}

const images = () => servedImages(place.path).images;

describe('the folder', () => {
  test('is that of LIVE_LISP_SERVING, else below the home of the user database', () => {
    const usual = join(userInfo().homedir, '.cache', 'live-lisp', 'serving');
    expect(servingFolder({ LIVE_LISP_SERVING: '/some/where' })).toBe('/some/where');
    expect(servingFolder({ LIVE_LISP_SERVING: 'relative' })).toBe(usual);
    expect(servingFolder({ HOME: '/other', XDG_CACHE_HOME: '/cache' })).toBe(usual);
  });

  test('need not be there', () => {
    expect(servedImages(undefined)).toEqual({ images: [] });
    expect(servedImages(join(place.path, 'none'))).toEqual({ images: [] });
    writeFileSync(join(place.path, 'file'), '');
    expect(servedImages(join(place.path, 'file', 'none'))).toEqual({ images: [] });
  });

  test('without an image is read again when it has changed', async () => {
    mkdirSync(join(place.path, 'sessions'));
    utimesSync(place.path, 1e9, 1e9);
    expect([images(), images()]).toEqual([[], []]);
    const served = await serve('sbcl-1');
    expect(images()).toEqual([served]);
  });

  test('is not used when others can reach it, and the text says so', async () => {
    await serve('sbcl-1');
    for (const mode of [0o755, 0o710, 0o702]) {
      chmodSync(place.path, mode);
      expect(servedImages(place.path)).toEqual({
        images: [],
        refusal: `The folder ${place.path}, where serving images register, is not used: other users can reach it. Change that: chmod 700 ${place.path}`,
      });
    }
    chmodSync(place.path, 0o700);
    expect(images()).toHaveLength(1);
  });

  test('is not used when it is a link or a file', async () => {
    await serve('sbcl-1');
    const other = temporaryFolder();
    symlinkSync(place.path, join(other.path, 'link'));
    other.put('file', '');
    for (const name of ['link', 'file']) {
      const path = join(other.path, name);
      expect(servedImages(path)).toEqual({
        images: [],
        refusal: `The folder ${path}, where serving images register, is not used: it is not a folder. Remove it, then enter the line in your image again.`,
      });
    }
    other.remove();
  });

  test('is not used when it is that of another user', async () => {
    await serve('sbcl-1');
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) chownSync(place.path, 12345, 12345);
    const path = isRoot ? place.path : '/';
    expect(servedImages(path)).toEqual({
      images: [],
      refusal: `The folder ${path}, where serving images register, is not used: it belongs to another user. Have it removed, or set LIVE_LISP_SERVING to a folder that you own, for this server and the image.`,
    });
  });
});

describe('an image', () => {
  test('is told with the socket of its name, whatever its file says', async () => {
    await serve('sbcl-1', { socket: '/tmp/elsewhere.socket' });
    expect(images().map(({ socket }) => socket)).toEqual([join(place.path, 'sbcl-1.socket')]);
  });

  test('is gone with its process, and its files are removed', async () => {
    await serve('sbcl-1', { pid: GONE });
    expect(images()).toEqual([]);
    expect(readdirSync(place.path)).toEqual([]);
  });

  test('without a socket is none, as one with a link to that of another, and keeps its file', async () => {
    publish(place.path, described(place.path, 'sbcl-1'));
    const elsewhere = join(place.path, 'sessions');
    servers.push(await listen(elsewhere));
    symlinkSync(elsewhere, join(place.path, 'sbcl-2.socket'));
    publish(place.path, described(place.path, 'sbcl-2'));
    expect(images()).toEqual([]);
    expect(readdirSync(place.path).sort()).toEqual([
      'sbcl-1.json',
      'sbcl-2.json',
      'sbcl-2.socket',
      'sessions',
    ]);
  });

  test.each([
    ['is half written', JSON.stringify(described('/x', 'sbcl-1')).slice(0, 40)],
    ['is null', 'null'],
    ['is very long', `${' '.repeat(20_000)}${JSON.stringify(described('/x', 'sbcl-1'))}`],
    ...(
      [
        ['another name', { name: 'sbcl-2' }],
        ['a group of processes', { pid: -1 }],
        ['a number that no process has', { pid: 2 ** 40 }],
        ['a relative workspace', { workspace: 'here' }],
        ['a workspace of two lines', { workspace: '/a\nb' }],
        ['an endless workspace', { workspace: `/${'a'.repeat(5000)}` }],
        ['no time', { started: null }],
        ['a time after all days', { started: 1e300 }],
        ['a Lisp with codes for a terminal', { lisp: '\u001b[2J' }],
      ] as const
    ).map(([what, more]) => [`has ${what}`, JSON.stringify({ ...described('/x', 'sbcl-1'), ...more })]),
  ])('whose file %s is none, and the file stays', async (_, text) => {
    await plant('sbcl-1', text);
    expect(images()).toEqual([]);
    expect(existsSync(join(place.path, 'sbcl-1.json'))).toBe(true);
  });

  test.each(['..json', 'a\nb.json', 'sbcl-1.txt'])('is not in the file %j', async (file) => {
    const name = file.replace(/\.json$/, '');
    servers.push(await listen(join(place.path, `${name}.socket`)));
    writeFileSync(join(place.path, file), JSON.stringify(described(place.path, name)));
    expect(images()).toEqual([]);
  });

  test('is not in what is no file', async () => {
    const text = JSON.stringify(described(place.path, 'sbcl-1'));
    const file = join(place.path, 'sbcl-1.json');
    servers.push(await listen(join(place.path, 'sbcl-1.socket')));
    const put = [
      () => writeFileSync(file, text, { mode: 0o600 }),
      () => {
        writeFileSync(join(place.path, 'target'), text);
        symlinkSync('target', file);
      },
      () => mkdirSync(file),
      () => execFileSync('mkfifo', [file]),
    ];
    const found = put.map((make) => {
      make();
      const { length } = images();
      rmSync(file, { recursive: true });
      return length;
    });
    expect(found).toEqual([1, 0, 0, 0]);
  });

  test('whose socket refuses is none', async () => {
    const left = await serve('sbcl-1');
    const other = await serve('sbcl-2');
    expect(await listeningImages([left, other])).toEqual([left, other]);
    await new Promise((resolve) => servers[0]?.close(resolve));
    // Node has removed the name with the socket; a killed process leaves it.
    expect(await listeningImages([left, other])).toEqual([other]);
    const kill = "process.kill(process.pid, 'SIGKILL')";
    const listening = `require('node:net').createServer().listen(${JSON.stringify(left.socket)}, () => ${kill})`;
    spawnSync(process.execPath, ['--eval', listening]);
    expect(existsSync(left.socket)).toBe(true);
    expect(await listeningImages([left])).toEqual([]);
  });
});

describe('a workspace', () => {
  const isTooWide = (real: string) => real === '/' || real === '/h/me' || real === '/h';
  const fits = async (workspace: string, root: string) => {
    const image = described('/x', 'sbcl-1', { workspace });
    return (await fittingImages([image], root, isTooWide)).length === 1;
  };

  test.each([
    ['/h/me/shop', '/h/me/shop', true],
    ['/h/me/shop', '/h/me/shop/src', true],
    ['/h/me/shop/src', '/h/me/shop', true],
    ['/h/me/shop', '/h/me/shop2', false],
    ['/h/me', '/h/me/shop', false],
    ['/h/me/shop', '/h/me', false],
  ])('%s and the root %s: %s', async (workspace, root, fitting) => {
    expect(await fits(workspace, root)).toBe(fitting);
  });

  test('is compared by its real path', async () => {
    mkdirSync(join(place.path, 'real'));
    symlinkSync('real', join(place.path, 'link'));
    expect(await fits(join(place.path, 'link'), join(place.path, 'real'))).toBe(true);
    expect(await fits(join(place.path, 'real'), join(place.path, 'link'))).toBe(true);
  });
});
