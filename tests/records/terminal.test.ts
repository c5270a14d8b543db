// What was evaluated and recorded reaches nobody's terminal with codes that it obeys.

import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FileSession, openWorkspace } from '../files/sessions.ts';

const ESCAPE = '\u001b';
const CODES = `${ESCAPE}]0;title\u0007${ESCAPE}[2J\u202e`;

/** Returns the characters of TEXT that a terminal obeys. */
function obeyed(text: string): string[] {
  return [...text].filter((char) => CODES.includes(char) && /[^\w;[\]]/.test(char));
}

let at: FileSession;
let audit: string;
beforeAll(async () => {
  audit = join(process.env['XDG_STATE_HOME'] ?? '', `terminal-${process.pid}`, 'audit.jsonl');
  mkdirSync(dirname(audit), { recursive: true });
  at = await openWorkspace({ args: ['--audit', audit] });
  await at.session.eval(`(progn (princ "${CODES}") "${CODES}")`);
});
afterAll(() => at.close());

test('the history of evaluations', async () => {
  const text = await at.answer('get_repl_history', {});
  expect(text).toContain('<U+001B>]0;title<U+0007><U+001B>[2J<U+202E>');
  expect(obeyed(text)).toEqual([]);
});

test('the audit log, also with lines that somebody else has put there', async () => {
  const line = {
    id: 'x',
    time: CODES,
    root: at.root,
    event: 'begin',
    tool: CODES,
    level: 'safe',
    caller: 'client',
    authority: 'level',
    arguments: { a: CODES },
  };
  appendFileSync(audit, `${JSON.stringify(line)}\n`);
  const text = await at.answer('get_audit_log', {});
  expect(text).toContain('<U+001B>');
  expect(obeyed(text)).toEqual([]);
});
