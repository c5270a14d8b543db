// Records go when they are older than they are kept, and when their workspace is forgotten.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { UsageError } from '../../src/errors.ts';
import { AuditLog } from '../../src/records/audit-log.ts';
import { expireRecords } from '../../src/records/expiry.ts';
import { run } from '../cli/run.ts';
import { type Session, startSession } from '../harness.ts';
import { until } from '../server/processes.ts';
import { sharedFolder } from '../shared.ts';

const folder = sharedFolder();

const DAY_MS = 24 * 60 * 60 * 1000;
/** The id of a process that does not run. */
const GONE = '999999999';
const NOW = Date.now();
const daysAgo = (days: number) => new Date(NOW - days * DAY_MS);

describe('what is older than it is kept', () => {
  const places = {
    audit: join(folder.path, 'audit.jsonl'),
    histories: join(folder.path, 'repl-history'),
    journals: join(folder.path, 'journals'),
    profiles: join(folder.path, 'profiles'),
  };
  const line = (days: number) => JSON.stringify({ time: daysAgo(days).toISOString(), form: `${days}` });
  const write = (path: string, lines: string[], days: number) => {
    writeFileSync(path, lines.map((each) => `${each}\n`).join(''));
    utimesSync(path, daysAgo(days), daysAgo(days));
  };
  const journal = (days: number, pid: string) =>
    join(places.journals, 'a'.repeat(24), `${daysAgo(days).toISOString().replace(/\D/g, '')}-${pid}`);

  /** Those of a server that has ended, of a younger one, of one that runs, and of one that wrote until yesterday. */
  const JOURNALS = [journal(91, GONE), journal(89, GONE), journal(91, `${process.pid}`), journal(92, GONE)];

  beforeAll(() => {
    for (const path of [places.histories, places.profiles, ...JOURNALS]) mkdirSync(path, { recursive: true });
    write(places.audit, [line(91), line(89)], 89);
    write(join(places.histories, 'x.jsonl'), [line(91), line(89), line(0)], 0);
    write(join(places.histories, 'y.jsonl'), [line(91)], 91);
    write(join(places.histories, 'long.jsonl'), [line(91).padEnd(50_000), line(89)], 0);
    for (const days of [91, 89]) write(join(places.profiles, `${days}.svg`), ['<svg/>'], days);
    for (const [index, path] of JOURNALS.entries()) {
      const days = index === 3 ? 1 : 91;
      write(join(path, 'journal.jsonl'), [line(days)], days);
      utimesSync(path, daysAgo(91), daysAgo(91));
    }
    expireRecords(places, 90);
  });

  test('goes, and what is just young enough stays', () => {
    const forms = (path: string) =>
      readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((each) => (JSON.parse(each) as { form: string }).form);
    expect(forms(places.audit)).toEqual(['89']);
    expect(forms(join(places.histories, 'x.jsonl'))).toEqual(['89', '0']);
    expect(forms(join(places.histories, 'long.jsonl'))).toEqual(['89']);
    expect(existsSync(join(places.histories, 'y.jsonl'))).toBe(false);
    expect(JOURNALS.map((path) => existsSync(path))).toEqual([false, true, true, true]);
    expect(readdirSync(places.profiles)).toEqual(['89.svg']);
  });

  test('makes no file whose first line is young be written again, however long that is', () => {
    const path = join(places.histories, 'young.jsonl');
    write(path, [line(89).padEnd(50_000), line(0)], 0);
    const { ino } = statSync(path);
    expireRecords(places, 90);
    expect(statSync(path).ino).toBe(ino);
  });

  test('is nothing where nothing is kept', () => {
    expireRecords({ audit: '/no/audit.jsonl', histories: '/no', journals: '/no', profiles: '/no' }, 90);
  });
});

test('the audit log keeps digests where texts are not kept', () => {
  const path = join(folder.path, 'digests.jsonl');
  const log = new AuditLog(path, '/root', false);
  const end = log.begin(
    { tool: 'eval_form', level: 'cautious', caller: 'client', args: { form: 'sk-SECRET', n: 1 } },
    'level',
  );
  end({ success: false, error: 'Error: sk-SECRET', milliseconds: 1 });
  const text = readFileSync(path, 'utf8');
  expect(text).not.toContain('SECRET');
  expect(text).toMatch(/"arguments":\{"form":"\[9 characters, SHA-256 [0-9a-f]{64}\]","n":1\}/);
});

describe('a key that is evaluated', () => {
  const state = join(folder.path, 'state');
  const workspace = join(folder.path, 'workspace');
  mkdirSync(workspace);
  const env = { XDG_STATE_HOME: state };
  const withKey = () =>
    readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) => {
      const path = join(state, name);
      return name.endsWith('.jsonl') && readFileSync(path, 'utf8').includes('sk-SECRET');
    });

  async function evaluateKey(args: string[]): Promise<Session> {
    const session = await startSession({ args: ['--root', workspace, ...args], env });
    await session.eval('(defvar *key* "sk-SECRET")');
    return session;
  }

  test('is kept nowhere with --replay off, --history off and --audit-texts off', async () => {
    const session = await evaluateKey(['--replay', 'off', '--history', 'off', '--audit-texts', 'off']);
    expect(await session.text('get_repl_history')).toContain('sk-SECRET');
    await session.close();
    expect(withKey()).toEqual([]);
    // The sandbox makes two empty folders beside it.
    const kept = readdirSync(join(state, 'live-lisp'), { recursive: true }).sort();
    expect(kept).toEqual(['audit.jsonl', 'placeholders', 'tokens']);
  });

  test('is in three files, which forget removes or cleans', async () => {
    const session = await evaluateKey([]);
    await until('the records', 10_000, () => withKey().length === 3);
    await session.close();
    const { code, stdout } = await run(['forget', '--root', workspace], env);
    expect([code, stdout]).toEqual([
      0,
      `Removed the history of evaluations, the journals for rebuilding images, 2 calls of the audit log of ${workspace}.\n`,
    ]);
    expect(withKey()).toEqual([]);
    const again = await run(['forget', '--root', workspace], env);
    expect(again.stdout).toBe(`Nothing was kept of ${workspace}.\n`);
  });

  test('--keep-days says in one sentence what it takes', () => {
    const keepDays = (value: string) => readConfig(['tools', '--keep-days', value], process.env).keepDays;
    for (const value of ['0', '1.5', '36501', 'x']) {
      const sentence = `--keep-days must be a whole number from 1 to 36500, not ${value}.`;
      expect(() => keepDays(value)).toThrow(new UsageError(sentence));
    }
    expect([keepDays('1'), keepDays('36500')]).toEqual([1, 36_500]);
  });
});
