// S3.11 and C31: the index tells nothing that has changed, and says what it cannot know.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedFixture } from '../oracle.ts';
import { sharedFolder } from '../shared.ts';

const folder = sharedFolder();
const fixture = sharedFixture();
const { session } = fixture;

/** Evaluates FORMS, which must work. */
async function run(...forms: string[]): Promise<void> {
  for (const form of forms) {
    const { text, isError } = await session.call('eval_form', { form });
    expect(isError, text).toBe(false);
  }
}

/** Returns the rows of the answer about NAME, of whatever block, or the whole text when there are none. */
async function rows(name: string): Promise<string[] | string> {
  const text = await session.text('who_calls', { name });
  const found = text.split('\n').filter((line) => line.startsWith('  '));
  return found.length > 0 ? found.map((line) => line.trim()) : text;
}

test('S3.11 each kind of change shows at once', async () => {
  await run('(defpackage :chg (:use :cl))', '(defun chg::f (x) x)');
  const nobody = 'No callers found for CHG::F';
  const steps: [string, string[] | string][] = [
    ['(defun chg::a () (chg::f 1))', ['CHG::A']],
    ["(setf (fdefinition 'chg::b) #'chg::a)", ['CHG::A', 'CHG::B (same function as CHG::A)']],
    ['(defun chg::a () 1)', ['CHG::B']],
    ["(fmakunbound 'chg::b)", nobody],
    ['(defun chg::b () (chg::f 2))', ['CHG::B']],
    ['(trace chg::b)', ['CHG::B']],
    ["(progn (untrace chg::b) (rename-package :chg :changed '(:chg)))", ['CHANGED::B']],
    ["(progn (rename-package :chg :chg) (unintern 'chg::b :chg))", nobody],
    ['(defmethod chg::m ((x string)) (chg::f x))', ['CHG::M']],
    ["(progn (remove-method #'chg::m (first (sb-mop:generic-function-methods #'chg::m))) 1)", nobody],
    ['(deftype chg::ty () (chg::f t))', ['CHG::TY (type expander)']],
    ['(deftype chg::ty () t)', nobody],
    ['(define-compiler-macro chg::a () (chg::f 1))', ['CHG::A (compiler macro)']],
    ["(setf (compiler-macro-function 'chg::a) nil)", nobody],
    ["(setf (get 'chg::g 'later) (compile nil '(sb-int:named-lambda chg::g () (chg::f 1))))", nobody],
    ["(setf (fdefinition 'chg::g) (get 'chg::g 'later))", ['CHG::G']],
    ["(fmakunbound 'chg::g)", nobody],
    ['(defvar chg::*v* (chg::f 1))', ['CHG::*V* (initial value)']],
    ['(defvar chg::*v* 2)', nobody],
    ['(defclass chg::c () ((x :initform (chg::f 1))))', ['CHG::C (slot initform)']],
    ['(defclass chg::c () ((x :initform 1)))', nobody],
    [
      '(define-condition chg::e (error) () (:report (lambda (c s) (chg::f (list c s)))))',
      ['CHG::E (condition report)'],
    ],
    ['(define-condition chg::e (error) () (:report "e"))', nobody],
    ['(chg::f (chg::f 1))', nobody],
    ['(let ((x (chg::f 1))) (list x x))', nobody],
  ];
  for (const [form, expected] of steps) {
    await run(form);
    expect(await rows('chg::f'), form).toEqual(expected);
  }
  // The compiler takes this call away.
  await run('(defun chg::d () (if nil (chg::f 1) 2))');
  expect(await session.text('who_calls', { name: 'chg::f' })).toBe('Possible callers:\n\n  CHG::D');
});

test('S3.11 S3.9 many more callers than the index was made with are told, in order', async () => {
  await run('(defpackage :grow (:use :cl))', '(defun grow::f (x) x)', '(defun grow::one () (grow::f 1))');
  expect(await rows('grow::f')).toEqual(['GROW::ONE']);
  const named = '(intern (format nil "A~4,\'0D" (- 6000 i)) :grow)';
  await run(`(dotimes (i 6000) (setf (fdefinition ${named}) #'grow::one))`);
  const page = (offset: number) => session.text('who_calls', { name: 'grow::f', offset, limit: 2 });
  const same = '(same function as GROW::ONE)';
  expect(await page(0)).toContain(`  GROW::A0001 ${same}\n  GROW::A0002 ${same}\n  ...\nNote: 6001 callers`);
  expect(await page(5999)).toContain(`  GROW::A6000 ${same}\n  GROW::ONE`);
  await run('(defun grow::one () 1)');
  expect(await page(0)).toContain('Note: 6000 callers');
});

/** Values that keep a function which calls KEPT, as forms. */
const KEEPING = [
  '(list (let ((z (list 1))) (lambda () (kept z))))',
  '(let ((table (make-hash-table))) (setf (gethash 1 table) (lambda (x) (kept x))) table)',
  '(make-keeper :of (lambda () (kept 3)))',
];

