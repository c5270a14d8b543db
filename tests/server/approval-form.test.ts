// What a human sees who is asked: the first lines of the message, the file of the whole, and the choices.

import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ElicitRequestFormParams } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { PreviewFiles } from '../../src/server/preview-files.ts';
import { APPROVE, DENY, type FileSession, openWorkspace } from '../files/sessions.ts';

vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  return { ...crypto, randomBytes: vi.fn(crypto.randomBytes) };
});

let at: FileSession;
let forms: ElicitRequestFormParams[];
let whole: { path: string; text: string; mode: number } | undefined;
const state = mkdtempSync(join(tmpdir(), 'live-lisp-previews-'));
beforeAll(async () => {
  at = await openWorkspace({ env: { XDG_STATE_HOME: state } });
  at.human = (_, form) => {
    forms.push(form);
    const path = /^All of it: (.*)$/m.exec(form.message)?.[1];
    if (path !== undefined)
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
    'Approve write_file (dangerous)? line 5, +1 \u22121, in a.lisp',
    '-line 5',
    '+line five',
    `All of it: ${whole?.path}`,
  ]);
});

test('of a larger change, the second line is the first that changes, and no line is empty', async () => {
  at.put('b.lisp', `one\n\n${lines(9)}`);
  const { message } = await formFor('b.lisp', `one\n\n${lines(9).replace('line 2\n', 'two\n\n\ntwo\n')}`);
  const shown = message.split('\n');
  expect(shown[0]).toBe('Approve write_file (dangerous)? line 4, +4 \u22121, in b.lisp');
  expect(shown.slice(1, 3)).toEqual(['-line 2', '+two']);
  expect(shown.filter((line) => line.trim() === '')).toEqual([]);
});

test.each([
  ['a line that moves', 'one\ntwo\n', 'two\none\n'],
  ['two lines far from each other', lines(40), `one\n${lines(40)}two\n`],
])('%s is shown with what stands between', async (_, before, after) => {
  at.put('m.lisp', before);
  const { message } = await formFor('m.lisp', after);
  const shown = message.split('\n').slice(1, -1);
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.some((line) => /^(?: |@@)/.test(line))).toBe(true);
});

test('a name cannot pass for the rest of the line', async () => {
  const { message } = await formFor('a.lisp, line 5, +1 -1      in b.lisp', 'x\n');
  expect(message.split('\n').slice(0, -1)).toEqual([
    'Approve write_file (dangerous)? new file, +1 \u22120, in "a.lisp, line 5, +1 -1',
    `\u2026 ${'<U+0020>'.repeat(5)}in b.lisp"`,
    '+x',
  ]);
});

test('what is not a text is told with how much of it is lost', async () => {
  at.put('c.bin', '\0\0\0');
  const { message } = await formFor('c.bin', 'x\n');
  expect(message.split('\n').slice(0, 2)).toEqual([
    'Approve write_file (dangerous)? +1 \u22120 in place of a binary file of 3 bytes,',
    '\u2026 which are lost, in c.bin',
  ]);
});

test('the whole preview is in a file that only its owner reads, and is gone after the answer', async () => {
  const content = lines(5000);
  const { message } = await formFor('long.txt', content);
  expect(message).toMatch(/^97 of 5000 lines are shown\. /);
  expect(whole?.mode).toBe(0o600);
  expect(whole?.text).toBe(`New file long.txt, 5000 lines:\n${content.replaceAll('line', '+line')}`);
  expect(statSync(dirname(whole?.path ?? '')).mode & 0o777).toBe(0o700);
  expect(existsSync(whole?.path ?? '')).toBe(false);
});

test('what a server left that was killed is removed', async () => {
  await formFor('d.lisp', 'd');
  const folder = dirname(whole?.path ?? '');
  const [old, young] = ['0123456789abcdef.diff', '0123456789abcde0.diff'];
  for (const name of [old, young, 'theirs']) writeFileSync(join(folder, name), 'left');
  for (const name of [old, 'theirs']) utimesSync(join(folder, name), 1, 1);
  forms.splice(0);
  await formFor('e.lisp', 'e');
  expect(readdirSync(folder).sort()).toEqual([young, 'theirs']);
  for (const name of [young, 'theirs']) unlinkSync(join(folder, name));
});

