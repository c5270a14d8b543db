// What tests run: the lines that never did, which tests reach a definition, and that nothing of the measuring stays.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ReachedDefinitions } from '../../src/tools/tests/reached.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { write } from './workspaces.ts';

libraries('rt');

const PROGRAM = `(defpackage bank (:use cl) (:export #:deposit #:account #:kind #:fee))
(in-package bank)
(defvar *log* '())
(defstruct account (balance 0))
(declaim (inline cents))
(defun cents (amount)
  "Make cents of AMOUNT."
  (if (minusp amount)
      (error "Negative: ~D" amount)
      (* 100 amount)))
(defmacro define-rate (name rate)
  \`(progn
     (push ',name *log*)
     (defun ,name (amount) (* amount ,rate))))
(define-rate fee 2)
(define-rate bonus 3)
(defun deposit (account amount)
  (declare (type account account))
  (cond ((zerop amount) :nothing)
        ((> amount 1000)
         (push amount *log*)
         :much)
        (t (mapc (lambda (part) (when (eql part :no) (print part))) (list 1 2))
           (incf (account-balance account) (cents amount)))))
(defgeneric kind (thing)
  (:method ((thing integer)) (if (evenp thing) :even :odd)))
(defmethod kind ((thing string))
  (concatenate 'string "text "
               thing))
(defmethod kind :around (thing)
  (call-next-method))
(defun (setf owner) (name account)
  (push (list name account) *log*))
(eval-when (:compile-toplevel :load-toplevel :execute)
  (incf (get :bank :evaluated 0))
  (defun rest-of (list)
    (if list
        (cdr list)
        (error "Nothing.")))
  (defun first-of (list) (car list)))
(let ((count 0))
  (defun counted () (incf count)))
(defun waits () (loop (sleep 0.05)))
(defun ends () (sb-ext:exit :code 3 :abort t))
(defun rank (n) (cond ((= n 1) :one) ((= n 2) :two) (t :other)))
(defun atoms (n list)
  (list (or (oddp n) n) (and (evenp n) n)
        (when (evenp n) n)
        (unless (oddp n)
          :even)
        (if (oddp n) 1 n)
        (case n (1 n) (2 :two))
        (and (plusp n) n)
        (loop for each in list when (evenp each) collect each else sum each into total
              finally (return (list total)))
        (loop for each in list when (and (oddp each) each) collect it)
        (loop for collect in list when (evenp collect) collect collect)))
`;

const CHECKS = `(defpackage checks (:use cl sb-rt bank))
(in-package checks)
(defun new () (make-account-of 0))
(defun make-account-of (n) (bank::make-account :balance n))
(deftest deposits (list (deposit (new) 2) (bank::rank 2)) (200 :two))
(deftest zero (deposit (new) 0) :nothing)
(deftest kinds (kind 2) :even)
(deftest rests (bank::rest-of '(1 2)) (2))
(deftest atoms (length (bank::atoms 1 '(1))) 10)
(deftest fees (list (fee 2) (integerp (bank::counted))) (4 t))
`;

const SYSTEMS = `(defsystem "bank" :components ((:module "code" :pathname "" :components ((:file "bank")))) :in-order-to ((test-op (test-op "bank/checks"))))
(defsystem "bank/checks" :depends-on ("bank" "sb-rt") :components ((:file "checks"))
  :perform (test-op (operation system) (uiop:symbol-call :sb-rt :do-tests)))
`;

const root = sharedFolder();
beforeAll(() => {
  write(root.path, { 'bank.asd': SYSTEMS, 'bank.lisp': PROGRAM, 'checks.lisp': CHECKS });
});
const session = sharedSession({ args: ['--root', root.path] });

async function run(args: Record<string, unknown>): Promise<string> {
  const { text } = await session.call('run_tests', args);
  return text.replace(/\d+\.\d s\)/g, 'N s)');
}

