// Each internal of SBCL that the backend uses can be missing or another thing: a comfort is lost then, and no image.
// The short run tries a few of them, the long run all.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { SbclImage } from '../../src/image/own/sbcl-image.ts';
import { LONG, PATIENCE_MS } from '../long.ts';
import { SEED } from '../seed.ts';
import { sharedFolder } from '../shared.ts';
import { brokenImages, expectMainJob } from './broken-internals.ts';

const folder = sharedFolder();

/** How many internals the short run breaks. */
const SAMPLE = 2;

let start: (name: string, how: string) => SbclImage;
let variants: [name: string, how: string][];
beforeAll(() => {
  const broken = brokenImages(folder.path, LONG);
  start = broken.start;
  const all = broken.variants;
  expect(all.length).toBeGreaterThan(250);
  variants = LONG
    ? all
    : (fc.sample(fc.shuffledSubarray(all, { minLength: SAMPLE, maxLength: SAMPLE }), {
        seed: SEED,
        numRuns: 1,
      })[0] ?? []);
});

test('with an internal that is missing or wrong the main job works, and the image says what is less', {
  timeout: PATIENCE_MS,
}, async () => {
  const failed: string[] = [];
  for (const [name, how] of variants) {
    const image = start(name, how);
    try {
      // Else it would be another backend, one that was compiled because no image started from the core.
      const { data } = await image.call('evaluate', { code: '(and (find-package "BROKEN") 1)' });
      expect(data.values?.[0]?.[0]?.text).toBe('1');
      await expectMainJob(image, folder.path);
      if (how === 'missing') expect((await image.greeting()).fallbacks).not.toEqual([]);
    } catch (error) {
      failed.push(`${name} ${how}: ${String(error).slice(0, 600)}`);
    } finally {
      image.close();
    }
  }
  expect(failed).toEqual([]);
});

test('without streams that report what is read where, a place is told within its top-level form', async () => {
  const image = start('tracking-stream', 'missing');
  const file = join(folder.path, 'without.lisp');
  writeFileSync(file, '(defun without-callee (x) x)\n(defun without-caller (y)\n  (without-callee y))\n');
  try {
    await image.call('load-file', { file, fasl: join(folder.path, 'without.fasl') });
    const { data } = await image.call('who-calls', {
      name: 'without-callee',
      sites: true,
      internals: false,
      offset: 0,
      limit: 5,
    });
    const { fallbacks } = await image.greeting();
    const value = data.value;
    const [row] = value !== undefined && 'rows' in value ? (value.rows ?? []) : [];
    expect(row?.sites).toEqual([{ file, offset: 28, form: 1, inside: true, mark: expect.any(String) }]);
    expect(fallbacks.find(({ ability }) => ability === 'places')?.instead).toBe(
      'calls, frames and warnings are told with their top-level forms, not with lines of their own',
    );
  } finally {
    image.close();
  }
});

test('a fault in what the backend does before a call is told with its own text', async () => {
  const image = start('protect-control-stack', 'signals unprobed');
  const notices: { kind: string }[] = [];
  try {
    // The thread that faults can be the one that stands ready for the call after the next, and SBCL's own warning of the
    // fault comes before the backend's report.
    for (let calls = 0; calls < 50 && !notices.some(({ kind }) => kind === 'loss'); calls += 1) {
      await image.call('evaluate', { code: '1' });
      notices.push(...image.takeNotices());
    }
    expect(notices).toContainEqual(
      expect.objectContaining({
        kind: 'loss',
        report: expect.objectContaining({ how: ['its backend failed: Unhandled memory fault at #x1'] }),
      }),
    );
  } finally {
    image.close();
  }
});

test('what a probe finds wrong is left out, and told with its ability', async () => {
  const image = start('protect-control-stack', 'signals');
  try {
    await image.call('evaluate', { code: '1' });
    const { fallbacks = [] } = (await image.status()).lacking ?? {};
    expect(fallbacks).toContainEqual(
      expect.objectContaining({
        ability: 'stack guards',
        missing: expect.arrayContaining([
          'runtime:protect_control_stack_hard_guard_page gives a wrong answer',
        ]),
      }),
    );
  } finally {
    image.close();
  }
});