test('no two previews have the same file', () => {
  const files = new PreviewFiles(join(state, 'own'), 600);
  for (const octet of [1, 1, 2]) vi.mocked(randomBytes).mockImplementationOnce(() => Buffer.from([0, octet]));
  expect([files.write('x'), files.write('x')]).toMatchObject([
    { path: join(state, 'own', '0001.diff') },
    { path: join(state, 'own', '0002.diff') },
  ]);
});

test('where the folder is a file, no file is written, and the question says so', async () => {
  await formFor('d.lisp', 'd');
  const folder = dirname(whole?.path ?? '');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  const { human } = at;
  at.human = (_message, form) => {
    forms.push(form);
    return DENY;
  };
  forms.splice(0);
  const { message } = await formFor('d.lisp', 'd');
  expect(message.split('\n').at(-1)).toBe(
    `All of it: not in a file (${folder} is not a folder that you own; remove it)`,
  );
  at.human = human;
  rmSync(folder, { recursive: true });
});

test('a preview that code in the image has put a folder in place of does not harm', async () => {
  const { human } = at;
  at.human = (message, form) => {
    const answer = human(message, form);
    unlinkSync(whole?.path ?? '');
    mkdirSync(whole?.path ?? '');
    return answer;
  };
  expect(await at.answer('write_file', { path: 'd.lisp', content: 'd' })).toBe(
    'failed: Tool execution denied by user',
  );
  at.human = human;
  rmSync(whole?.path ?? '', { recursive: true });
});

describe('the choices', () => {
  const ALL = ['approve', 'approve for this session', 'deny'];
  const ONCE = ['approve', 'deny'];
  const DENY_FIRST = ['deny', 'approve'];

  test('are all, with a default, for a file that is shown whole', async () => {
    expect(decision(await formFor('f.lisp', 'x'))).toEqual({
      type: 'string',
      title: 'Decision',
      description: 'for this session: write_file of *.lisp directly in the workspace',
      enum: ALL,
      default: 'approve',
    });
  });

  // tests/kernel/standing.test.ts has which files these are.
  test('have none for the session for a file that is run or obeyed by itself', async () => {
    expect(decision(await formFor('.git/hooks/pre-commit', 'x'))).toEqual({
      type: 'string',
      title: 'Decision',
      description: 'write_file, once',
      enum: ONCE,
      default: 'approve',
    });
  });

  test('have no default, denial first and none for the session for what is not shown whole', async () => {
    expect(decision(await formFor('large.txt', 'x\n'.repeat(8000)))).toEqual({
      type: 'string',
      title: 'Decision',
      description: 'write_file, once',
      enum: DENY_FIRST,
    });
  });
});

test('who approves for the session what no such choice was offered for has approved nothing', async () => {
  const { human } = at;
  at.human = () => ({ action: 'accept', content: { decision: 'approve for this session' } });
  expect(await at.answer('write_file', { path: 'Makefile', content: 'x' })).toMatch(
    /^failed: .* Nobody answered the question, so nothing was done\./,
  );
  at.human = human;
});

test('a tool that code in the image defined is told as that', async () => {
  await at.session.eval(`(live-lisp:register-tool live-lisp:*agent-q-registry*
    (live-lisp:define-tool "wipe" "Wipes." '((:name "what" :type :string)) :safety-level :dangerous
      :handler (lambda (args) (declare (ignore args)) "wiped")))`);
  await at.answer('wipe', { what: 'a\nform: b' });
  expect(forms[0]?.message.split('\n').slice(0, -1)).toEqual([
    'Approve wipe (dangerous, defined by code in the image, not by live-lisp)?',
    '> what: a',
    '| form: b',
  ]);
});

test('S2.12 a call that is denied does not run, also when its tool became a cautious one meanwhile', async () => {
  const { human } = at;
  const register = (level: string) =>
    at.session.eval(`(live-lisp:register-tool live-lisp:*agent-q-registry*
      (live-lisp:define-tool "turncoat" "Turns." '() :safety-level ${level}
        :handler (lambda (args) (declare (ignore args)) "ran")))`);
  await register(':dangerous');
  for (const [answer, said] of [
    [DENY, /^failed: Tool execution denied by user$/],
    [{ action: 'cancel' as const }, /^failed: .* Nobody answered the question/],
    [APPROVE, /^failed: What turncoat would do has changed since it was approved/],
  ] as const) {
    at.human = async () => {
      await register(':cautious');
      return answer;
    };
    expect(await at.answer('turncoat', {})).toMatch(said);
    await register(':dangerous');
  }
  at.human = human;
});

