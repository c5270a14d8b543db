// An edit, its tests and what is evaluated then, in one call that a human approves.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ownSession, sharedFolder, sharedSession } from '../shared.ts';
import { DIALECTS, writeShop } from './workspaces.ts';

const root = sharedFolder();
const asked: string[] = [];
let decision = 'approve';
beforeAll(() => {
  const dialect = DIALECTS.find(({ name }) => name === 'sb-rt');
  if (dialect === undefined) throw new Error('There is no dialect of sb-rt.');
  writeShop(root.path, dialect);
});
const session = sharedSession({
  args: ['--root', root.path],
  onQuestion: ({ message }) => {
    asked.push(message);
    return { action: 'accept', content: { decision } };
  },
});

const shop = () => readFileSync(join(root.path, 'shop.lisp'), 'utf8');
const run = async (args: Record<string, unknown>) => {
  const { text, isError } = await session.call('run_tests', args);
  return { text: text.replace(/\d+\.\d s\)/g, 'N s)'), isError };
};
const edit = (old: string, put: string) => [{ definition: 'shop::price', path: 'shop.lisp', old, new: put }];

test('nothing runs and nothing changes when the human denies it, or the call contradicts itself', async () => {
  decision = 'deny';
  const before = shop();
  expect(await session.call('run_tests', { edits: edit('0)', '1)') })).toMatchObject({
    text: 'Tool execution denied by user',
    notices: [
      'Nothing was done. If no person decided this, the client did by itself. A person can allow it when they start the server: --allow edit_definitions:shop.lisp',
    ],
    isError: true,
  });
  expect(asked.splice(0)).toHaveLength(1);
  decision = 'approve';
  for (const [args, text] of [
    [{ edits: [] }, "Parameter 'edits' is empty. Give at least one edit."],
    [
      { edits: edit('0)', '1)'), test: 'one', package: 'checks' },
      'Give only one of test and package; nothing was done.',
    ],
    [
      { edits: edit('0)', '1)'), failed: true },
      "No tests have run yet, so none failed. First call run_tests without parameter 'failed'.",
    ],
  ] as const) {
    expect(await run(args)).toEqual({ text, isError: true });
  }
  expect([asked, shop()]).toEqual([[], before]);
});

test('one question shows the diff and what is evaluated; then it is edited, loaded, tested and evaluated', async () => {
  const then = ["(shop:total '((a . 5)))", '(values)\n(list 1)'];
  const { text, isError } = await run({ edits: edit('(cdr item) 0', '(cdr item) 1'), then });
  expect(isError).toBe(true);
  expect(text.split('\n')[0]).toBe('shop: 3 of 3 tests fail (N s).');
  expect(text).toMatch(/\n\nChanged shop\.lisp: lines 3-4, /);
  expect(text).toMatch(/\n\nThen:\n\[1\] 6\n\[2\] ; No values\n\[3\] \(1\)$/);
  expect(shop()).toContain('(cdr item) 1');
  const [question = '', ...more] = asked.splice(0);
  expect(more).toEqual([]);
  expect(question.split('\n').slice(0, 2)).toEqual([
    'Approve run_tests (dangerous)? line 4, +1 \u22121, then load, tests and 2 forms,',
    '\u2026 in shop.lisp',
  ]);
  expect(question).toContain(
    "\nThen this is evaluated:\n| (shop:total '((a . 5)))\nThen this is evaluated:\n| (values)\n| (list 1)\nAll of it: ",
  );
  const fixed = await run({ edits: edit('(cdr item) 1', '(cdr item) 0') });
  expect(fixed.text).toMatch(
    /^shop: 2 of 3 tests fail \(N s\)\.\n[\s\S]*\nFixed: ONE\n\nNo warnings\.\n\nChanged shop\.lisp: lines 3-4, /,
  );
  asked.splice(0);
});

test('the question shows what else the run is told to do', async () => {
  decision = 'deny';
  await run({
    edits: edit('(cdr item) 0', '(cdr item) 1'),
    test: 'one',
    reset: ['*prices*'],
    restarts: ['CONTINUE'],
  });
  decision = 'approve';
  expect(asked.splice(0).join()).toContain(
    '\nThen the changed files are loaded, and tests run, with:\n> test: one\n> reset: ["*prices*"]\n> restarts: ["CONTINUE"]\nAll of it: ',
  );
});

test('where tests need an approval too, what is told to allow is enough', async () => {
  const before = shop();
  const call = async (flags: string[]) => {
    const other = await ownSession({ args: ['--root', root.path, '--ask', 'cautious', ...flags] });
    const { text } = await other.call('run_tests', { edits: edit('(cdr item) 0', '(cdr item) 1') });
    return text;
  };
  const allowed = ['--allow', 'edit_definitions:shop.lisp', '--allow', 'run_tests'];
  expect(await call(allowed.slice(0, 2))).toBe(
    `Tool run_tests is dangerous and needs a human's approval, and here nobody can be asked. Nothing was done. A person can allow it when they start the server: ${allowed.join(' ')}`,
  );
  expect(shop()).toBe(before);
  expect(await call(allowed)).toMatch(/^shop: 3 of 3 tests fail /);
});

test('code cannot edit so', async () => {
  const before = shop();
  const form = `(live-lisp:call-tool "run_tests" :edits (list (live-lisp:call-tool "eval_form" :form "1")))`;
  expect(await session.eval(form)).toContain('Error:');
  expect(await session.eval('(live-lisp:call-tool "run_tests" :edits (list 1))')).toContain('Error:');
  expect([asked, shop()]).toEqual([[], before]);
});