/** Remembers in the image what all names of the program stand for. */
const REMEMBER = `(defun cl-user::all-of-bank ()
  (loop for name being each present-symbol of :bank
        for function = (and (fboundp name) (not (macro-function name)) (fdefinition name))
        when function
          collect (list* (sb-kernel:%coerce-name-to-fun name) function
                         (and (typep function 'generic-function)
                              (sort (copy-list (sb-mop:generic-function-methods function)) #'<
                                    :key #'sb-kernel:get-lisp-obj-address)))))
(sb-ext:gc)
(defvar cl-user::*before* (cl-user::all-of-bank))`;
const SAME = `(let ((now (cl-user::all-of-bank)))
  (and (> (length now) 8)
       (every (lambda (one other) (and (eql (length one) (length other)) (subsetp one other) (subsetp other one)))
              cl-user::*before* now)
       (zerop (hash-table-count (first sb-c::*code-coverage-info*)))
       (null live-lisp.tests::**covering**)))`;

test('the lines that never ran are told, of functions, methods and what macros define', async () => {
  await run({ system: 'bank' });
  await session.eval(REMEMBER);
  expect(await run({ system: 'bank', coverage: true })).toBe(
    [
      'bank: 6 tests pass (N s).',
      '',
      'Coverage: 8 of 14 definitions ran, 2 of them wholly.',
      '  CENTS bank.lisp:6: never 9',
      '  DEPOSIT bank.lisp:17: never 21-22, 23 (print part)',
      '  KIND bank.lisp:26: never 26 :odd',
      '  REST-OF bank.lisp:36: never 39',
      '  RANK bank.lisp:45: never 45 :one, 45 :other',
      '  ATOMS bank.lisp:46: never 47 n, 47 n, 48 n, 50, 51 n, 52 :two, 54 each',
      'Never ran: BONUS bank.lisp:16, KIND bank.lisp:27, (SETF OWNER) bank.lisp:32, FIRST-OF bank.lisp:40, WAITS bank.lisp:43, ENDS bank.lisp:44',
      'Definitions not measured: 1.',
    ].join('\n'),
  );
});

test('nothing of it stays: each name has the very function and methods that it had', async () => {
  expect(await session.eval(SAME)).toBe('T');
  // Once when it was compiled, and once when it was loaded.
  expect(await session.eval('(get :bank :evaluated)')).toBe('2');
  expect(await session.text('compare_image', {})).not.toMatch(/bank\.lisp/);
});

test('only the tests run that reach a definition', async () => {
  expect(await run({ touching: 'bank:kind' })).toBe('Tests that reach BANK::KIND: 1 test passes (N s).');
  expect(await run({ touching: 'cents' })).toBe('Tests that reach BANK::CENTS: 1 test passes (N s).');
  expect(await run({ touching: 'bank::bonus' })).toBe(
    'No test reached BANK::BONUS when coverage was last recorded, so nothing ran. If tests were added since, call run_tests with coverage: true first.',
  );
  expect(await run({ touching: 'bank:deposits' })).toBe(
    'No run with coverage measured bank:deposits. Similar names: BANK::DEPOSIT. If it is new, run with coverage again.',
  );
  expect(await run({ touching: 'cents', failed: true })).toBe(
    'Give only one of failed and touching; nothing was done.',
  );
  const { text } = await session.call('impact_of_change', { name: 'bank::fee' });
  expect(text).toContain(
    "Tests that reached it in a run with coverage (1): CHECKS::FEES. To run them, use parameter 'touching' of run_tests.",
  );
  expect((await session.call('impact_of_change', { name: 'bank::bonus' })).text).toContain(
    'No test reached it in the last run with coverage.',
  );
});