test('C29 S2.11 the audit log has what became of each question', async () => {
  const { human } = at;
  const answers = [APPROVE, DENY, { action: 'cancel' as const }];
  at.human = () => answers.shift() ?? DENY;
  for (const path of ['r1', 'r2', 'r3']) await at.answer('write_file', { path, content: path });
  await at.session.eval('(ignore-errors (live-lisp:call-tool :write-file :path "r4" :content "r4"))');
  const log = await at.session.text('get_audit_log', { tool: 'write_file', limit: 4 });
  expect(log.match(/(?<=\(dangerous, ).*(?=\))/g)).toEqual([
    'called by code, nobody could be asked',
    'nobody answered',
    'denied by the user',
    'decided by the user',
  ]);
  at.human = human;
});

describe('what a client has no room for', () => {
  let codex: FileSession;
  let asked: ElicitRequestFormParams[];
  /** What the human chooses, one page after the other. */
  let answers: string[];
  beforeAll(async () => {
    codex = await openWorkspace({ clientName: 'codex-mcp-client', env: { XDG_STATE_HOME: state } });
    codex.human = (_, form) => {
      asked.push(form);
      return { action: 'accept', content: { decision: answers.shift() ?? 'deny' } };
    };
  });
  beforeEach(() => {
    asked = [];
  });
  afterAll(() => codex.close());

  const previews = () => readdirSync(join(state, 'live-lisp', 'previews'));
  /** Returns what is preset on each page, and what stands first among its choices. */
  const stands = () =>
    asked
      .map((form) => decision(form) as { default?: string; enum: string[] })
      .map((each) => [each.default, each.enum[0]]);

  test('is on further pages, and only what is all on one has approve preset', async () => {
    answers = ['show more', 'show more', 'approve for this session'];
    const content = lines(23);
    expect(await codex.answer('write_file', { path: 'p.lisp', content })).toBe(
      `Wrote ${content.length} bytes to p.lisp`,
    );
    const file = /^All of it: (.*)$/m.exec(asked[0]?.message ?? '')?.[1] ?? '';
    const rows = (from: number, to: number) =>
      lines(23)
        .split('\n')
        .slice(from - 1, to)
        .map((line) => `+${line}`);
    expect(asked.map(({ message }) => message.split('\n'))).toEqual([
      [
        '10 of 23 lines are shown. Approve write_file (dangerous)? new file, +23 \u22120,',
        '\u2026 in p.lisp',
        ...rows(1, 10),
        `All of it: ${file}`,
      ],
      ['Lines 11 to 22 of 23, write_file', ...rows(11, 22)],
      ['Line 23 of 23, write_file', ...rows(23, 23)],
    ]);
    expect(stands()).toEqual([
      ['show more', 'show more'],
      ['show more', 'show more'],
      [undefined, 'deny'],
    ]);
    expect(existsSync(file)).toBe(false);
    answers = [];
    expect(await codex.answer('write_file', { path: 'q.lisp', content: '1' })).toBe(
      'Wrote 1 bytes to q.lisp',
    );
  });

  test('keeps its file until the last page is answered', async () => {
    answers = ['show more', 'deny'];
    const seen: number[] = [];
    const { human } = codex;
    codex.human = (message, form) => {
      seen.push(previews().length);
      return human(message, form);
    };
    const before = previews().length;
    await codex.answer('write_file', { path: 'p.txt', content: lines(20) });
    codex.human = human;
    expect([...seen, previews().length]).toEqual([before + 1, before + 1, before]);
  });

  test('on more than six pages, and a line that is too long for one, are in the file alone', async () => {
    answers = ['approve', 'show more'];
    await codex.answer('write_file', { path: 'p.txt', content: lines(71) });
    await codex.answer('write_file', { path: 'r.txt', content: `${'x'.repeat(2000)}\n` });
    expect(asked.map(({ message }) => message.split('\n')[0])).toEqual([
      '10 of 71 lines are shown. Approve write_file (dangerous)? new file, +71 \u22120,',
      '1 of 2 lines are shown. Approve write_file (dangerous)? new file, +1 \u22120, in',
    ]);
    expect(asked[1]?.message).toMatch(
      /\nNote: line 1 is longer than 200 characters or ends in white space\.\n/,
    );
    expect(stands()).toEqual([
      [undefined, 'deny'],
      [undefined, 'deny'],
    ]);
    // There was nothing more, so nothing was chosen.
    expect([existsSync(join(codex.root, 'p.txt')), existsSync(join(codex.root, 'r.txt'))]).toEqual([
      true,
      false,
    ]);
  });
});
