// An image that does without all that the backend does by internals of SBCL: it says so, and the main job works.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { SbclImage } from '../../src/image/own/sbcl-image.ts';
import { WITHOUT_EVERYTHING } from '../../src/image/process/backend.ts';
import { cacheFolder } from '../../src/paths.ts';
import { lackingLine } from '../../src/tools/lacking-text.ts';
import { LISP } from '../harness.ts';
import { filesOf, textOf } from '../repository/files.ts';
import { topLevelForms } from '../repository/lisp.ts';
import { sharedFolder } from '../shared.ts';
import { expectMainJob, SBCL } from './broken-internals.ts';

const folder = sharedFolder();

/** What the backend does instead of each ability, and the internals of it, as the declarations have them. */
const ABILITIES = new Map<string, { instead: string; internals: string[] }>();
/** The internals that a row of the table of probes proves. */
const PROVEN = new Set<string>();
for (const path of filesOf('lisp', '.lisp')) {
  let internals: string[] = [];
  for (const { elements } of topLevelForms(textOf(path))) {
    const [operator = '', name = '', , instead = ''] = elements;
    if (operator === 'define-ability') {
      internals = [];
      ABILITIES.set(JSON.parse(name), { instead: JSON.parse(instead), internals });
    } else if (/^define-(?:internal|late-internal|runtime-)/.test(operator)) internals.push(name);
    else if (operator === 'define-probe')
      for (const proven of name.match(/[^\s()"]+/g) ?? []) PROVEN.add(proven);
  }
}

/** The internals without a row, and why. */
const UNPROVEN: Record<string, string> = {
  'file-parts-reader': 'SB-COVER is loaded only when coverage is asked for',
  'marks-reader': 'SB-COVER is loaded only when coverage is asked for',
};

test('each internal is for an ability, and a row of the table of probes proves it', () => {
  const internals = [...ABILITIES.values()].flatMap((ability) => ability.internals);
  expect(internals.length).toBeGreaterThan(200);
  expect(internals.filter((name) => !PROVEN.has(name)).sort()).toEqual(Object.keys(UNPROVEN).sort());
});

let image: SbclImage;
beforeAll(() => {
  image = new SbclImage({
    sbcl: SBCL,
    lispFolder: LISP,
    cacheFolder: cacheFolder(),
    root: folder.path,
    heapMb: 512,
    trees: [],
    limitMs: 60_000,
    startFiles: () => [],
    without: WITHOUT_EVERYTHING,
  });
});
afterAll(() => image.close());

test('without any internal of SBCL the image says of each ability what it does instead', async () => {
  const { without, fallbacks } = await image.greeting();
  expect([...without].sort()).toEqual([...ABILITIES.keys()].sort());
  for (const [name, { instead }] of ABILITIES) {
    expect(fallbacks.find(({ ability }) => ability === name)?.instead).toBe(instead);
  }
});

test('without any internal of SBCL the main job works', () => expectMainJob(image, folder.path));

test('what is less without any of them is told in one line', async () => {
  expect(lackingLine(await image.greeting())).toMatch(
    /^Less with this SBCL: errors and interrupted calls show no frames; .*; who_calls finds nobody; .*\.$/,
  );
});
