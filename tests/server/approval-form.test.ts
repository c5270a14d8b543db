// What a human sees who is asked: the first lines of the message, the file of the whole, and the choices.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ElicitRequestFormParams } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { APPROVE, DENY, type FileSession, openWorkspace } from '../files/sessions.ts';

let at: FileSession;
let forms: ElicitRequestFormParams[];
let whole: { path: string; text: string; mode: number } | undefined;
const state = mkdtempSync(join(tmpdir(), 'live-lisp-previews-'));
beforeAll(async () => {
  at = await openWorkspace({ env: { XDG_STATE_HOME: state } });
  at.human = (_, form) => {
    forms.push(form);
    const path = /^Whole preview: (.*)$/m.exec(form.message)?.[1] ?? '';
    whole = { path, text: readFileSync(path, 'utf8'), mode: statSync(path).mode & 0o777 };
    return DENY;
  };
});
beforeEach(() => {
  forms = [];
  whole = undefined;
});
afterAll(async () => {
  await at.close();
  rmSync(state, { recursive: true });
});

/** Returns the form that a human is shown for writing CONTENT to PATH. */
async function formFor(path: string, content: string): Promise<ElicitRequestFormParams> {
  await at.answer('write_file', { path, content });
  const [form] = forms;
  if (form === undefined) throw new Error('Nobody was asked.');
  return form;
}

function decision({ requestedSchema }: ElicitRequestFormParams): unknown {
  return requestedSchema.properties['decision'];
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

test('a change of a line is shown whole in four lines', async () => {
  at.put('a.lisp', lines(9));
  const { message } = await formFor('a.lisp', lines(9).replace('line 5', 'line five'));
  expect(message.split('\n')).toEqual([
    'Approve write_file (dangerous)? a.lisp, line 5, +1 \u22121',
    `Whole preview: ${whole?.path}`,
    '-line 5',
    '+line five',
  ]);
});

test('of a larger change, the third line is the first that changes, and no line is empty', async () => {
  at.put('b.lisp', `one\n\n${lines(9)}`);
  const { message } = await formFor('b.lisp', `one\n\n${lines(9).replace('line 2\n', 'two\n\n\ntwo\n')}`);
  const shown = message.split('\n');
  expect(shown[0]).toBe('Approve write_file (dangerous)? b.lisp, line 4, +4 \u22121');
  expect(shown.slice(2, 4)).toEqual(['-line 2', '+two']);
  expect(shown.filter((line) => line.trim() === '')).toEqual([]);
});

test('what is not a text is told with how much of it is lost', async () => {
  at.put('c.bin', '\0\0\0');
  const { message } = await formFor('c.bin', 'x\n');
  expect(message.split('\n')[0]).toBe(
    'Approve write_file (dangerous)? c.bin, +1 \u22120 in place of a binary file of 3 bytes, which are lost',
  );
});

test('the whole preview is in a file that only its owner reads, and is gone after the answer', async () => {
  const content = lines(5000);
  const { message } = await formFor('long.txt', content);
  expect(message).toContain('Too long to show whole');
  expect(whole?.mode).toBe(0o600);
  expect(whole?.text).toBe(
    `New file long.txt, 5000 lines:\n\n${content.replaceAll('line', '+line')}`.replace(/\n$/, '\n'),
  );
  expect(statSync(dirname(whole?.path ?? '')).mode & 0o777).toBe(0o700);
  expect(existsSync(whole?.path ?? '')).toBe(false);
});

test('what a server left that was killed is removed', async () => {
  await formFor('d.lisp', 'd');
  const folder = dirname(whole?.path ?? '');
  writeFileSync(join(folder, '4194305-00000000.diff'), 'left');
  writeFileSync(join(folder, 'theirs'), 'kept');
  await formFor('e.lisp', 'e');
  expect(readdirSync(folder)).toEqual(['theirs']);
});

describe('the choices', () => {
  const ALL = ['approve', 'approve for this session', 'approve with changes', 'deny'];
  const ONCE = ['approve', 'approve with changes', 'deny'];

  test('are all, with a default, for a file that is shown whole', async () => {
    expect(decision(await formFor('src.lisp', 'x'))).toEqual({
      type: 'string',
      title: 'Decision',
      description:
        'approve for this session: write_file for *.lisp files directly in the workspace root without asking again',
      enum: ALL,
      default: 'approve',
    });
  });

  test.each([
    '.mcp.json',
    '.envrc',
    'Makefile',
    'sub/package.json',
    '.git/hooks/pre-commit',
    'x.asd',
    '.x/y',
  ])('have none for the session for %s, which is run or obeyed by itself', async (path) => {
    expect(decision(await formFor(path, 'x'))).toEqual({
      type: 'string',
      title: 'Decision',
      description: 'write_file, once',
      enum: ONCE,
      default: 'approve',
    });
  });

  test('have no default and none for the session for what is not shown whole', async () => {
    expect(decision(await formFor('large.txt', 'x\n'.repeat(8000)))).toEqual({
      type: 'string',
      title: 'Decision',
      description: 'write_file, once',
      enum: ONCE,
    });
  });
});

test('who approves for the session what no such choice was offered for has approved nothing', async () => {
  const { human } = at;
  at.human = () => ({ action: 'accept', content: { decision: 'approve for this session' } });
  expect(await at.answer('write_file', { path: 'Makefile', content: 'x' })).toBe(
    'failed: Tool execution denied by user',
  );
  at.human = human;
});

test('a tool that code in the image defined is told as that', async () => {
  await at.session.eval(`(live-lisp:register-tool live-lisp:*agent-q-registry*
    (live-lisp:define-tool "wipe" "Wipes." '((:name "what" :type :string)) :safety-level :dangerous
      :handler (lambda (args) (declare (ignore args)) "wiped")))`);
  await at.answer('wipe', { what: 'a\nform: b' });
  expect(forms[0]?.message.split('\n').filter((_, index) => index !== 1)).toEqual([
    'Approve wipe (dangerous, defined by code in the image, not by live-lisp)?',
    'what:',
    '| a',
    '| form: b',
  ]);
});

test('C29 S2.11 the audit log has what became of each question', async () => {
  const { human } = at;
  const answers = [
    APPROVE,
    { action: 'accept' as const, content: { decision: 'approve', arguments: '{"path":"w","content":"w"}' } },
    DENY,
    { action: 'cancel' as const },
  ];
  at.human = () => answers.shift() ?? DENY;
  for (const path of ['r1', 'r2', 'r3', 'r4']) await at.answer('write_file', { path, content: path });
  await at.session.eval('(ignore-errors (live-lisp:call-tool :write-file :path "r5" :content "r5"))');
  const log = await at.session.text('get_audit_log', { tool: 'write_file', limit: 5 });
  expect(log.match(/(?<=\(dangerous, ).*(?=\))/g)).toEqual([
    'called by code, nobody could be asked',
    'nobody answered',
    'denied by the user',
    'approved by the user with changes',
    'decided by the user',
  ]);
  at.human = human;
});
