// What an answer of a tool in Lisp has besides its result, and what stays when the built-in tools are registered again.

import { expect, test } from 'vitest';
import { sharedSession } from '../shared.ts';

const session = sharedSession({}, '(in-package :live-lisp-user)');

/** Registers the tool probe with BODY. */
function define(body: string): Promise<string> {
  return session.eval(
    `(register-tool *agent-q-registry* (define-tool "probe" "Test." '() :handler (lambda (args) (declare (ignorable args)) ${body})))`,
  );
}

test('C17 S2.8 a result beside an error is kept in the tool-result, and a model reads the error', async () => {
  const results: [string, string][] = [
    ['(values 1 "err")', '(NIL "err" "1")'],
    ['(values "as it is" "err")', '(NIL "err" "as it is")'],
    [
      '(values (list 1.5d0 "a") (make-condition (quote simple-error) :format-control "No."))',
      '(NIL "No." "(1.5 \\"a\\")")',
    ],
    ['(values nil "err")', '(NIL "err" NIL)'],
    ['(error "signalled")', '(NIL "Tool error: signalled" NIL)'],
    ['(values 1 nil)', '(T NIL "1")'],
  ];
  for (const [body, parts] of results) {
    await define(body);
    const form = `(let ((result (execute-tool-call (get-tool "probe") (list :id "1" :name "probe"))))
      (list (tool-result-success result) (tool-result-error result) (tool-result-result result)))`;
    expect(await session.eval(form), body).toBe(parts);
  }
  await define('(values 1 "err")');
  expect(await session.call('probe', {})).toMatchObject({ isError: true, text: 'err' });
});

test('S2.8 what a handler is warned about is shown as eval_form shows it', async () => {
  await define('(progn (warn "warned ~A" 1) (print :hi) "done")');
  expect((await session.call('probe', {})).text).toBe(
    'done\n\nWarnings (1):\n  WARNING: warned 1\n\nOutput:\n:HI',
  );
  await define('(progn (warn "warned") (values nil "err"))');
  expect(await session.call('probe', {})).toMatchObject({
    isError: true,
    text: 'err\n\nWarnings (1):\n  WARNING: warned',
  });
  expect(await session.eval('(warn "warned ~A" 1)')).toBe(
    'NIL\n\nWarnings (1):\n  WARNING (form 1): warned 1',
  );
});

test('C30 S4.9 registering the built-in tools again gives fresh ones, whatever code did to them', async () => {
  await session.eval(`(let ((tool (get-tool "who_calls")))
    (setf (tool-safety-level tool) :dangerous (tool-name tool) "mine" (tool-handler tool) (constantly "mine"))
    (setf (getf (first (tool-parameters tool)) :type) :number (tool-required tool) '() (tool-categories tool) '()))`);
  expect(await session.eval('(hash-table-count *agent-q-registry*)')).toBe('19');
  expect(await session.eval('(register-agent-q-tools)')).toBe('19');
  expect(
    await session.eval(
      '(length (get-agent-q-tools :max-safety-level :safe :categories (list :introspection)))',
    ),
  ).toBe('8');
  const form = `(let ((tool (get-tool "who_calls")))
    (list (tool-name tool) (tool-safety-level tool) (tool-required tool) (getf (first (tool-parameters tool)) :type)
          (tool-categories tool)))`;
  expect(await session.eval(form)).toBe('("who_calls" :SAFE ("name") :STRING (:INTROSPECTION :XREF))');
  const call = `(tool-result-result (execute-tool-call (get-tool "who_calls") (list :name "who_calls" :arguments (list :name "nope"))))`;
  expect(await session.eval(call)).toMatch(/^"Symbol NOPE not found in package CL-USER/);
});

test('C19 what code takes out of the table clients can still call, and what it puts there they cannot', async () => {
  await define('"still here"');
  await session.eval(`(setf (gethash "sneaky" *agent-q-registry*) (get-tool "probe"))
    (remhash "probe" *agent-q-registry*)`);
  expect(await session.call('probe', {})).toMatchObject({ isError: false, text: 'still here' });
  await expect(session.call('sneaky', {})).rejects.toThrow(/Unknown tool/i);
});
