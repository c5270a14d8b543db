// What goes from the cache when something new is kept there, and what stays.

import { mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeLeftovers } from '../../src/leftovers.ts';
import { temporaryFolder } from '../harness.ts';

const KIND = /^(?:agent-\d+\.fasl|image-\d+\.core)(?:\.(?<part>.+))?$/;
/** No process has this number: Linux gives none above 2 ** 22. */
const GONE = 2 ** 30;
const RUNS = process.pid;

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Makes the file NAME, which was read and written so many days ago. */
function file(name: string, read = 0, written = read): string {
  const ago = (days: number) => Date.now() / 1000 - days * 86_400;
  folder.put(name, '');
  utimesSync(join(folder.path, name), ago(read), ago(written));
  return name;
}

/** Returns which files are left when agent-1 and image-1 are those in use. */
function left(): string[] {
  removeLeftovers(folder.path, KIND, ['agent-1', 'image-1.core']);
  return readdirSync(folder.path).sort();
}

test('unfinished files of processes that have ended go, those of others stay', () => {
  file(`agent-1.fasl.${GONE}.3F.main`);
  file(`image-1.core.${GONE}`);
  file(`image-1.core.${GONE}.ab`);
  const kept = [
    file(`agent-1.fasl.${RUNS}.3F.main`),
    file(`image-1.core.${RUNS}.ab`),
    file('agent-1.fasl.9A'),
  ];
  expect(left()).toEqual(kept.sort());
});

test('what other versions have not used for 30 days goes', () => {
  file('agent-2.fasl', 31);
  file('image-2.core', 31);
  file('agent-1.fasl.9A', 31);
  file(`image-1.core.${RUNS}.ab`, 31);
  const kept = [file('agent-3.fasl', 29, 31), file('image-3.core', 31, 29)];
  expect(left()).toEqual(kept.sort());
});

test('what this version uses stays, and so does all that is of no such kind', () => {
  const kept = [
    file('agent-1.fasl', 99),
    file('image-1.core', 99),
    file('agent-1', 99),
    file('my-agent-2.fasl', 99),
    file('agent-2.fasl~', 99),
  ];
  mkdirSync(join(folder.path, 'agent-2.fasl'));
  utimesSync(join(folder.path, 'agent-2.fasl'), 1, 1);
  expect(left()).toEqual([...kept, 'agent-2.fasl'].sort());
});

test('a folder that is not there is no obstacle', () => {
  expect(removeLeftovers(join(folder.path, 'none'), KIND, [])).toBeUndefined();
});
