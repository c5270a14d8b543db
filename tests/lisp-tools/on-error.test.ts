// Tools written in Lisp that take on_error and restarts as eval_form does.

import { expect, test } from 'vitest';
import { sharedSession } from '../shared.ts';

const TOOLS = `
(defun live-lisp-user::quotient (n by) (restart-case (list (/ n by)) (use-value (v) (list v)) (continue () (list :skipped))))
(live-lisp:register-tool live-lisp:*agent-q-registry*
  (live-lisp:define-tool "divide" "Divide two integers."
    '((:name "n" :type :integer :description "One") (:name "by" :type :integer :description "Other")
      (:name "on_error" :type :string :enum ("end" "hold") :description "hold: keep an error for debug")
      (:name "restarts" :type :array :items :string :description "Restarts to take"))
    :required '("n" "by")
    :handler (lambda (arguments) (live-lisp-user::quotient (gethash "n" arguments) (gethash "by" arguments)))))
(live-lisp:register-tool live-lisp:*agent-q-registry*
  (live-lisp:define-tool "own" "Has a parameter of that name for itself."
    '((:name "on_error" :type :string :description "What to do") (:name "restarts" :type :integer :description "How many"))
    :handler (lambda (arguments) (error "~A ~A" (gethash "on_error" arguments) (gethash "restarts" arguments)))))`;

const session = sharedSession({}, TOOLS);

test('an error of the handler is held, and what comes of it is the answer of the tool', async () => {
  expect(await session.text('divide', { n: 6, by: 0 })).toMatch(
    /^Tool error: arithmetic error DIVISION-BY-ZERO/,
  );
  const { text, isError } = await session.call('divide', { n: 6, by: 0, on_error: 'hold' });
  expect(isError).toBe(true);
  expect(text).toMatch(/^Held as error 1, until 60 s pass/m);
  expect(text).toMatch(/\d: \(LIVE-LISP-USER::QUOTIENT 6 0\)/);
  expect(await session.text('debug', { error: 1, retry: true })).toMatch(
    /^There is no form to evaluate again\. The nearest frame with which this works is \d\./,
  );
  expect(await session.text('debug', { error: 1, restart: 'use-value', values: ['(* 6 7)'] })).toBe('(42)');
});

test('a restart that was chosen is taken', async () => {
  expect(await session.text('divide', { n: 6, by: 0, restarts: ['continue'] })).toBe(
    '(:SKIPPED)\n\nTook the restart CONTINUE: arithmetic error DIVISION-BY-ZERO signalled Operation was (/ 6 0).',
  );
});

test('code that calls the tool gets the text of the held error, which goes on all the same', async () => {
  const text = await session.eval(
    '(handler-case (live-lisp:call-tool :divide :n 6 :by 0 :on-error "hold") (live-lisp:tool-error (e) (princ-to-string e)))',
  );
  const [, number] = /Held as error (\d+)/.exec(text) ?? [];
  expect(await session.text('debug', { error: Number(number), restart: 'continue' })).toBe('(:SKIPPED)');
});

test('a parameter of that name with another meaning is left to the tool', async () => {
  expect(await session.text('own', { on_error: 'hold', restarts: 3 })).toBe('Tool error: hold 3');
});
