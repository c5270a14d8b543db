// Things that no file of the project may hold, and links that must lead somewhere.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../harness.ts';
import { FILES, filesOf, hitLines, hitsIn, textOf } from './files.ts';

const PAGES = FILES.filter((path) => path.endsWith('.md'));

function hitsInAll(paths: string[], pattern: RegExp): string[] {
  return hitLines(paths.flatMap((path) => hitsIn(path, pattern)));
}

test('Biome forbids `any` and `!`, and nothing in src/ is exempt from it or from the compiler', () => {
  const { linter } = JSON.parse(textOf('biome.json')) as {
    linter: { rules: { [group: string]: { [rule: string]: string } } };
  };
  expect(linter.rules['suspicious']?.['noExplicitAny']).toBe('error');
  expect(linter.rules['style']?.['noNonNullAssertion']).toBe('error');
  expect(hitsInAll(filesOf('src', '.ts'), /biome-ignore|@ts-(?:ignore|expect-error|nocheck)/g)).toEqual([]);
});

test('no test is left out but those of the sandbox and of mounts where there are no user namespaces', () => {
  const left = /\.(?:only|skip|todo|skipIf|runIf|fails)(?=[.(])|\bx(?:it|describe)\(/g;
  const files = filesOf('tests', '.ts').filter((path) => path !== 'tests/sandbox/namespaces.ts');
  expect(hitsInAll(files, left)).toEqual([]);
  expect(hitsIn('tests/sandbox/namespaces.ts', left)).toHaveLength(2);
});

test('no file names a path of somebody’s machine', () => {
  expect(hitsInAll(FILES, /\/work\/\w*|\/(?:home|Users)\/\w+/g)).toEqual([]);
});

test('every relative link leads to a file', () => {
  const links = PAGES.flatMap((path) => hitsIn(path, /\]\((?!\w+:|#)([^)\s#]+)/g));
  const dead = links.filter(({ path, found }) => !existsSync(join(PROJECT, dirname(path), found)));
  expect(PAGES.length).toBeGreaterThan(0);
  expect(hitLines(dead)).toEqual([]);
});

test('package.json names exact versions', () => {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(textOf('package.json')) as {
    [kind: string]: { [name: string]: string } | undefined;
  };
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version),
  );
  expect(loose).toEqual([]);
});

test('every file and folder that docs/architecture.md names is there', () => {
  const named = hitsIn(
    'docs/architecture.md',
    /`((?:[\w-]+\/)+(?:[\w*-]+\.(?:ts|lisp|json))?|[\w-]+\.(?:ts|lisp|json))`/g,
  );
  expect(named.length).toBeGreaterThan(40);
  expect(hitLines(named.filter(({ found }) => !FILES.some((path) => stands(found, path))))).toEqual([]);
});

/** Returns whether NAMED, a file, a folder or a file's name, is PATH or a folder of it; * stands for any characters. */
function stands(named: string, path: string): boolean {
  const pattern = named.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
  return new RegExp(`(?:^|/)${pattern}${named.endsWith('/') ? '' : '$'}`).test(path);
}
