// Records that no answer waits for: what is written on the way of a call, what when, and what no mishap takes away.

import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AuditLog } from '../../src/records/audit-log.ts';
import { writeAll } from '../../src/records/later.ts';
import { LineFile } from '../../src/records/lines.ts';
import { ReplHistory } from '../../src/records/repl-history.ts';
import { temporaryFolder } from '../harness.ts';
import { noteFileCalls } from './file-calls.ts';

/** The names of the functions of node:fs that the program calls. */
const used: string[] = [];
const stopNoting = noteFileCalls((name) => used.push(name));
afterAll(stopNoting);

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  vi.useFakeTimers();
  folder = temporaryFolder();
  path = join(folder.path, 'log.jsonl');
});
afterEach(() => {
  writeAll();
  folder.remove();
  vi.useRealTimers();
});

const LARGE = { limit: 1_000_000, kept: 2 };
const CALL = { tool: 'eval_form', level: 'cautious', args: { form: '1' }, caller: 'client' } as const;
const EVALUATION = { form: '1', milliseconds: 1 };

/** Returns how many lines the file at PATH has. */
function count(): number {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
}

test('S2.11 on the way of a call one record is appended, and nothing else is done with files', () => {
  const log = new AuditLog(path, '/root');
  const history = new ReplHistory(join(folder.path, 'history.jsonl'));
  log.begin(CALL, 'level')({ success: true, milliseconds: 1 });
  history.add(EVALUATION);
  vi.advanceTimersByTime(100);
  used.length = 0;
  const end = log.begin(CALL, 'level');
  expect(used).toEqual(['writeSync']);
  end({ success: true, milliseconds: 1 });
  history.add(EVALUATION);
  expect(used).toEqual(['writeSync']);
  expect(count()).toBe(3);
});

test('what is written after the answer is there 100 ms later, before it is read, and when all is written', () => {
  const log = new AuditLog(path, '/root');
  const call = () => log.begin(CALL, 'level')({ success: true, milliseconds: 1 });
  call();
  expect(count()).toBe(1);
  vi.advanceTimersByTime(100);
  expect(count()).toBe(2);
  call();
  expect([...log.newestFirst()].map(({ end }) => end?.success)).toEqual([true, true]);
  call();
  writeAll();
  expect(count()).toBe(6);
  expect(vi.getTimerCount()).toBe(0);
});

test('the end of a dangerous call is there at once, and so is what failed: the server could end next', () => {
  const log = new AuditLog(path, '/root');
  log.begin({ ...CALL, level: 'dangerous' }, 'human')({ success: true, milliseconds: 1 });
  expect(count()).toBe(2);
  log.begin(CALL, 'level')({ success: true, milliseconds: 1 });
  log.begin(CALL, 'level')({ success: false, error: 'The image was lost.', milliseconds: 1 });
  expect(count()).toBe(6);
  rmSync(path);
  const history = new ReplHistory(path);
  history.add(EVALUATION);
  history.add(EVALUATION);
  expect(count()).toBe(1);
  history.add({ ...EVALUATION, error: 'The image was lost.' });
  expect(count()).toBe(3);
});

test('a burst of long evaluations does not wait in memory', () => {
  const history = new ReplHistory(path);
  for (let number = 0; number < 40; number++) history.add({ form: 'x'.repeat(4000), milliseconds: 1 });
  expect(count()).toBeGreaterThan(20);
});

test.each([
  ['was removed', () => rmSync(path), ['two', 'one']],
  ['was emptied', () => truncateSync(path), ['one', 'two']],
  [
    'has a line of another server that is torn',
    () => appendFileSync(path, 'torn'),
    ['two', 'torntwo', 'one', '-'],
  ],
  [
    'is another one now',
    () => renameSync(path, join(folder.path, 'log.20260101000000000-1-1.jsonl')),
    ['two', 'one', '-'],
  ],
] as const)('nothing that was added is lost when the file %s', (_, happens, expected) => {
  const lines = new LineFile(path, LARGE);
  lines.append('-');
  lines.add('one');
  happens();
  lines.add('two');
  lines.verify();
  expect([...lines.newestFirst()]).toEqual(expected);
  lines.add('three');
  lines.verify();
  expect([...lines.newestFirst()]).toEqual(['three', ...expected]);
});

test('what cannot be proven is tried again', () => {
  const lines = new LineFile(path, LARGE);
  lines.append('-');
  lines.add('one');
  folder.remove();
  writeFileSync(folder.path, 'a file where the folder should be');
  expect(() => lines.verify()).toThrow(/EEXIST|ENOTDIR/);
  rmSync(folder.path);
  lines.verify();
  expect([...lines.newestFirst()]).toEqual(['one']);
});

test('that evaluations cannot be kept is told once, with the first or later', () => {
  const history = new ReplHistory(path);
  history.add(EVALUATION);
  expect(history.takeNotes()).toEqual([]);
  folder.remove();
  writeFileSync(folder.path, 'a file where the folder should be');
  history.add(EVALUATION);
  expect(history.takeNotes()).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(history.takeNotes()).toEqual([expect.stringMatching(/^Note: evaluations cannot be kept /)]);
  history.add(EVALUATION);
  vi.advanceTimersByTime(100);
  expect(history.takeNotes()).toEqual([]);
  rmSync(folder.path);
});
