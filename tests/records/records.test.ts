// Records of calls and evaluations: when they are written, and what is told when they cannot be.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AuditLog } from '../../src/records/audit-log.ts';
import { ReplHistory } from '../../src/records/repl-history.ts';
import { temporaryFolder } from '../harness.ts';

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'log.jsonl');
});
afterEach(() => {
  folder.remove();
});

const CALL = { tool: 'eval_form', level: 'cautious', args: { form: '1' }, caller: 'client' } as const;
const EVALUATION = { form: '1', milliseconds: 1 };

/** Returns how many lines the file at PATH has. */
function count(): number {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
}

test('S2.11 the begin of a call is in the log before it runs, and its end when it has ended', () => {
  const log = new AuditLog(path, '/root');
  const end = log.begin(CALL, 'level');
  expect(count()).toBe(1);
  end({ success: true, milliseconds: 1 });
  expect(count()).toBe(2);
  expect([...log.newestFirst()].map(({ end }) => end?.success)).toEqual([true]);
});

test('that evaluations cannot be kept is told once, with the first or later', () => {
  const history = new ReplHistory(path);
  history.add(EVALUATION);
  expect(history.takeNotes()).toEqual([]);
  folder.remove();
  writeFileSync(folder.path, 'a file where the folder should be');
  history.add(EVALUATION);
  expect(history.takeNotes()).toEqual([expect.stringMatching(/^Note: evaluations run, but are not kept /)]);
  history.add(EVALUATION);
  expect(history.takeNotes()).toEqual([]);
  rmSync(folder.path);
});
