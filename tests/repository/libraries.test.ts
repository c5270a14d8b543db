// Each test file declares the Lisp libraries that it uses, so that scripts/setup.sh installs them.

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../harness.ts';
import { SOURCES } from '../libraries.ts';
import { filesOf, hitLines, hitsIn, textOf } from './files.ts';

const MODULE = 'tests/libraries.ts';

/** The folder in SOURCES of each system that this machine has, but for ASDF, which comes with SBCL too. */
const INSTALLED = new Map(
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.asd') && basename(file) !== 'asdf.asd')
    .map((file) => [basename(file, '.asd'), dirname(file)]),
);

/** Returns what scripts/libraries.mjs prints for ARGS. */
function printed(...args: string[]): string[] {
  const text = execFileSync(process.execPath, ['scripts/libraries.mjs', ...args], {
    cwd: PROJECT,
    encoding: 'utf8',
  });
  return text.split(/\s+/).filter(Boolean);
}

/** Returns the systems that the test file at PATH declares. */
function declaredIn(path: string): string[] {
  const calls = hitsIn(path, /\blibraries\(([^)]*)\)/g);
  return calls.flatMap(({ found }) => [...found.matchAll(/'([^']+)'/g)].map(([, name]) => name ?? ''));
}

test('a test file that names a Lisp library declares it', () => {
  const known = new Set([...INSTALLED.keys(), ...printed('long')]);
  const undeclared = filesOf('tests', '.ts').flatMap((path) => {
    const declared = declaredIn(path);
    const folders = new Set(declared.map((name) => INSTALLED.get(name)));
    return hitsIn(path, /['"]([\w+.-]+)(?:\/[\w/-]+)?['"]/g).filter(
      ({ found }) =>
        known.has(found) &&
        !declared.includes(found) &&
        !(INSTALLED.has(found) && folders.has(INSTALLED.get(found))),
    );
  });
  expect(hitLines(undeclared)).toEqual([]);
});

test('only one file of the tests knows where libraries are', () => {
  const named = filesOf('tests', '.ts').filter((path) => textOf(path).includes(SOURCES));
  expect(named).toEqual([MODULE]);
});

test('what the tests declare is installed', () => {
  expect(printed('--missing')).toEqual([]);
});
