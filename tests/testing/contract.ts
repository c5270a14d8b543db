// What run_tests tells of tests, the same for each framework.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIBRARIES_AS_COMPILED, type Session, startSession, temporaryFolder } from '../harness.ts';
import { type Dialect, lineOf, write, writeShop } from './workspaces.ts';

/** Returns TEXT without how long the tests took, which is different each time. */
function timeless(text: string): string {
  return text.replace(/\d+\.\d s\)/g, 'N s)');
}

/** Defines the tests of run_tests with tests as DIALECT says them. ENV is of the server. */
export function testDialect(dialect: Dialect, env: Record<string, string> = {}): void {
  const root = temporaryFolder();
  let session: Session;
  beforeAll(async () => {
    writeShop(root.path, dialect);
    session = await startSession({ args: ['--root', root.path, ...LIBRARIES_AS_COMPILED], env });
  });
  afterAll(async () => {
    await session.close();
    root.remove();
  });

  const run = async (args: Record<string, unknown> = {}) => {
    const { text, isError } = await session.call('run_tests', args);
    return { text: timeless(text), isError };
  };
  const at = (name: string, line = lineOf(dialect.text, name)) => `${dialect.test(name)} checks.lisp:${line}`;
  const checks = dialect.checks === undefined ? '' : `${dialect.checks} checks, `;
  const failures = [
    `  ${at('two', dialect.line)}: ${dialect.failure}`,
    `  ${at('bad')}: TYPE-ERROR: The value "x" is not of type NUMBER${dialect.error ?? ', at shop.lisp:4'}`,
    '    wrote: Looking.',
  ];

  test('are found from the workspace, and the test-op of their system runs them', async () => {
    expect(await run()).toEqual({
      text: [`shop: 2 of 3 tests fail (${checks}N s).`, ...failures].join('\n'),
      isError: true,
    });
  });

  test('run by name, by package, and when they failed', async () => {
    expect(await run({ test: `checks::${dialect.test('one')}` })).toEqual({
      text: `checks::${dialect.test('one')}: 1 test passes (N s).`,
      isError: false,
    });
    expect((await run({ package: 'checks' })).text).toBe(
      [`checks: 2 of 3 tests fail (${checks}N s).`, ...failures].join('\n'),
    );
    expect((await run({ failed: true })).text.split('\n').slice(1)).toEqual(failures);
    for (const suite of dialect.suites) {
      const text = [`${suite}: 2 of 3 tests fail (${checks}N s).`, ...failures].join('\n');
      expect(await run({ test: suite })).toEqual({ text, isError: true });
    }
  });

  if (dialect.home !== undefined) {
    test('are known by what their framework does when its package has another name', async () => {
      await session.eval(`(defvar cl-user::*names* (package-nicknames "${dialect.home}"))`);
      await session.eval(`(rename-package "${dialect.home}" "A-COPY")`);
      const { text } = await run({ package: 'checks' });
      await session.eval(`(rename-package "A-COPY" "${dialect.home}" cl-user::*names*)`);
      expect(text).toBe([`checks: 2 of 3 tests fail (${checks}N s).`, ...failures].join('\n'));
    });
  }

  test('hold an error in its frame, which then goes on', async () => {
    const { text, isError } = await session.call('run_tests', {
      test: `checks::${dialect.test('bad')}`,
      on_error: 'hold',
    });
    const [, number = ''] = /Held as error (\d+)/.exec(text) ?? [];
    const [, frame = ''] = /^ {2}(\d+): \(SHOP::?PRICE .*shop\.lisp:4/m.exec(text) ?? [];
    expect({ isError, number, frame }).toEqual({
      isError: true,
      number: expect.stringMatching(/\d/),
      frame: expect.stringMatching(/\d/),
    });
    const after = await session.call('debug', { error: Number(number), frame: Number(frame), return: '1' });
    expect({ ...after, text: timeless(after.text) }).toEqual({
      text: `checks::${dialect.test('bad')}: 1 test passes (N s).\nFixed: ${dialect.test('bad')}`,
      notices: [],
      isError: false,
    });
  });

  test('tell what passed before and fails now, what is fixed and what is new', async () => {
    await run();
    write(root.path, { 'checks.lisp': dialect.text.replace(/\b4\b/g, '3').replace('"x"', '1') });
    const { text } = await run();
    expect(text).toBe(
      `shop: 3 tests pass (${checks}N s).\nFixed: ${dialect.test('two')}, ${dialect.test('bad')}`,
    );
    const shop = readFileSync(join(root.path, 'shop.lisp'), 'utf8');
    write(root.path, { 'shop.lisp': shop.replace('(cdr item) 0', '(cdr item) 1') });
    const broken = await run();
    const names = ['one', 'two', 'bad'].map(dialect.test).join(', ');
    expect(broken.text.split('\n')[0]).toBe(`shop: 3 of 3 tests fail (${checks}N s).`);
    expect(broken.text.split('\n').at(-1)).toBe('All of these passed before.');
    write(root.path, { 'shop.lisp': shop });
    expect((await run()).text).toBe(`shop: 3 tests pass (${checks}N s).\nFixed: ${names}`);
  });

  test('tell of long values where they differ', async () => {
    const text = `${dialect.text}${dialect.long.text}\n`;
    write(root.path, { 'checks.lisp': text });
    await run();
    const reported = await run({ test: `checks::${dialect.test('long')}` });
    expect(reported.text.split('\n')[1]).toBe(
      `  ${at('long', lineOf(text, 'long'))}: ${dialect.long.reported}`,
    );
  });

  test('leave nothing behind in the functions of the framework', async () => {
    const form = `(let ((count 0))
      (do-all-symbols (name count)
        (when (and (fboundp name) (not (macro-function name)) (not (special-operator-p name))
                   (sb-int:encapsulated-p name 'live-lisp.tests::live-lisp-tests))
          (incf count))))`;
    expect(await session.eval(form)).toBe('0');
  });
}
