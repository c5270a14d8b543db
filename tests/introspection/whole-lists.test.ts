// No list is cut without its total and a way to the rest.

import { beforeAll, expect, test } from 'vitest';
import { sharedSession } from '../shared.ts';
import { prepare } from './looks.ts';

const session = sharedSession();
beforeAll(async () => {
  await prepare(session, '(defgeneric busy (x)) (dotimes (i 24) (eval `(defmethod busy ((x (eql ,i))) x)))');
});

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

test('of frames and restarts that are not shown, it is told how many, also later', async () => {
  await prepare(
    session,
    `(defun deep (n) (declare (optimize (debug 3))) (if (zerop n) (error "Bottom.") (1+ (deep (1- n)))))
     (defun choices (n) (if (zerop n) (error "Choose.") (restart-case (choices (1- n)) (choice () :report (lambda (to) (format to "Take ~D." n)) 1))))`,
  );
  const { text } = await session.call('eval_form', { form: '(deep 50)' });
  const frames = '\n  ... 36 more frames; (sb-debug:print-backtrace) in a handler prints them';
  expect(text.endsWith(frames)).toBe(true);
  expect(text.split('\n').filter((line) => / {2}\d+: \(/.test(line)).length).toBe(15);
  expect(await session.text('get_last_error', {})).toContain(frames);
  expect(await session.text('get_last_error', { frame: 20 })).toBe(
    'Frame 20 of error 0 was not kept: only the frames 0 to 14 were, and 36 more were left out. A call with on_error: "hold" keeps all frames for debug.',
  );
  const many = (await session.call('eval_form', { form: '(choices 30)' })).text;
  const restarts = '\n  ... 10 more restarts; (compute-restarts) in a handler gives them\n';
  expect(many.split('\n').filter((line) => line.startsWith('  CHOICE:')).length).toBe(20);
  expect(many).toContain(restarts);
  expect(many).toContain('\n  CHOICE: Take 1.\n');
  await session.eval('1');
  expect(await session.text('get_last_error', {})).toContain(restarts);
  const few = (await session.call('eval_form', { form: '(deep 5)' })).text;
  expect(few).not.toContain('more frames');
});