test('tests run too that reached what has changed since, and those without a record are told', async () => {
  write(root.path, {
    'bank.lisp': PROGRAM.replace('(cdr list)', '(progn (kind 1) (cdr list))'),
    'checks.lisp': `${CHECKS}(deftest late (kind 3) :odd)\n`,
  });
  expect(await run({ touching: 'bank:kind' })).toBe(
    [
      'Tests that reach BANK::KIND: 2 tests pass (N s).',
      'Also ran, because code that they reached has changed: RESTS',
      '1 test has not run with coverage: LATE',
    ].join('\n'),
  );
  expect(await run({ touching: 'bank::waits' })).toBe(
    [
      'Tests that reach BANK::WAITS: 1 test passes (N s).',
      'Also ran, because code that they reached has changed: RESTS',
      '1 test has not run with coverage: LATE',
    ].join('\n'),
  );
  write(root.path, { 'bank.lisp': PROGRAM, 'checks.lisp': CHECKS });
  expect(await run({ touching: 'bank::waits' })).toBe(
    [
      'No test reached BANK::WAITS when coverage was last recorded, so nothing ran. If tests were added since, call run_tests with coverage: true first.',
      '1 test has not run with coverage: LATE',
    ].join('\n'),
  );
  await session.eval('(sb-rt:rem-test (quote checks::late))');
  await run({ system: 'bank' });
});

test('tests that reached a definition and do not exist any more are named', async () => {
  await session.eval('(sb-rt:rem-test (quote checks::fees))');
  expect(await run({ touching: 'bank:fee' })).toBe(
    'The tests that reached BANK::FEE when coverage was last recorded no longer exist: CHECKS::FEES. Nothing ran. If tests were added since, call run_tests with coverage: true first.',
  );
  await session.text('load_file', { path: 'checks.lisp' });
});

test('a single run is measured alone, and two do not measure at once', async () => {
  expect(await run({ test: 'fees', coverage: true })).toContain('Coverage: 1 of ');
  write(root.path, {
    'checks.lisp': `${CHECKS}(deftest nested (live-lisp:call-tool "run_tests" :test "fees" :coverage t) 1)\n`,
  });
  const nested = await run({ test: 'nested', coverage: true });
  expect(nested).toContain('Coverage cannot be measured while another run measures it.');
  write(root.path, { 'checks.lisp': CHECKS });
  await run({ system: 'bank' });
});

test('without the library of SBCL nothing runs, and it is said how to go on', async () => {
  await session.eval('(defvar cl-user::*reader* (fdefinition (quote sb-cover:get-coverage)))');
  await session.eval("(sb-ext:without-package-locks (fmakunbound 'sb-cover:get-coverage))");
  expect(await run({ test: 'fees', coverage: true })).toBe(
    'Coverage cannot be measured: this SBCL comes without its library sb-cover. Install that, or run without coverage. Nothing ran.',
  );
  await session.eval(
    '(sb-ext:without-package-locks (setf (fdefinition (quote sb-cover:get-coverage)) cl-user::*reader*))',
  );
});

test('a name of several definitions finds none', () => {
  const reached = new ReachedDefinitions();
  const definitions = ['A::F', 'B::F', '(SETF A::F)'].map((name) => ({ name, file: 'a.lisp', text: '' }));
  reached.keep(definitions, [{ framework: 'rt', test: 'one', reached: '6' }]);
  expect(reached.find('f')).toEqual({ several: ['A::F', 'B::F'] });
  expect(reached.find("#'b:f")).toEqual({ name: 'B::F', tests: ['one'] });
  expect(reached.find('(setf f)')).toEqual({ name: '(SETF A::F)', tests: ['one'] });
  expect(reached.testsOf('A::F')).toEqual([]);
});

test('a test calls a function that it puts in place of another, and nothing of it stays', async () => {
  const mocked = (place: string) => `(let ((old #'fee))
  (list (fee 2) (unwind-protect (progn (setf (${place} 'fee) (lambda (amount) (list :mocked (funcall old amount)))) (fee 3))
                  (setf (${place} 'fee) old))
        (fee 4)))`;
  const tests = ['fdefinition', 'symbol-function'].map(
    (place) => `(deftest by-${place} ${mocked(place)} (4 (:mocked 6) 8))\n`,
  );
  write(root.path, { 'checks.lisp': `${CHECKS}${tests.join('')}` });
  await run({ test: 'fees' });
  await session.eval('(setf cl-user::*before* (cl-user::all-of-bank))');
  for (const place of ['fdefinition', 'symbol-function']) {
    const text = await run({ test: `by-${place}`, coverage: true });
    expect(text).toContain(`by-${place}: 1 test passes (N s).\n\nCoverage: 1 of 14 definitions ran`);
    expect(await session.eval(SAME)).toBe('T');
  }
  await session.eval("(sb-rt:rem-test 'checks::by-fdefinition) (sb-rt:rem-test 'checks::by-symbol-function)");
  write(root.path, { 'checks.lisp': CHECKS });
});

