// An SBCL that lacks what the agent uses of its internals: the agent is built, says so, and answers.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SbclImage } from '../../src/image/own/sbcl-image.ts';
import type { Lacking } from '../../src/image/wire/messages.ts';
import { cacheFolder } from '../../src/paths.ts';
import { lackingLine } from '../../src/tools/lacking-text.ts';
import { FIXTURES, PROJECT, temporaryFolder, testSbcl } from '../harness.ts';
import { LONG } from '../long.ts';
import { sbclThatEvaluates } from '../odd-sbcl.ts';
import { filesOf, textOf } from '../repository/files.ts';
import { topLevelForms } from '../repository/lisp.ts';

const SBCL = testSbcl();
const folder = temporaryFolder();
afterAll(() => folder.remove());

/** The internals of each ability, PACKAGE:NAME, as the declarations in lisp/base have them. */
const ABILITIES = new Map<string, { instead: string; internals: string[][] }>();
/** Those that can come later, so that an image does not tell at its start that it lacks them. */
const LATE: string[] = [];
for (const path of filesOf('lisp/base', '.lisp').filter((name) => /\/sbcl-[a-z]+\.lisp$/.test(name))) {
  let internals: string[][] = [];
  for (const { elements, text } of topLevelForms(textOf(path))) {
    const [operator = '', name = ''] = elements;
    if (operator === 'define-ability') {
      internals = [];
      ABILITIES.set(JSON.parse(name), { instead: JSON.parse(elements[2] ?? ''), internals });
    } else if (operator.startsWith('define-runtime-')) {
      internals.push([`runtime:${JSON.parse(elements.at(-1) ?? '')}`]);
    } else if (/^define-(?:internal|late-internal)/.test(operator)) {
      const [place = ''] = /\((?:"[A-Z0-9-]+" "[^"]+"\s*)+\)/.exec(text) ?? [];
      const names = [...place.matchAll(/"([A-Z0-9-]+)"\s+"([^"]+)"/g)];
      const internal = names.map(([, home, symbol]) => `${home}:${symbol}`);
      internals.push(internal);
      if (operator === 'define-late-internal') LATE.push(...internal);
    }
  }
}

/** Writes a program that is SBCL without the NAMES, PACKAGE:NAME. */
function sbclWithout(names: string[], program: string): string {
  const load = `(load "${join(FIXTURES, 'lacking.lisp')}")`;
  return sbclThatEvaluates(load, join(folder.path, program), `export LACKING='${names.join(' ')}'`);
}

/** Without a cache the agent is not compiled to a file, in which SBCL could not name what has no package. */
const NO_CACHE = '/proc/nothing';

function start(program: string, cache = NO_CACHE): SbclImage {
  return new SbclImage({
    sbcl: program,
    lispFolder: join(PROJECT, 'lisp'),
    cacheFolder: cache,
    root: folder.path,
    heapMb: 512,
    trees: [],
    limitMs: 60_000,
    startFiles: () => [],
  });
}

const NAMES = [...ABILITIES.keys()];
const namesOf = (ability: string) => ABILITIES.get(ability)?.internals ?? [];

/** Each start without a cache compiles the agent. So the short run lacks all abilities at once; the long run each alone
 *  too. */
const GROUPS = [NAMES, ...(LONG ? NAMES.map((name) => [name]) : [])];

/** What the image greets with that lacks all. */
let withoutAny: Lacking = { without: [], fallbacks: [] };

/** What this SBCL lacks as it is, and what the system does not do for an image without a limit of memory. */
const lackedAnyway = ['address-space limits'];
beforeAll(async () => {
  const image = start(SBCL, cacheFolder());
  lackedAnyway.push(...(await image.greeting()).without);
  image.close();
});

/** What a message of the image says for sure, whatever is missing. */
async function expectBasics(image: SbclImage): Promise<void> {
  const source = join(folder.path, 'basic.lisp');
  writeFileSync(source, '(defun cl-user::callee () 1)\n(defun cl-user::caller () (cl-user::callee))\n');
  const evaluated = await image.call('evaluate', { code: '(+ 1 2) (list :a "b")' });
  expect(evaluated.data.values?.map((values) => values.map(({ text }) => text))).toEqual([
    ['3'],
    ['(:A "b")'],
  ]);
  const failed = await image.call('evaluate', { code: '(error "No ~A" 1)' });
  expect(failed.ending).toMatchObject({ kind: 'condition', condition: { text: 'No 1' } });
  const fasl = join(folder.path, 'fasls', 'basic.fasl');
  const loaded = await image.call('load-file', { file: source, fasl });
  expect(loaded.ending.kind).toBe('done');
  const found = await image.call('apropos', { pattern: 'mapca', package: 'CL', offset: 0, limit: 9 });
  expect(JSON.stringify(found.data)).toContain('["COMMON-LISP","MAPCAR","FUNCTION"]');
  const described = await image.call('describe', { name: 'car', package: 'CL', offset: 0, limit: 20 });
  expect(JSON.stringify(described.data)).toContain('"COMMON-LISP::CAR"');
  const called = await image.call('who-calls', {
    name: 'callee',
    package: 'CL-USER',
    offset: 0,
    limit: 9,
    sites: true,
  });
  expect(called.ending.kind).toBe('done');
  expect(JSON.stringify(called.data)).toContain('"COMMON-LISP-USER::CALLEE"');
}

test('every internal that is declared is for an ability, and there are some', () => {
  expect(NAMES.length).toBeGreaterThan(10);
  expect(NAMES.flatMap(namesOf).length).toBeGreaterThan(100);
  for (const places of NAMES.flatMap(namesOf)) expect(places.join()).toMatch(/^[A-Za-z-]+:\S+/);
});

test.each(GROUPS.map((group) => [group.length > 1 ? 'any' : group.join(), group] as const))(
  'without the internals for %s the agent says so and answers',
  async (title, group) => {
    const image = start(sbclWithout(group.flatMap(namesOf).flat(), title.replaceAll(/\W+/g, '-')));
    try {
      const { without, fallbacks } = await image.greeting();
      if (group === NAMES) withoutAny = { without, fallbacks };
      const told = (names: readonly string[]) => names.filter((name) => !lackedAnyway.includes(name));
      expect(told(without)).toEqual(told(group));
      for (const ability of group) {
        const fallback = fallbacks.find((each) => each.ability === ability);
        expect(fallback?.instead).toBe(ABILITIES.get(ability)?.instead);
        const names = namesOf(ability).map(([first = '']) => first);
        const missing = fallback?.missing.join(' ') ?? '';
        for (const name of names.filter((each) => !LATE.includes(each))) expect(missing).toContain(name);
      }
      await expectBasics(image);
    } finally {
      image.close();
    }
  },
);

test('what is less without any of them is told in one line', () => {
  expect(lackingLine(withoutAny)).toMatch(
    /^Less with this SBCL: errors and interrupted calls tell no frames; .*; who_calls finds nobody; .*\.$/,
  );
});
