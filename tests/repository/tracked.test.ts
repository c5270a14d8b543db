// Git holds sources, docs and what tests need, and nothing that a program wrote: each tracked file has a rule.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { messageOf } from '../../src/errors.ts';
import { PROJECT } from '../harness.ts';

/** Single files in the project's folder. */
const NAMED = [
  '.claude-plugin/marketplace.json',
  '.dockerignore',
  '.gitignore',
  '.npmrc',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'Dockerfile',
  'LICENSE',
  'Makefile',
  'README.md',
  'SECURITY.md',
  'biome.json',
  'gemini-extension.json',
  'manifest.json',
  'package-lock.json',
  'package.json',
  'server.json',
  'tsconfig.json',
  'tsconfig.types.json',
  'vitest.config.ts',
  'vitest.long.config.ts',
];

/** Which endings the files in and below a folder have; of two folders that hold a file, the inner one decides. */
const ENDINGS: { readonly [folder: string]: readonly string[] } = {
  '.ci': ['/run'],
  '.github/workflows': ['.yml'],
  bench: ['.mjs', '.lisp'],
  'bench/ranking': ['/requests.jsonl'],
  docs: ['.md'],
  examples: ['.ts', '.lisp'],
  fixtures: ['.lisp', '.asd', '.ts'],
  lisp: ['.lisp'],
  plugin: ['/plugin.json', '/.mcp.json', '/SKILL.md'],
  scripts: ['.mjs', '.sh'],
  src: ['.ts'],
  'src/catalog': ['.ts', '.json'],
  tests: ['.ts'],
  'tests/callers': ['.ts', '/oracle.lisp', '/result.json'],
  'tests/contracts/__snapshots__': ['.txt'],
  'tests/clients': ['.ts', '/tee.mjs', '/result.json'],
  'tests/hostile': ['.ts', '/collect.mjs', '/result.json'],
  'tests/server/__snapshots__': ['.snap'],
  'tests/renaming': ['.ts', '/fresh.lisp'],
  'tests/source': ['.ts', '.lisp'],
  'tests/transcripts': ['.ts', '.txt'],
};

/** Returns the endings that a file at PATH may have. */
function endingsFor(path: string): readonly string[] {
  const folders = path.split('/').slice(0, -1);
  for (; folders.length > 0; folders.pop()) {
    const endings = ENDINGS[folders.join('/')];
    if (endings !== undefined) return endings;
  }
  return [];
}

/** Returns those of PATHS that no rule names. */
function withoutRule(paths: readonly string[]): string[] {
  return paths.filter(
    (path) => !NAMED.includes(path) && !endingsFor(path).some((ending) => path.endsWith(ending)),
  );
}

/** Returns what COMMAND lists, each with a zero byte behind it. Throws when it fails, saying what this test needs. */
function listed(command: string, args: readonly string[]): string[] {
  try {
    const out = execFileSync(command, args, { cwd: PROJECT, encoding: 'utf8', stdio: 'pipe' });
    return out.split('\0').filter((path) => path !== '');
  } catch (error) {
    throw new Error(
      `${command} cannot list the tracked files, which this test looks at. Install git, and run the tests in a clone of the project. ${messageOf(error)}`,
    );
  }
}

test('every tracked file is of a kind that its folder holds', () => {
  const tracked = listed('git', ['ls-files', '-z']);
  expect(tracked).toContain('package.json');
  expect(withoutRule(tracked)).toEqual([]);
});

test('every rule is for files that are there', () => {
  const tracked = listed('git', ['ls-files', '-z']);
  expect(NAMED.filter((path) => !tracked.includes(path))).toEqual([]);
  const unused = Object.entries(ENDINGS).flatMap(([folder, endings]) =>
    endings
      .filter((ending) => !tracked.some((path) => endingsFor(path) === endings && path.endsWith(ending)))
      .map((ending) => `${folder}: ${ending}`),
  );
  expect(unused).toEqual([]);
});

test('the rules refuse logs, what programs leave, and files in places of no rule', () => {
  const refused = [
    '.state/live-lisp/audit.jsonl',
    'audit.jsonl',
    'tests/server/debug.log',
    'tests/server/notes.txt',
    'tests/hostile/other.json',
    'tests/hostile/cases/result.json.orig',
    'lisp/agent.fasl',
    'src/kernel/tool.js',
    'live-lisp-0.1.0.tgz',
    'NOTES.md',
    'plugin/notes.md',
    '.claude-plugin/plugin.json',
    'docs/picture.png',
    'elsewhere/tool.ts',
  ];
  const allowed = ['README.md', 'src/image/wire/frames.ts', 'tests/transcripts/eval_form.txt', '.ci/run'];
  expect(withoutRule([...allowed, ...refused])).toEqual(refused);
});

test('without git it is said what is missing', () => {
  expect(() => listed('no-such-git', ['ls-files'])).toThrow(
    /^no-such-git cannot list the tracked files, which this test looks at\. Install git, and run the tests in a clone of the project\. spawnSync no-such-git ENOENT$/,
  );
});