test.each(KEEPING)(
  'S3.11 a function without a name is told as long as something keeps it: %s',
  async (form) => {
    await run('(defun kept (x) x)', '(defvar *kept* nil)', '(defstruct keeper of)');
    // What goes leaves its place to the next, whether it was told before or not.
    for (const [next, asked] of [
      ['nil', true],
      ['(lambda (x) (list x))', true],
      ['nil', false],
    ] as const) {
      // The last three values are kept too.
      await run(`(setf *kept* ${form})`, '1', '2', '3');
      if (asked)
        expect(await rows('kept')).toEqual([expect.stringMatching(/^\(LAMBDA .* \(anonymous function\)$/)]);
      await run(`(setf *kept* ${next})`, '1', '2', '3');
      expect(await rows('kept'), next).toBe('No callers found for COMMON-LISP-USER::KEPT');
    }
  },
);

test('S3.8 S3.11 a form that has run calls nothing any more, whatever functions it made for that', async () => {
  await run('(defun passing (&rest x) x)');
  const forms = [
    '(let ((x (passing 1))) (list x x))',
    "(mapcar (lambda (y) (passing y) 1) '(1 2 3))",
    "(let ((k (list 1))) (mapcar (lambda (y) (passing k y) 1) '(1 2 3)))",
    '(let ((k 0)) (flet ((g () (incf k) (passing k))) (mapc (lambda (x) x (g)) (list 1 2)) k))',
    "(progn (sb-ext:gc) (mapc (lambda (y) (passing y) (sb-ext:gc)) '(1 2)) 1)",
    '(let* ((s (list 1)) (g (lambda () (passing s) 1))) (sb-thread:join-thread (sb-thread:make-thread g)))',
  ];
  for (const form of [...forms, ...forms]) {
    await run(form, '1', '2', '3');
    expect(await rows('passing'), form).toBe('No callers found for COMMON-LISP-USER::PASSING');
  }
});

test('S3.8 S3.11 a form that has run is not told when a function with a name stays of it', async () => {
  await run('(defun around (x) x)', '(let ((y (around 1))) (defun stays () y))', '1', '2', '3');
  // Before 2.4.7, what the form calls stands among the constants of the code that it shares with the function.
  expect(await session.text('who_calls', { name: 'around' })).toMatch(
    /^(?:Possible callers:\n\n {2}COMMON-LISP-USER::STAYS|No callers found for COMMON-LISP-USER::AROUND)$/,
  );
  await run('(let ((z (around 1))) (defun stays () z) (setf *kept* (lambda () (around z))))', '1', '2', '3');
  expect(await session.text('who_calls', { name: 'around' })).toContain(
    '  (LAMBDA NIL (COMMON-LISP-USER::AROUND COMMON-LISP-USER::Z)) (anonymous function)',
  );
});

test('S3.17 a form that still runs is told until it has run', async () => {
  await run('(defvar *go-on* t)', '(defvar *goes-on* nil)', '(defun going-on (x) (setf *goes-on* x))');
  const form = '(let ((x (list 1))) (loop while *go-on* do (going-on x) (sleep 0.01)))';
  await run(`(defvar *thread* (sb-thread:make-thread (lambda () (eval '${form}))))`);
  await run('(loop until *goes-on* do (sleep 0.01))');
  const reported = 'Other places that call COMMON-LISP-USER::GOING-ON:\n\n  (LAMBDA NIL (LET ';
  expect(await session.text('who_calls', { name: 'going-on' })).toContain(reported);
  await run('(setf *go-on* nil)', '(progn (sb-thread:join-thread *thread*) 1)');
  expect(await session.text('who_calls', { name: 'going-on' })).not.toContain(reported);
});

test('S3.11 what a file did goes when it is loaded again, and follows its text', async () => {
  const file = join(folder.path, 'again.lisp');
  const load = async (...lines: string[]) => {
    writeFileSync(file, ['(in-package :cl-user)', '(defun once (x) x)', ...lines, ''].join('\n'));
    expect(await session.eval(`(load (compile-file ${JSON.stringify(file)}))`)).toMatch(/^T/);
  };
  await load('(defvar *first* (once 1))', '(print (once 2))', '(defun calls-once () (once 3))');
  expect(await rows('once')).toEqual([
    'COMMON-LISP-USER::CALLS-ONCE',
    'COMMON-LISP-USER::*FIRST* (initial value)',
    `top-level form at ${file}:4`,
  ]);
  await load('(defun calls-once () 3)', '(defparameter *second* (list (once 2)))');
  expect(await rows('once')).toEqual(['COMMON-LISP-USER::*SECOND* (initial value)']);
  writeFileSync(file, '(in-package :cl-user)\n');
  expect(await rows('once')).toEqual([`top-level form of ${file}`]);
});

test('C31 code that an interpreter ran is told as unknown', async () => {
  await run('(defun unseen (x) x)');
  expect(await rows('unseen')).toBe('No callers found for COMMON-LISP-USER::UNSEEN');
  await run("(let ((sb-ext:*evaluator-mode* :interpret)) (eval '(defun interpreted (x) (unseen x))))");
  expect(await rows('unseen')).toBe(
    'No callers found for COMMON-LISP-USER::UNSEEN\nNote: callers in interpreted code of this image are unknown.',
  );
});
