// How the doctor tries an image, and how it finds the part of the backend that is at fault.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { findCulprit, ONLY_CORE } from '../../src/doctor/doctor.ts';
import { failureOf, tryImage } from '../../src/doctor/trial.ts';
import VERSIONS from '../../src/image/process/sbcl-versions.json' with { type: 'json' };
import { supportText } from '../../src/image/process/sbcl-versions.ts';
import { sbclThatEvaluates } from '../odd-sbcl.ts';
import { sharedFolder } from '../shared.ts';

const folder = sharedFolder();

test('a wrong value is a failure, after which the rest is tried', async () => {
  const form = `(sb-int:encapsulate (quote eval) (quote odd) (lambda (eval form &rest more)
    (if (equal form (quote (* 6 7))) 43 (apply eval form more))))`;
  const sbcl = sbclThatEvaluates(form, join(folder.path, 'wrong'));
  const trial = await tryImage(readConfig(['doctor', '--sbcl', sbcl], process.env), []);
  expect(failureOf(trial)).toEqual({ name: 'evaluation', shows: '(* 6 7) gives 42', failure: '43' });
  expect(trial.results.filter(({ failure }) => failure === undefined).map(({ name }) => name)).toEqual([
    'start',
    'load',
    'callers',
    'errors',
    'interrupt',
  ]);
});

describe('of the parts of a backend', () => {
  const ALL = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  /** An image that works without all of AT_FAULT, and from no core when that is one of them. */
  const imageWith =
    (atFault: string[], tried: (readonly string[])[]) => async (without: readonly string[]) => {
      tried.push(without);
      return atFault.every((part) => (part === 'core' ? without.length > 0 : without.includes(part)));
    };

  test.each(['a', 'd', 'h'])('the one at fault is found, here %s, by six lists at most', async (part) => {
    const tried: (readonly string[])[] = [];
    expect(await findCulprit(ALL, imageWith([part], tried))).toEqual({ kind: 'parts', parts: [part] });
    expect(tried.length).toBeLessThanOrEqual(6);
  });

  test('two at fault are found', async () => {
    expect(await findCulprit(ALL, imageWith(['b', 'g'], []))).toEqual({ kind: 'parts', parts: ['g', 'b'] });
  });

  test('the saved core is found by one list', async () => {
    const tried: (readonly string[])[] = [];
    expect(await findCulprit(ALL, imageWith(['core'], tried))).toEqual({ kind: 'core' });
    expect(tried).toEqual([ONLY_CORE]);
  });
});

describe('of the versions', () => {
  const { tested } = VERSIONS;
  const [first = '', last = ''] = [tested[0], tested.at(-1)];
  const newer = `newer than the tested versions (up to ${last}). It should work; please report problems`;

  test.each([
    [`${first}.debian`, 'live-lisp is tested with it'],
    [`${last}.54-0123abc`, 'live-lisp is tested with it'],
    [`${last}0-master`, newer],
    ['10.0', newer],
    ['2.4.10', `between the tested versions (${tested.join(', ')}). It should work; please report problems`],
    [
      VERSIONS.oldest,
      `older than the tested versions (${first} and newer). The main features work; missing ones are listed below`,
    ],
  ])('SBCL %s is %s', (version, standing) => {
    expect(supportText(version)).toBe(standing);
  });
});