test('a run that hangs leaves nothing, and tells what ran', async () => {
  write(root.path, { 'checks.lisp': `${CHECKS}(deftest hangs (bank::waits) 1)\n` });
  await session.text('load_file', { path: 'checks.lisp' });
  await session.eval('(setf cl-user::*before* (cl-user::all-of-bank))');
  // A busy machine too begins the test that hangs within these seconds.
  const text = await run({ test: 'hangs', coverage: true, timeout: 10 });
  expect(text).toContain('did not end: the run was interrupted after');
  expect(text).toContain('Coverage: 1 of ');
  expect(await session.eval(SAME)).toBe('T');
});

test('a run that ends the image tells that with it, and the next image has the program as it was', async () => {
  write(root.path, { 'checks.lisp': `${CHECKS}(deftest ends (bank::ends) 1)\n` });
  const text = await run({ test: 'ends', coverage: true });
  expect(text).toContain('the image was lost: it exited with code 3');
  expect(text).toContain('Coverage is unknown: it was lost with the image.');
  // With isolate others run in the next image: what ran before is not in what is told of those.
  write(root.path, {
    'checks.lisp': `${CHECKS}(deftest ends (bank::ends) 1)\n(deftest later (cents "1") 100)\n`,
  });
  const isolated = await run({ package: 'checks', coverage: true, isolate: true });
  expect(isolated).toMatch(
    /\nThe coverage of these tests was lost with the image, and is not counted: CHECKS::.*, CHECKS::ENDS\.$/,
  );
  await session.eval("(sb-rt:rem-test 'checks::later)");
  write(root.path, { 'checks.lisp': CHECKS });
  await session.eval("(sb-rt:rem-test 'checks::ends)");
  expect(await run({ system: 'bank' })).toMatch(/^bank: \d tests pass/);
  expect(
    await session.eval("(sb-int:encapsulated-p 'bank:deposit 'live-lisp.tests::live-lisp-coverage)"),
  ).toBe('NIL');
  expect(readFileSync(join(root.path, 'bank.lisp'), 'utf8')).toBe(PROGRAM);
});

test('what cannot be measured is counted: forms that only their file lets read, and definitions inside others', async () => {
  write(root.path, {
    'odd.asd': `(defsystem "odd" :depends-on ("sb-rt") :components ((:file "odd"))
  :perform (test-op (operation system) (uiop:symbol-call :sb-rt :do-tests)))
`,
    'odd.lisp': `(defpackage odd (:use :cl)) (in-package :odd)
(defun before () 1)
(eval-when (:compile-toplevel :load-toplevel)
  (setf *readtable* (copy-readtable))
  (set-dispatch-macro-character #\\# #\\! (lambda (stream char number) (declare (ignore stream char number)) 7)))
(defun behind () #!)
(sb-rt:deftest seven (behind) 7)
`,
    'inner.asd': `(defsystem "inner" :depends-on ("sb-rt") :components ((:file "inner"))
  :perform (test-op (operation system) (uiop:symbol-call :sb-rt :do-tests)))
`,
    'inner.lisp': `(defpackage inner (:use :cl)) (in-package :inner)
(eval-when (:compile-toplevel :load-toplevel :execute) (defvar *wanted* t))
(defun plain () 1)
(when *wanted* (defun at-top () 1))
(progn
  (when *wanted* (defun in-progn () 2))
  (when (symbolp '*wanted*) (defun behind-call () 3))
  (prog1 (defun in-prog1 () 4) (let ((x 5)) (defun in-let () x))))
(defmacro define-wanted (name) \`(when *wanted* (defun ,name () 6)))
(define-wanted in-macro)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (when *wanted* (defmethod print-object ((object (eql 'inner)) stream) (write-string "inner" stream)))
  (defun evaluated () 7))
(sb-rt:deftest all
  (list (plain) (at-top) (in-progn) (behind-call) (in-prog1) (in-let) (in-macro) (evaluated))
  (1 1 2 3 4 5 6 7))
`,
  });
  await session.eval('(sb-rt:rem-all-tests)');
  expect(await run({ system: 'odd', coverage: true })).toBe(
    [
      'odd: 1 test passes (N s).',
      '',
      'Coverage: nothing was measured. It is measured only for functions and methods in loaded files of the workspace.',
      'Definitions not measured: 2.',
    ].join('\n'),
  );
  await session.eval('(setf *readtable* (copy-readtable nil))');
  await session.eval('(sb-rt:rem-all-tests)');
  expect(await run({ system: 'inner', coverage: true })).toBe(
    [
      'inner: 1 test passes (N s).',
      '',
      'Coverage: 3 of 3 definitions ran, 3 of them wholly.',
      'Definitions not measured: 6.',
    ].join('\n'),
  );
  await session.eval('(sb-rt:rem-all-tests)');
});

