// Logs that are as large as they become: how many records are counted for the newest rows, and that all can be found.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { CallContext, Result, Tool } from '../../src/kernel/tool.ts';
import { AuditLog } from '../../src/records/audit-log.ts';
import { ReplHistory } from '../../src/records/repl-history.ts';
import { getReplHistoryTool } from '../../src/tools/execution/history.ts';
import { getAuditLogTool } from '../../src/tools/settings/get-audit-log.ts';
import { sharedFolder } from '../shared.ts';

const ROOT = '/workspace';
const folder = sharedFolder();
const historyPath = join(folder.path, 'history.jsonl');
const auditPath = join(folder.path, 'audit.jsonl');
let history: ReplHistory;
let log: AuditLog;

/** Writes KEPT full files and the one that grows, each of lines of BYTES in all; LINES makes those of record NUMBER. */
function fill(path: string, kept: number, bytes: number, lines: (number: number) => string): number {
  let number = 0;
  for (let file = kept; file >= 0; file--) {
    let text = '';
    for (let next = lines(number); text.length + next.length <= bytes; next = lines(++number)) text += next;
    writeFileSync(
      file === 0 ? path : path.replace('.jsonl', `.2026010100000000${kept - file}-1-1.jsonl`),
      text,
    );
  }
  return number;
}

let evaluations: number;
beforeAll(() => {
  mkdirSync(folder.path, { recursive: true });
  evaluations = fill(historyPath, 2, 2_000_000, (number) => {
    const time = new Date(1.7e12 + number).toISOString();
    return `${JSON.stringify({ time, package: 'CL-USER', form: `(f ${number})`, values: 'é', milliseconds: 1 })}\n`;
  });
  fill(auditPath, 2, 5_000_000, (number) => {
    const [id, time] = [`id-${number}`, new Date(1.7e12 + number).toISOString()];
    const how = { tool: 'eval_form', level: 'cautious', caller: 'client', authority: 'level' };
    const begin = { id, time, root: ROOT, event: 'begin', ...how, arguments: { form: `(f ${number})` } };
    return `${JSON.stringify(begin)}\n${JSON.stringify({ id, time, event: 'end', success: number !== 7, milliseconds: 1 })}\n`;
  });
  history = new ReplHistory(historyPath);
  log = new AuditLog(auditPath, ROOT);
});

async function call(tool: Tool, args: object, context: CallContext = {}): Promise<Result> {
  return (await tool.handler(args as never, context)) as Result;
}

test('get_repl_history counts no more of a full history than it must', async () => {
  const { text } = await call(getReplHistoryTool(history), {});
  expect(text).toMatch(
    /^At least \d{3,} evaluations in this workspace, newest first, of 2023-11-14, in CL-USER, by another server, or an earlier one:\n\n {2}22:14:17Z, 1 ms\n/,
  );
  expect(text.match(/\(f \d+\)/g)?.[0]).toMatch(/\(f \d{5}\)/);
  expect(text.match(/\(f \d+\)/g)).toHaveLength(20);
  expect(text).toMatch(/\n {2}\.\.\.$/);
});

test('get_audit_log counts no more of a full log either', async () => {
  const { text, data } = await call(getAuditLogTool(log), {});
  expect(text).toMatch(/^At least \d{3,} calls in the audit log, newest first, of 20/);
  expect(text.match(/succeeded after 1 ms/g)).toHaveLength(20);
  expect(data).toMatchObject({ atLeast: true });
});

test('a rare row is found across all files, and then all are counted', async () => {
  const { text } = await call(getAuditLogTool(log), { outcome: 'failed' });
  expect(text).toMatch(/^1 call in the audit log, newest first:[\s\S]*\(f 7\)/);
});

test('code gets all, in their order', async () => {
  const { data } = await call(getReplHistoryTool(history), {}, { forData: true });
  const { total, evaluations: all } = data as { total: number; evaluations: { form: string }[] };
  expect([total, all.length]).toEqual([evaluations, evaluations]);
  expect(all.every(({ form }, index) => form === `(f ${evaluations - 1 - index})`)).toBe(true);
});

test('others have their turn while much is read, and a cancel ends it', async () => {
  const controller = new AbortController();
  const searching = call(getReplHistoryTool(history), { containing: 'x' }, { signal: controller.signal });
  setTimeout(() => controller.abort(), 1);
  await expect(searching).rejects.toThrow('The call was cancelled before all records were read.');
});
