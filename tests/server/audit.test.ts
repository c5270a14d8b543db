// What the audit log holds of calls through the server, also when servers are killed or write it side by side.

import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { ElicitResult } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Session, type StartOptions, startSession, temporaryFolder } from '../harness.ts';
import { ownFolder } from '../shared.ts';
import { until } from './processes.ts';

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
const open: Session[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'state', 'audit.jsonl');
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((session) => session.close()));
  folder.remove();
});

interface Line {
  id: string;
  event: 'begin' | 'end';
  tool?: string;
  authority?: string;
  arguments?: Record<string, unknown>;
  success?: boolean;
  error?: string;
}

/** A server that tests share, each with an empty log: it writes to the end of the file, however long that is. */
const sharedFolder = temporaryFolder();
let shared: Session | undefined;
afterAll(async () => {
  await shared?.close();
  sharedFolder.remove();
});

async function share(): Promise<Session> {
  file = join(sharedFolder.path, 'state', 'audit.jsonl');
  shared ??= await startSession({ args: ['--root', sharedFolder.path, '--audit', file] });
  if (existsSync(file)) truncateSync(file);
  return shared;
}

async function start(root = folder.path, args: string[] = [], more: StartOptions = {}): Promise<Session> {
  const session = await startSession({ args: ['--root', root, '--audit', file, ...args], ...more });
  open.push(session);
  return session;
}

