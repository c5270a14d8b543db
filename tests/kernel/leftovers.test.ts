// What goes from the cache when something new is kept there, and what stays.

import { mkdirSync, readdirSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noteUse, removeLeftovers, removeUnusedFolders } from '../../src/leftovers.ts';
import { temporaryFolder } from '../harness.ts';

const KIND = /^(?:backend-\d+\.fasl|image-\d+\.core)(?:\.(?<part>.+))?$/;
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

/** Returns which files are left when backend-1 and image-1 are those in use. */
function left(): string[] {
  removeLeftovers(folder.path, KIND, ['backend-1', 'image-1.core']);
  return readdirSync(folder.path).sort();
}

test('unfinished files of processes that have ended go, those of others stay', () => {
  file(`backend-1.fasl.${GONE}.3F.main`);
  file(`image-1.core.${GONE}`);
  file(`image-1.core.${GONE}.ab`);
  const kept = [
    file(`backend-1.fasl.${RUNS}.3F.main`),
    file(`image-1.core.${RUNS}.ab`),
    file('backend-1.fasl.9A'),
  ];
  expect(left()).toEqual(kept.sort());
});

test('what other versions have not used for 30 days goes', () => {
  file('backend-2.fasl', 31);
  file('image-2.core', 31);
  file('backend-1.fasl.9A', 31);
  file(`image-1.core.${RUNS}.ab`, 31);
  const kept = [file('backend-3.fasl', 29, 31), file('image-3.core', 31, 29)];
  expect(left()).toEqual(kept.sort());
});

test('of more than ten files of other versions, those go that were not used for two days', () => {
  const names = Array.from({ length: 14 }, (_, index) => `backend-${index + 20}.fasl`);
  names.slice(0, 11).forEach((name, index) => void file(name, index / 10));
  for (const name of names.slice(11)) file(name, 3);
  const kept = [...names.slice(0, 11), file('backend-1.fasl', 9), file(`backend-40.fasl.${RUNS}.ab`, 9)];
  expect(left()).toEqual(kept.sort());
});

test('ten files of other versions stay for 30 days', () => {
  const names = Array.from({ length: 11 }, (_, index) => file(`backend-${index + 20}.fasl`, 10 + index));
  expect(left()).toEqual(names.slice(0, 10));
});

test('what this version uses stays, and so does all that is of no such kind', () => {
  const kept = [
    file('backend-1.fasl', 99),
    file('image-1.core', 99),
    file('backend-1', 99),
    file('my-backend-2.fasl', 99),
    file('backend-2.fasl~', 99),
  ];
  mkdirSync(join(folder.path, 'backend-2.fasl'));
  utimesSync(join(folder.path, 'backend-2.fasl'), 1, 1);
  expect(left()).toEqual([...kept, 'backend-2.fasl'].sort());
});

describe('folders', () => {
  /** Makes the folder NAME with a file in it. It was last used so many days ago. */
  function folderOf(name: string, days: number): string {
    folder.put(join(name, 'tree', 'a.fasl'), '');
    const at = Date.now() / 1000 - days * 86_400;
    utimesSync(join(folder.path, name), at, at);
    return name;
  }
  const leftFolders = async () => {
    await removeUnusedFolders(folder.path);
    return readdirSync(folder.path).sort();
  };

  test('that nobody has used for 30 days go, with what is in them, and others stay', async () => {
    folderOf('old', 31);
    const kept = [folderOf('used', 29)];
    expect(await leftFolders()).toEqual(kept);
    expect(readdirSync(join(folder.path, 'used', 'tree'))).toEqual(['a.fasl']);
  });

  test('of which a removal left something go with the next, and links lead to nothing that goes', async () => {
    const outside = temporaryFolder();
    outside.put('mine', '');
    folderOf(`old.${GONE}`, 31);
    symlinkSync(outside.path, join(folder.path, `old.${GONE}`, 'tree', 'link'));
    symlinkSync(outside.path, join(folder.path, 'link'));
    const long = new Date(0);
    utimesSync(outside.path, long, long);
    utimesSync(join(folder.path, `old.${GONE}`), long, long);
    expect(await leftFolders()).toEqual(['link']);
    expect(readdirSync(outside.path)).toEqual(['mine']);
    outside.remove();
  });

  test('stay when a server has noted that it uses them', async () => {
    const old = folderOf('old', 31);
    noteUse(join(folder.path, old));
    expect(Date.now() - statSync(join(folder.path, old)).mtimeMs).toBeLessThan(86_400_000);
    expect(await leftFolders()).toEqual([old]);
  });

  test('where there are none are no obstacle', async () => {
    expect(removeLeftovers(join(folder.path, 'none'), KIND, [])).toBeUndefined();
    await removeUnusedFolders(join(folder.path, 'none'));
    noteUse(join(folder.path, 'none'));
  });
});
