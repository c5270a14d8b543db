// What an edit with op replace, a path and a text does: each definition in the text goes to the place of its own.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';

const at = sharedWorkspace();
beforeEach(() => {
  at.human = () => APPROVE;
});

const TEXT = `(in-package :cl-user)

;; Doubles.
(defun rate (x)
  (* 2 x))

(define-compiler-macro rate (&whole form x)
  (declare (ignore x))
  form)

(defmethod show ((x integer)) x) ; as it is
(defmethod show :around ((x integer)) (call-next-method))
#+sbcl
(defvar *sbcl* t)
`;

/** Puts TEXT into a file of its own, edits it with the definitions GIVEN, and returns its text. */
async function edited(given: string): Promise<string> {
  at.put('whole.lisp', TEXT);
  const answer = await at.answer('edit_definitions', {
    edits: [{ path: 'whole.lisp', op: 'replace', text: given }],
  });
  return answer.startsWith('Changed whole.lisp') ? readFileSync(join(at.root, 'whole.lisp'), 'utf8') : answer;
}

test('each replaces the one with its operator, name and specializers', async () => {
  const given = `(defmethod show ((x integer)) (list x))
(defun rate (x)
  (* 3 x))
(defvar *sbcl* nil)`;
  expect(await edited(given)).toBe(
    TEXT.replace('(* 2 x)', '(* 3 x)')
      .replace('((x integer)) x)', '((x integer)) (list x))')
      .replace('*sbcl* t', '*sbcl* nil'),
  );
});

test('a comment above a definition replaces the one that is there', async () => {
  expect(await edited(';; Triples.\n(defun rate (x) (* 3 x))')).toBe(
    TEXT.replace(';; Doubles.\n(defun rate (x)\n  (* 2 x))', ';; Triples.\n(defun rate (x) (* 3 x))'),
  );
});

test('what the file lacks is added at its end, with its comment', async () => {
  const given =
    '(defun rate (x)\n  x)\n\n;; New.\n(defun new () 1)\n(defmethod show ((x string)) x)\n(print 1)';
  expect(await edited(given)).toBe(
    `${TEXT.replace('(* 2 x)', 'x')}\n;; New.\n(defun new () 1)\n\n(defmethod show ((x string)) x)\n\n(print 1)\n`,
  );
});

test.each([
  ['; nothing\n', 'failed: edits[0].text has no form.'],
  ['(defun rate (x)', 'failed: edits[0].text'],
])('%j is refused', async (given, why) => {
  expect((await edited(given)).slice(0, why.length)).toBe(why);
});

test('a definition that the file has twice has to be named by its line', async () => {
  at.put('twice.lisp', '(defun a () 1)\n(defun a () 2)\n');
  const edits = [{ path: 'twice.lisp', op: 'replace', text: '(defun a () 3)' }];
  expect(await at.answer('edit_definitions', { edits })).toBe(
    "failed: edits[0]: twice.lisp has (defun a) at lines 1 and 2. Nothing was changed. To choose one, give 'definition' and 'line'.",
  );
});
