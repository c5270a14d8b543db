// Folders of the user that cannot be written are no obstacle, and it is told where things are kept instead.

import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Config, readConfig } from '../../src/config.ts';
import { obstacleToWriting, withUsableFolders } from '../../src/folders.ts';
import { temporaryFolder } from '../harness.ts';
import { ownSession } from '../shared.ts';
import { run } from './run.ts';

/** Nobody can make a folder here, root neither. */
const NOWHERE = '/proc/nothing';

let folder = temporaryFolder();
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const other = () => join(folder.path, `live-lisp-${process.geteuid?.()}`);
const moved = () =>
  `${NOWHERE}/live-lisp cannot be written (ENOENT), so the audit log, histories and journals are in ${other()}. To keep them elsewhere, set XDG_STATE_HOME.`;

/** Returns the configuration where the folder of the state is STATE, and what is named for the cache and by FLAGS. */
function configured(state: string, flags: string[] = []): Readonly<Config> {
  return readConfig(flags, { XDG_STATE_HOME: state, XDG_CACHE_HOME: folder.path });
}

describe('what is kept', () => {
  test('stays where it is when that can be written', () => {
    const config = configured(folder.path);
    expect(withUsableFolders(config, folder.path)).toEqual({ config, notices: [], remarks: [] });
    expect(statSync(join(folder.path, 'live-lisp')).mode & 0o777).toBe(0o700);
  });

  test('is in a temporary folder of this user alone otherwise', () => {
    const { config, notices, remarks } = withUsableFolders(configured(NOWHERE), folder.path);
    expect([notices, remarks]).toEqual([[moved()], [moved()]]);
    expect([config.audit, config.histories, config.journals]).toEqual(
      ['audit.jsonl', 'repl-history', 'journals'].map((name) => join(other(), name)),
    );
    expect(statSync(other()).mode & 0o777).toBe(0o700);
  });

  test('leaves an audit log where it was named', () => {
    const { config } = withUsableFolders(configured(NOWHERE, ['--audit', '/named']), folder.path);
    expect([config.audit, config.histories]).toEqual(['/named', join(other(), 'repl-history')]);
  });

  test.each([
    ['others can reach', () => chmodSync(other(), 0o750), () => mkdirSync(other())],
    ['is a link', () => {}, () => symlinkSync('/tmp', other())],
    ['is a file', () => {}, () => writeFileSync(other(), '')],
  ])('is in no temporary folder that %s', (_, change, make) => {
    make();
    change();
    const config = configured(NOWHERE);
    expect(withUsableFolders(config, folder.path)).toEqual({ config, notices: [], remarks: [] });
  });
});

describe('the cache', () => {
  test('of a home that cannot be written is beside it, and one that was named stays', () => {
    const unnamed = { ...configured(folder.path), cache: NOWHERE, cacheNamed: false };
    const { config, notices, remarks } = withUsableFolders(unnamed, folder.path);
    expect([config.cache, notices]).toEqual([join(other(), 'cache'), []]);
    expect(remarks).toEqual([
      `${NOWHERE} cannot be written (ENOENT), so compiled files are in ${other()}. To keep them elsewhere, set XDG_CACHE_HOME.`,
    ]);
    const named = { ...unnamed, cacheNamed: true };
    expect(withUsableFolders(named, folder.path)).toEqual({ config: named, notices: [], remarks: [] });
  });
});

test('the first answer tells where the records are, once, and standard error too', async () => {
  const session = await ownSession({ env: { XDG_STATE_HOME: NOWHERE, TMPDIR: folder.path } });
  expect(await session.call('eval_form', { form: '(+ 1 2)' })).toEqual({
    text: '3',
    notices: [moved()],
    isError: false,
  });
  expect((await session.call('eval_form', { form: '4' })).notices).toEqual([]);
  expect(session.stderr).toBe(`live-lisp: ${moved()}\n`);
  expect(readFileSync(join(other(), 'audit.jsonl'), 'utf8')).toContain('"event":"begin"');
});

describe('doctor', () => {
  test('tells of each folder that is written to, and of one that stands in', async () => {
    const { stdout } = await run(['doctor'], { XDG_STATE_HOME: NOWHERE, TMPDIR: folder.path });
    expect(stdout).toContain(
      [`ok   ${moved()}`, `ok   records: ${other()}`, `ok   temporary files: ${folder.path}`, ''].join('\n'),
    );
  });

  test('fails where no record can be kept, no file be put, or an audit log that was named not be written', async () => {
    const env = { XDG_STATE_HOME: NOWHERE, TMPDIR: NOWHERE, XDG_CACHE_HOME: folder.path };
    const { code, stdout } = await run(
      ['doctor', '--no-sandbox', '--audit', folder.path, '--sbcl', '/none'],
      env,
    );
    expect([code, stdout.match(/^FAIL (?!sbcl).*$/gm)]).toEqual([
      1,
      [
        `FAIL records: ${NOWHERE}/live-lisp cannot be written (ENOENT), so calls that can change something are refused. Set XDG_STATE_HOME to a folder that you own.`,
        `FAIL audit log: ${folder.path} cannot be written (EISDIR), so calls that can change something are refused. Name another with --audit FILE.`,
        `FAIL temporary files: ${NOWHERE} cannot be written (ENOENT), so some tools fail. Set TMPDIR to a folder that you own.`,
      ],
    ]);
  });
});

test('a folder that cannot be made or written says why', () => {
  folder.put('file', '');
  expect(obstacleToWriting(NOWHERE)).toBe('ENOENT');
  expect(obstacleToWriting(join(folder.path, 'file', 'below'))).toBe('ENOTDIR');
  expect(obstacleToWriting(join(folder.path, 'new', 'folder'))).toBe(undefined);
});
