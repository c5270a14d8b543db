// No list is cut without its total and a way to the rest.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession } from '../harness.ts';
import { prepare } from './looks.ts';

let session: Session;
beforeAll(async () => {
  session = await startSession();
  await prepare(session, '(defgeneric busy (x)) (dotimes (i 24) (eval `(defmethod busy ((x (eql ,i))) x)))');
});
afterAll(() => session.close());

/** Returns what describe_symbol tells of the methods of BUSY. */
async function methods(more: object = {}): Promise<string[]> {
  const lines = (await session.text('describe_symbol', { symbol: 'busy', ...more })).split('\n');
  return lines.slice(lines.indexOf('  Methods (24):') + 1);
}

test('C13 of 24 methods 20 are described, and limit and offset reach the rest', async () => {
  const shown = await methods();
  expect(shown.length).toBe(22);
  expect(shown.slice(-2)).toEqual(['    ...', '  Note: 24 methods; limit and offset reach the rest.']);
  const rest = await methods({ offset: 20 });
  expect(rest.length).toBe(4);
  expect(new Set([...shown.slice(0, 20), ...rest]).size).toBe(24);
  expect(await methods({ limit: 24 })).toEqual([...shown.slice(0, 20), ...rest]);
  expect(await methods({ offset: 24 })).toEqual([
    '  Note: there are 24 methods, and none from offset 24 on.',
  ]);
});

test('C13 code gets all of them', async () => {
  expect(
    await session.eval(
      '(length (gethash "methods" (first (gethash "things" (live-lisp:call-tool "describe_symbol" :symbol "busy")))))',
    ),
  ).toBe('24');
});

test('all keys of a property list are told', async () => {
  await prepare(session, '(dotimes (i 30) (setf (get \'busy (intern (format nil "KEY-~D" i) :keyword)) i))');
  const keys = (await session.text('describe_symbol', { symbol: 'busy' })).split('\n').at(-1) ?? '';
  expect(keys).toMatch(/^Property list keys: /);
  expect(keys.split(', ').length).toBe(30);
});