test('a file whose definitions can be loaded only once is tested, and not measured', async () => {
  write(root.path, {
    'once.asd': `(defsystem "once" :depends-on ("sb-rt") :components ((:file "once"))
  :perform (test-op (operation system) (uiop:symbol-call :sb-rt :do-tests)))
`,
    'once.lisp': `(defpackage once (:use :cl)) (in-package :once)
(defun first-load () (load-time-value (if (shiftf (get 'once :loaded) t) (error "Loaded twice.") 1)))
(sb-rt:deftest first-load (first-load) 1)
`,
  });
  expect(await run({ system: 'once', coverage: true })).toBe(
    [
      'once: 1 test passes (N s).',
      '',
      'Coverage: nothing was measured. It is measured only for functions and methods in loaded files of the workspace.',
      'Definitions not measured: 1.',
    ].join('\n'),
  );
  await session.eval('(sb-rt:rem-all-tests)');
});

const MARKS = `(defpackage marks (:use :cl))
(in-package :marks)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (setf *readtable* (copy-readtable nil))
  (set-macro-character #\\[ (lambda (stream char) (declare (ignore char)) (cons 'list (read-delimited-list #\\] stream t))))
  (set-macro-character #\\] (get-macro-character #\\))))
(defun pairs (n) (if (plusp n) (car [n 2]) (cdr [n 4])))
(defun plain (n)
	(if (plusp n) #.(+ 1 2)
      (list "é" n)))
(defun edited (n) (if (plusp n) n (- n)))
(sb-rt:deftest both (list (pairs 1) (plain 1) (edited 1)) (1 3 1))
`;

test('what another reader macro would read than at the load is not measured, and lines are those of now', async () => {
  write(root.path, {
    'marks.asd': `(defsystem "marks" :depends-on ("sb-rt") :components ((:file "marks"))
  :perform (test-op (operation system) (uiop:symbol-call :sb-rt :do-tests)))
`,
    'marks.lisp': MARKS,
  });
  expect(await run({ system: 'marks', coverage: true })).toBe(
    [
      'marks: 1 test passes (N s).',
      '',
      'Coverage: 2 of 2 definitions ran, 0 of them wholly.',
      '  PLAIN marks.lisp:8: never 10',
      '  EDITED marks.lisp:11: never 11 (- n)',
      'Definitions not measured: 1.',
    ].join('\n'),
  );
  const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
  const edited = MARKS.replace('(in-package', '(declaim)\n(in-package').replace('(- n)', '(abs n)');
  await session.eval(`(sb-rt:deftest cl-user::edits
      (with-open-file (out ${quoted(join(root.path, 'marks.lisp'))} :direction :output :if-exists :supersede)
        (write-string ${quoted(edited)} out)
        1)
      1)`);
  expect(await run({ system: 'marks', coverage: true })).toContain(
    [
      'Coverage: 2 of 2 definitions ran, 0 of them wholly.',
      '  PLAIN marks.lisp:9: never 11',
      '  EDITED marks.lisp:12: never 1 part of it as it was loaded',
      'Definitions not measured: 1.',
    ].join('\n'),
  );
});