/** Returns the lines of the log. An answered call has its end there. */
function records(): Line[] {
  return readText()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

describe('the records', () => {
  test('S2.11 the record of a form is on disk while the form runs', async () => {
    const session = await share();
    const form = `(with-open-file (s "${file}") (loop for line = (read-line s nil) while line count t))`;
    expect(await session.eval(form)).toBe('1');
    const [begin, end] = records();
    expect(begin).toMatchObject({
      event: 'begin',
      tool: 'eval_form',
      level: 'cautious',
      caller: 'client',
      authority: 'level',
      arguments: { form },
    });
    expect(end).toMatchObject({ event: 'end', id: begin?.id, success: true });
  });

  test('S2.11 safe tools leave none; code that calls a tool does', async () => {
    const session = await share();
    await session.call('describe_symbol', { symbol: 'car' });
    await session.eval('(live-lisp:call-tool "eval_form" :form "(+ 1 2)")');
    expect(records().map(({ event, tool }) => tool ?? event)).toEqual([
      'eval_form',
      'eval_form',
      'end',
      'end',
    ]);
    expect(records()[1]).toMatchObject({ caller: 'code', arguments: { form: '(+ 1 2)' } });
  });

  test('S2.12 what a human denied, and what they allowed', async () => {
    const answers: ElicitResult[] = [
      { action: 'decline' },
      { action: 'accept', content: { decision: 'approve' } },
    ];
    const session = await start(folder.path, ['--allow', 'write_file:*.txt'], {
      onQuestion: () => answers.shift() ?? { action: 'cancel' },
    });
    for (const path of ['a.md', 'a.md', 'a.txt']) await session.call('write_file', { path, content: 'a' });
    expect(records()).toMatchObject([
      { event: 'begin', tool: 'write_file', authority: 'denied' },
      { event: 'end', success: false, error: 'Tool execution denied by user' },
      { event: 'begin', tool: 'write_file', authority: 'human' },
      { event: 'end', success: true },
      { event: 'begin', tool: 'write_file', authority: 'standing' },
      { event: 'end', success: true },
    ]);
  });

  test('long arguments are kept by their beginning and their digest', async () => {
    const session = await share();
    await session.eval(`(length "${'x'.repeat(10_000)}")`);
    const [begin] = records();
    expect(begin?.arguments?.['form']).toMatch(
      /^\(length "x{1991}\[\.\.\. 8011 more characters, SHA-256 of all [0-9a-f]{64}\]$/,
    );
  });

  test('calls side by side, of servers of two workspaces over one file, have each their two records and are told there', async () => {
    const other = ownFolder();
    const [here, there] = [await start(), await start(other.path)];
    const forms = Array.from({ length: 40 }, (_, index) => `(list ${index})`);
    await Promise.all(forms.flatMap((form) => [here.eval(form), there.eval(`(vector ${form})`)]));
    const all = records();
    expect(all.length).toBe(160);
    expect(await here.text('get_audit_log')).toMatch(/^40 calls /);
    expect(await there.text('get_audit_log')).not.toContain('"(list ');
    for (const { id } of all) {
      expect(all.filter((each) => each.id === id).map(({ event }) => event)).toEqual(['begin', 'end']);
    }
  });

  test('after a kill the call that ran is there, unfinished; a torn line is repaired', async () => {
    const killed = await start();
    killed.eval('(sleep 60)').catch(() => {});
    await until('a record', 60_000, () => readText().includes('(sleep 60)') || undefined);
    process.kill(killed.pid, 'SIGKILL');
    appendFileSync(file, '{"id":"torn","ti');
    const before = readText();
    const session = await start();
    await session.eval('(+ 1 2)');
    expect(readText().startsWith(`${before}\n{"id":`)).toBe(true);
    const log = await session.text('get_audit_log', {});
    expect(log).toMatch(
      /^2 calls in the audit log, newest first, of \d{4}-\d\d-\d\d:\n\n {2}\d\d:\d\d:\d\dZ eval_form /,
    );
    expect(log).toMatch(/eval_form \(cautious\) succeeded after \d+ ms\n {4}\{"form":"\(\+ 1 2\)"\}/);
    expect(log).toMatch(/eval_form \(cautious\) unfinished\n {4}\{"form":"\(sleep 60\)"\}/);
    expect(log.endsWith(`\n\nThe log is ${file}`)).toBe(true);
    expect(await session.text('get_audit_log', {})).not.toContain('The log is ');
  });

  test('a damaged line that is still JSON is left out, and the others are shown', async () => {
    const session = await share();
    await session.eval('(+ 1 2)');
    const [begin = {}, end = {}] = records();
    const damaged = [
      { ...begin, id: 'one', time: 5 },
      { ...begin, id: 'two', level: 'mild' },
      { ...end, error: { a: 1 } },
      null,
    ];
    for (const line of damaged) appendFileSync(file, `${JSON.stringify(line)}\n`);
    appendFileSync(file, `${JSON.stringify({ ...begin, id: 'three', arguments: undefined })}\n`);
    const log = await session.text('get_audit_log', {});
    expect(log).toMatch(/^2 calls in the audit log, newest first, of /);
    expect(log).toMatch(/eval_form \(cautious\) unfinished\n {4}null\n/);
    expect(log).toMatch(/eval_form \(cautious\) succeeded after \d+ ms\n {4}\{"form":"\(\+ 1 2\)"\}/);
  });

  test('where nothing can be recorded, nothing that is not safe runs', async () => {
    file = '/dev/null/audit.jsonl';
    const session = await start();
    const { text, isError } = await session.call('eval_form', { form: '(defvar *ran* t)' });
    expect([text, isError]).toEqual([
      "The call could not be recorded in the audit log (EEXIST: file already exists, mkdir '/dev/null'), so nothing was done. A person can name another file when they start the server: --audit FILE",
      true,
    ]);
    expect(await session.text('describe_symbol', { symbol: '*ran*' })).toContain('not found');
    expect(await session.text('get_audit_log', {})).toBe(
      '0 calls in the audit log, newest first:\n\nThe log is /dev/null/audit.jsonl',
    );
  });
});

function readText(): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

describe('get_audit_log', () => {
  test('filters, pages, and says what is wrong', async () => {
    const session = await share();
    for (const form of ['(+ 1 2)', '(car 5)', '(list "\u202e" 3)']) await session.eval(form);
    await session.call('load_system', { system: 'nothing-like-it' });
    const log = (args: Record<string, unknown>) => session.text('get_audit_log', args);
    expect(await log({ tool: 'load-system' })).toMatch(
      /^1 call in the audit log, newest first:\n\n {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ load_system /,
    );
    expect(await log({ outcome: 'failed', tool: 'eval_form' })).toMatch(
      /eval_form \(cautious\) failed after \d+ ms\n {4}\{"form":"\(car 5\)"\}\n {4}Error: The value/,
    );
    expect(await log({ limit: 1, offset: 1 })).toMatch(
      /^4 calls in the audit log, newest first:\n\n {2}.*eval_form .*\n {4,6}\{"form":"\(list \\"<U\+202E>\\" 3\)"\}\n {2}\.\.\.$/,
    );
    expect(await log({ since: '2999-01-01' })).toMatch(/^0 calls/);
    expect(await log({ since: '2020-01-01' })).toMatch(/^4 calls/);
    expect(await log({ since: 'yesterday' })).toBe(
      "Parameter 'since' must be a date or a time such as 2026-11-21 or 2026-11-21T12:00:00Z, not yesterday.",
    );
    expect(await log({ outcome: 'good' })).toBe(
      "Parameter 'outcome' must be one of succeeded, failed, unfinished.",
    );
  });
});
