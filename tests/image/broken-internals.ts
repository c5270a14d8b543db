// An SBCL in which one internal is missing or is not what the backend takes it for, and what must work all the same.

import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { SbclImage } from '../../src/image/own/sbcl-image.ts';
import { coreFile } from '../../src/image/process/kept-core.ts';
import { findSbcl } from '../../src/image/process/sbcl.ts';
import { Stop } from '../../src/image/wire/endings.ts';
import { FIXTURES, LISP } from '../harness.ts';

export const SBCL = findSbcl(process.env['LIVE_LISP_SBCL'] || undefined);

/** Runs FORM in an SBCL with fixtures/broken.lisp, and returns what it printed. */
function inBroken(form: string): string {
  const args = ['--noinform', '--disable-ldb', '--end-runtime-options', '--no-sysinit', '--no-userinit'];
  const load = [
    '--disable-debugger',
    '--load',
    join(FIXTURES, 'broken.lisp'),
    '--eval',
    form,
    '--eval',
    '(exit)',
  ];
  const env = { ...process.env, BACKEND_SOURCES: LISP };
  return spawnSync(SBCL, [...args, ...load], { env, encoding: 'utf8', maxBuffer: 2 ** 26 }).stdout;
}

/** Saves the image whose internals can be broken into FOLDER. Returns what starts it with one of them broken, and the ways
 *  in which each can be; with UNFOUND only those that no probe finds. */
export function brokenImages(
  folder: string,
  unfound: boolean,
): { start: (name: string, how: string) => SbclImage; variants: [name: string, how: string][] } {
  const core = join(folder, 'broken.core');
  const printed = inBroken(`(broken::make-core "${core}" :unfound ${unfound ? 't' : 'nil'})`);
  const lines = printed.split('\n').filter((line) => line !== '');
  const variants = lines.map((line): [string, string] => {
    const [name = '', how = ''] = line.split(' ');
    return [name, how];
  });
  const options = { lispFolder: LISP, cacheFolder: join(folder, 'cache'), heapMb: 1024 };
  const kept = coreFile(SBCL, options);
  if (kept === undefined) throw new Error('There is no SBCL.');
  mkdirSync(dirname(kept), { recursive: true });
  symlinkSync(core, kept);
  const start = (name: string, how: string) => {
    process.env['BROKEN'] = `${name} ${how}`;
    const limits = { limitMs: 30_000, startFiles: () => [] };
    return new SbclImage({ ...options, ...limits, sbcl: SBCL, root: folder, trees: [], without: [] });
  };
  return { start, variants };
}

/** Expects that the main job works in IMAGE: load a file, find a symbol, who calls a
 *  function, evaluate, tell an error with its frames, interrupt, end at a limit. Each must find the image as it was. */
export async function expectMainJob(image: SbclImage, folder: string): Promise<void> {
  const { without, fallbacks } = await image.greeting();
  const source = join(folder, 'main-job.lisp');
  writeFileSync(
    source,
    '(defun cl-user::callee () 1)\n(defun cl-user::caller () (list (cl-user::callee)))\n(defvar cl-user::*kept* 7)\n',
  );
  const value = async (code: string) =>
    (await image.call('evaluate', { code })).data.values?.at(-1)?.map(({ text }) => text);
  const loaded = await image.call('load-file', {
    file: source,
    fasl: join(folder, 'fasls', 'main-job.fasl'),
  });
  expect(loaded.ending.kind).toBe('done');
  expect(await value('(+ 1 2) (list (caller) "b" *kept*)')).toEqual(['((1) "b" 7)']);
  const found = await image.call('apropos', { pattern: 'calle', package: 'CL-USER', offset: 0, limit: 9 });
  expect(JSON.stringify(found.data)).toContain('"CALLEE"');
  const calls = await image.call('who-calls', {
    name: 'callee',
    package: 'CL-USER',
    offset: 0,
    limit: 9,
    sites: true,
  });
  expect(calls.ending.kind).toBe('done');
  const failed = await image.call('evaluate', {
    code: '(defun fails (x) (error "No ~A" x)) (list (fails 1))',
  });
  expect(failed.ending).toMatchObject({ kind: 'condition', condition: { text: 'No 1' } });
  if (!without.includes('frames') && !fallbacks.some(({ ability }) => ability === 'frames')) {
    expect(JSON.stringify(failed.ending)).toContain('FAILS');
  }
  const late = await image.call('evaluate', { code: '(loop)' }, { limitMs: 300 });
  expect(late.ending).toMatchObject({ kind: 'interrupted', reason: 'timeout' });
  const stop = new AbortController();
  const stopped = image.call('evaluate', { code: '(sleep 100)' }, { signal: stop.signal });
  setTimeout(() => stop.abort(new Stop('interrupt')), 300);
  expect((await stopped).ending).toMatchObject({ kind: 'interrupted', reason: 'interrupt' });
  expect(await value('*kept*')).toEqual(['7']);
  expect((await image.status()).lacking).toMatchObject({ without, fallbacks });
}
