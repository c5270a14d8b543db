// The thread that stands ready for the next call: it serves one, as a thread that is made for it would, and is nobody's.

import { expect, test } from 'vitest';
import { sharedSession } from '../shared.ts';

const SETUP = `
  (defvar *threads* '())
  (defvar *special* :before)
  (sb-ext:defglobal **global** :before)
  (defun named-spare-p (thread) (equal (sb-thread:thread-name thread) "live-lisp spare"))
  ;; One is made after another call.
  (defun spare () (loop (sleep 0.001)
    (let ((spare (find-if #'named-spare-p (sb-thread:list-all-threads)))) (when spare (return spare)))))
  ;; SB-THREAD:INTERRUPT-THREAD leaves it alone.
  (defun interrupt-spare (spare function)
    (sb-thread::%interrupt-thread spare function)
    :interrupted)`;

const session = sharedSession({}, SETUP);

/** Evaluates FORM, which calls SPARE, while another call comes and goes. */
async function evalConcurrently(form: string): Promise<string> {
  const [text] = await Promise.all([session.eval(form), session.eval('1')]);
  return text;
}

test('each call has a thread of its own, named after what it does', async () => {
  const form = `(progn (push sb-thread:*current-thread* *threads*)
    (list (length (remove-duplicates *threads*)) (sb-thread:thread-name sb-thread:*current-thread*)))`;
  for (let call = 1; call <= 5; call++) {
    expect(await session.eval(form)).toBe(`(${call} "live-lisp evaluate")`);
  }
});

test('it has what was set since it began to wait, and nothing of the call before', async () => {
  await session.eval(
    '(setf *special* :after **global** :after) (sb-int:set-floating-point-modes :traps nil) (throw-nobody)',
  );
  expect(
    await session.eval('(list *special* **global** (null (getf (sb-int:get-floating-point-modes) :traps)))'),
  ).toBe('(:AFTER :AFTER NIL)');
});

test('it takes no notice of being ended or interrupted', async () => {
  const form = `(let ((spare (spare)))
    (sb-thread:terminate-thread spare)
    (sb-thread:interrupt-thread spare (lambda () (loop)))
    (sleep 0.2)
    (sb-thread:thread-alive-p spare))`;
  expect(await evalConcurrently(form)).toBe('T');
  expect(await session.eval('(+ 1 2)')).toBe('3');
});

test('when it has ended all the same, the next call gets another thread', async () => {
  const ended =
    "(let ((spare (spare))) (interrupt-spare spare #'sb-thread:abort-thread) (loop while (sb-thread:thread-alive-p spare) do (sleep 0.001)))";
  expect(await evalConcurrently(ended)).toBe('NIL');
  expect(await session.eval('(+ 1 2)')).toBe('3');
});

test.each([0, 0.1])(
  'a call is answered when the thread ends %d s after it was handed over',
  async (seconds) => {
    const interrupted = await evalConcurrently(`(interrupt-spare (spare) (lambda ()
    (loop while (named-spare-p sb-thread:*current-thread*) do (sleep 0.001))
    (sleep ${seconds})
    (sb-thread:abort-thread)))`);
    expect(interrupted).toBe(':INTERRUPTED');
    expect(await session.eval('(+ 1 2)')).toBe('3');
  },
);
