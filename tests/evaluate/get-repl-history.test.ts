// get_repl_history: evaluations of a workspace, across servers and restarts.

import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ReplHistory, workspaceFile } from '../../src/records/repl-history.ts';
import { type Session, startSession, temporaryFolder } from '../harness.ts';
import { ownFolder } from '../shared.ts';

const state = temporaryFolder();
const root = temporaryFolder();
afterAll(() => {
  state.remove();
  root.remove();
});

const start = (folder = root.path, home = state.path): Promise<Session> =>
  startSession({ args: ['--root', folder], env: { XDG_STATE_HOME: home } });

const history = async (session: Session, args: Record<string, unknown> = {}): Promise<string> =>
  (await session.text('get_repl_history', args))
    .replace(/(\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\dZ/g, 'TIME')
    .replace(/\d{4}-\d\d-\d\d/g, 'DATE')
    .replace(/, \d+ ms(?=$|,)/gm, ', N ms');

const FIRST =
  '  TIME in COMMON-LISP-USER, N ms\n    (defun f (x)\n      (print x) (values x 2))\n    (f 3)\n' +
  '    => [1] F\n       [2] 3\n           2\n    Output:\n      3';

test('it has input, values, output, errors, package and time, newest first', async () => {
  const session = await start();
  expect(await history(session)).toBe('0 evaluations in this workspace.');
  await session.eval('(defun f (x)\n  (print x) (values x 2))\n(f 3)');
  await session.call('eval_form', { form: '(list 1', package: 'KEYWORD' });
  expect(await history(session)).toBe(
    '2 evaluations in this workspace, newest first, of DATE:\n\n' +
      '  TIME in KEYWORD, N ms\n    (list 1\n' +
      '    Error: form 1 cannot be read: the text ends inside this form\n' +
      '    The form begins at line 1, column 1; reading stopped at line 1, column 8. Nothing was evaluated.\n' +
      FIRST,
  );
  await session.close();
});

test('what is long is shown whole where it is of the only one listed, and a list says that it cuts it', async () => {
  const session = await start(root.path, ownFolder().path);
  await session.eval('(loop for n below 8 do (format t "~D~%" n) finally (return (values 1 2 3 4 5 6 7 8)))');
  await session.eval('(+ 1 2)');
  expect(await history(session)).toBe(
    '2 evaluations in this workspace, newest first, of DATE, in COMMON-LISP-USER:\n\n' +
      '  TIME, N ms\n    (+ 1 2)\n    => 3\n' +
      '  TIME, N ms\n    (loop for n below 8 do (format t "~D~%" n) finally (return (values 1 2 3 4 5 6 7 8)))\n' +
      '    => 1\n       2\n       3\n       4\n       5\n       6\n       ... 2 more lines\n' +
      '    Output:\n      0\n      1\n      2\n      3\n      4\n      5\n      ... 2 more lines\n\n' +
      'Note: to see one evaluation in full, give its offset and limit: 1.',
  );
  expect(await history(session, { limit: 1, offset: 1 })).toMatch(/ {7}8\n {4}Output:[^.]* {6}7$/);
  const value = '("a value" "of more characters" "than the mark")';
  await session.eval(`(print '${value})`);
  expect(await history(session)).toContain(
    `    => ${value}\n    Output:\n      [... the value as above ...]`,
  );
  await session.eval('(defun fails () (error "No."))');
  await session.call('eval_form', { form: '(fails)' });
  const brief = '\n    (fails)\n    Error: No.\n    Type: COMMON-LISP::SIMPLE-ERROR\n';
  const list = await history(session);
  expect(list).toContain(`  TIME, N ms${brief}  TIME, N ms`);
  expect(await history(session, { limit: 1 })).toContain(
    `  TIME in COMMON-LISP-USER, N ms${brief}\n    Frames:\n      0: (COMMON-LISP-USER::FAILS)`,
  );
  await session.close();
});

test('it survives a restart of the server, and a line that a crash cut', async () => {
  const file = workspaceFile(join(state.path, 'live-lisp', 'repl-history'), root.path);
  appendFileSync(file, '{"time":"2026-01-01T00:00:00Z","form":"(cut');
  const session = await start();
  await session.eval('(live-lisp:call-tool :eval-form :form "(* 6 7)")');
  const text = await history(session);
  expect(text).toMatch(/^4 evaluations in this workspace, newest first, of DATE:/);
  expect(text).toContain('\n    (* 6 7)\n    => 42\n');
  expect(await history(session, { containing: 'DEFUN' })).toBe(
    `1 evaluation in this workspace with "DEFUN" in the input, newest first:\n\n${FIRST.replace('N ms', 'N ms, by another server, or an earlier one')}`,
  );
  expect(await history(session, { limit: 1, offset: 1 })).toMatch(
    /\n {2}TIME .*\n {4}\(\* 6 7\)\n {4}=> 42\n {2}\.\.\.$/,
  );
  expect(await history(session, { offset: 4 })).toBe(
    '4 evaluations in this workspace, newest first:\n\nNote: there are 4 evaluations, and none from offset 4 on.',
  );
  await session.close();
});

test('a damaged line that is still JSON is left out, and the others are shown', async () => {
  const file = workspaceFile(join(state.path, 'live-lisp', 'repl-history'), root.path);
  const whole = { time: '2026-01-01T00:00:00.000Z', form: '(whole :line)', milliseconds: 1 };
  const damaged = [
    { time: '2020', form: 'w2', values: { a: 1 } },
    { ...whole, values: { a: 1 } },
    { ...whole, form: ['w2'] },
    { ...whole, milliseconds: '1' },
    { ...whole, time: true },
    { ...whole, error: null },
    'text',
    null,
    [],
  ];
  for (const line of [...damaged, whole]) appendFileSync(file, `${JSON.stringify(line)}\n`);
  const session = await start();
  expect(await history(session, { containing: 'w2' })).toMatch(/^0 evaluations /);
  expect(await history(session, { containing: 'whole' })).toMatch(/^1 evaluation /);
  await session.close();
});

test('its file is private', () => {
  const folder = join(state.path, 'live-lisp', 'repl-history');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

test('servers side by side over one root share it, other roots do not', async () => {
  const other = ownFolder();
  const link = join(other.path, 'link');
  symlinkSync(root.path, link);
  const [one, two, apart] = await Promise.all([start(), start(link), start(other.path)]);
  await Promise.all([one, two].map((each, index) => each.eval(`(list :side ${index})`)));
  for (const each of [one, two]) {
    const text = await history(each, { containing: ':side' });
    expect(text).toMatch(/^2 evaluations /);
    expect(text.match(/, by another server, or an earlier one$/gm)).toHaveLength(1);
  }
  expect(await history(apart)).toBe('0 evaluations in this workspace.');
  await Promise.all([one, two, apart].map((each) => each.close()));
});

test('where it cannot be written, evaluations go on, and the first says so', async () => {
  const broken = ownFolder();
  mkdirSync(join(broken.path, 'live-lisp'));
  writeFileSync(join(broken.path, 'live-lisp', 'repl-history'), 'a file where the folder should be');
  const session = await start(root.path, broken.path);
  expect(await session.eval('(+ 1 2)', { timeout: 10 })).toMatch(
    /^3\n\nNote: evaluations still run, but are no longer recorded for get_repl_history \(.+\)\.$/,
  );
  expect(await session.eval('(+ 1 3)')).toBe('4');
  expect(await history(session)).toBe('0 evaluations in this workspace.');
  await session.close();
});

test('it does not grow without a bound: neither a text, nor a file, nor their number', () => {
  const folder = ownFolder();
  const kept = new ReplHistory(join(folder.path, 'histories', 'one.jsonl'));
  for (let count = 0; count < 2500; count += 1) {
    expect(kept.add({ form: 'x'.repeat(9000), values: `${count}`, milliseconds: 1 })).toBe(undefined);
  }
  const files = readdirSync(join(folder.path, 'histories'));
  expect(files).toHaveLength(3);
  for (const name of files) {
    expect(readFileSync(join(folder.path, 'histories', name)).length).toBeLessThan(2_000_100);
  }
  const [newest] = kept.newestFirst();
  expect(newest?.values).toBe('2499');
  expect(newest?.form).toMatch(/^x{4000}\[\.\.\. 5000 more characters, SHA-256 of all [0-9a-f]{64}\]$/);
  for (let count = 0; count < 230; count += 1) {
    new ReplHistory(join(folder.path, 'histories', `root-${count}.jsonl`)).add({
      form: '1',
      milliseconds: 1,
    });
  }
  expect(readdirSync(join(folder.path, 'histories')).length).toBeLessThanOrEqual(200);
});
