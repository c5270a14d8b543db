// What edit_definitions does with load: true: only the changed forms are compiled, and later answers know where all are.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';
import { LIBRARIES_AS_COMPILED } from '../harness.ts';
import { libraries } from '../libraries.ts';

const CODE = `(defpackage :el (:use :cl))
(in-package :el)

(defvar *loads* 0)
(incf *loads*)

(defmacro twice (form) \`(list ,form ,form))

(defun total (items)
  (reduce #'+ items))

(defun report (items)
  (twice (total items)))

(defclass shape () ((name :accessor shape-name)))

(defun other (items)
  (total items))
`;

/** Has $NAME read as (DOLLARS NAME). */
const DOLLARS = `(in-package :el)
(defun dollar (in char) (declare (ignore char)) (list 'dollars (read in t nil t)))
(defvar *dollars* (let ((table (copy-readtable nil))) (set-macro-character #\\$ #'dollar nil table) table))
`;

libraries('fiveam');

// A test restarts the image of all others, and a busy machine builds that again in more than the usual two minutes.
const at = sharedWorkspace({ args: LIBRARIES_AS_COMPILED, waits: { image: { rebuild: 600_000 } } });
beforeAll(() => {
  at.human = () => APPROVE;
});
beforeEach(async () => {
  at.put('code.lisp', CODE);
  await at.answer('load_file', { path: 'code.lisp' });
  // Removes what the first load has listed.
  await at.answer('load_file', { path: 'code.lisp', forget: true });
});

const AGREE = 'The image and code.lisp agree.';

function edit(...edits: object[]): Promise<string> {
  return at.answer('edit_definitions', { edits, package: 'el', load: true });
}

describe('what was edited', () => {
  test('is compiled alone, and its callers are checked', async () => {
    const loads = await at.answer('eval_form', { form: 'el::*loads*' });
    const answer = await edit(
      { definition: 'total', text: "(defun total (items start)\n  (reduce #'+ items :initial-value strat))" },
      { definition: 'total', op: 'before', text: '(defun added () 1)' },
    );
    expect(answer).toBe(`Changed code.lisp: lines 9, 11-12, +4 −2. It has 10 top-level forms now.

Loaded 2 forms of code.lisp

Warnings (2):
  code.lisp
    WARNING (line 11, DEFUN TOTAL): undefined variable: EL::STRAT
      in (REDUCE (FUNCTION +) EL::ITEMS :INITIAL-VALUE EL::STRAT)
    STYLE-WARNING (line 11, DEFUN TOTAL): The variable START is defined but never used.

Calls that no longer fit EL::TOTAL (2 of 2):
  EL::OTHER  code.lisp:20:3  (total items))  [1 argument, at least 2 needed]
  EL::REPORT  code.lisp:15:10  (twice (total items)))  [1 argument, at least 2 needed]`);
    expect(await at.answer('eval_form', { form: 'el::*loads*' })).toBe(loads);
  });

  test('is found again, and so is all else', async () => {
    const answer = await edit(
      { definition: 'total', op: 'before', text: '(defclass square (shape) ())' },
      { definition: 'shape', text: '(defclass shape ()\n  ((name :accessor shape-name) (n :reader n)))' },
      { definition: 'report', old: '(total items)', new: '(total (list items\n                unknown))' },
    );
    expect(answer).toContain('WARNING (line 14, DEFUN REPORT): undefined variable: EL::UNKNOWN');
    const places = (
      await at.answer('read_definition', { name: 'shape square other total report', package: 'el' })
    )
      .split('\n')
      .filter((line) => line.startsWith('code.lisp'));
    expect(places).toEqual([
      'code.lisp:18-19  EL::SHAPE [CLASS]',
      'code.lisp:9  EL::SQUARE [CLASS]',
      'code.lisp:21-22  EL::OTHER [FUNCTION]',
      'code.lisp:11-12  EL::TOTAL [FUNCTION]',
      'code.lisp:14-16  EL::REPORT [FUNCTION]',
    ]);
    expect(await at.answer('who_calls', { name: 'total', package: 'el', sites: true })).toBe(
      `Functions that call EL::TOTAL:

  EL::OTHER
    code.lisp:22:3  (total items))
  EL::REPORT
    code.lisp:15:10  (twice (total (list items`,
    );
    expect(await at.answer('compare_image', { path: 'code.lisp' })).toBe(AGREE);
  });

  test('and no longer there is told, and who was compiled with an old macro', async () => {
    expect(
      await edit(
        { definition: 'other', op: 'delete' },
        { definition: 'twice', old: 'list', new: 'cons' },
        { definition: '*loads*', old: '0', new: '50' },
      ),
    ).toBe(`Changed code.lisp: lines 4, 7, +2 −5. It has 8 top-level forms now.

Loaded 2 forms of code.lisp

In the image but no longer in code.lisp: function EL::OTHER.
load_file with forget: true removes what its file no longer has.
Not set again, because bound: EL::*LOADS* is ${await at.answer('eval_form', { form: 'el::*loads*' })}, the file says 50.
Compiled before the macro EL::TWICE changed: EL::REPORT. Load it again.`);
    expect(await at.answer('compare_image', { path: 'code.lisp' })).toContain(
      'no longer in code.lisp: function EL::OTHER.',
    );
  });

  test('is told with the uses of which it cannot be told whether they fit', async () => {
    at.put(
      'passed.lisp',
      "(in-package :el)\n(defun passed (x) x)\n(defun uses () (mapcar #'passed (list 1)))\n",
    );
    await at.answer('load_file', { path: 'passed.lisp' });
    expect(await edit({ definition: 'passed', text: '(defun passed (x y) (list x y))' })).toContain(
      '\n\nUses of EL::PASSED that cannot be checked (1):\n  EL::USES  passed.lisp:3:',
    );
  });

  test('in several files is loaded in the order of the edits, up to what fails', async () => {
    at.put('more.lisp', '(in-package :el)\n(defun more () (total nil))\n');
    await at.answer('load_file', { path: 'more.lisp' });
    const answer = await edit(
      { definition: 'more', text: '(eval-when (:load-toplevel) (error "No more."))' },
      { definition: 'report', text: '(defun report () 7)' },
    );
    expect(
      answer
        .split(/\n\n/)
        .filter((part) => !/^(?:Restarts|Frames)/.test(part))
        .join('\n'),
    ).toBe(
      `failed: Changed more.lisp: line 2, +1 −1. It has 2 top-level forms now.
Changed code.lisp: line 12, +1 −2. It has 9 top-level forms now.
Not completely loaded: 1 form of more.lisp. The file was changed.
Error: No more.
Type: COMMON-LISP::SIMPLE-ERROR
Not loaded, because of that: code.lisp.`,
    );
  });

  test('is loaded in the order of its system, with what stands in the way of a generic function taken out', async () => {
    at.put('shapes/shapes.asd', '(defsystem "shapes" :serial t :components ((:file "one") (:file "two")))');
    at.put('shapes/one.lisp', '(in-package :el)\n(defgeneric area (x))\n(defmethod area ((x integer)) 1)\n');
    at.put('shapes/two.lisp', '(in-package :el)\n(defmethod area ((x string)) 2)\n');
    const registered = `(progn (require :asdf) (push #p"${at.root}/shapes/" asdf:*central-registry*))`;
    await at.answer('eval_form', { form: registered });
    await at.answer('load_system', { system: 'shapes' });
    const answer = await edit(
      { path: 'shapes/two.lisp', old: '((x string)) 2', new: '((x string) &key y) y' },
      { path: 'shapes/one.lisp', old: 'area (x))', new: 'area (x &key y))' },
      { path: 'shapes/one.lisp', old: '((x integer)) 1', new: '((x integer) &key y) y' },
    );
    expect(answer).toContain('Loaded 2 forms of shapes/one.lisp\n\nLoaded 1 form of shapes/two.lisp');
    expect(answer).not.toContain('Taken out');
    expect(await at.answer('eval_form', { form: '(list (el::area 1 :y 2) (el::area "a" :y 3))' })).toBe(
      '(2 3)',
    );
    expect(await edit({ path: 'shapes/one.lisp', old: 'area (x &key y))', new: 'area (x y))' })).toContain(
      'Removed from the image, because the lambda list of the generic function changed: method EL::AREA (COMMON-LISP::INTEGER) of shapes/one.lisp; method EL::AREA (COMMON-LISP::STRING) of shapes/two.lisp. Define each with the new arguments.',
    );
  });

  test('is compiled in the package that a form entered in which IN-PACKAGE stands at top level', async () => {
    const head = (count: string) => `(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar cl-user::*times* 0)
  ${count}
  #+sbcl (in-package :el))
`;
    at.put('within.lisp', `${head('(incf cl-user::*times*)')}(defun within () 1)\n`);
    await at.answer('load_file', { path: 'within.lisp' });
    const times = await at.answer('eval_form', { form: 'cl-user::*times*' });
    expect(await edit({ definition: 'el::within', old: '1', new: '(report (list 2))' })).toBe(
      'Changed within.lisp: line 5, +1 −1. It has 2 top-level forms now.\n\nLoaded 1 form of within.lisp',
    );
    expect(await at.answer('eval_form', { form: '(list cl-user::*times* (el::within))' })).toBe(
      `(${times} (2 2))`,
    );
    expect(await at.answer('rename_symbol', { name: 'el::within', to: 'inside' })).toMatch(/^Renamed/);
    expect(await at.answer('eval_form', { form: '(el::inside)' })).toBe('(2 2)');
  });

  test('is written and not loaded where the package is not there yet, and what loads it is said', async () => {
    at.put('later.lisp', '(in-package :el-later)\n(defun later () 1)\n');
    const edits = [
      { definition: 'el-later::later', path: 'later.lisp', old: '1', new: '2' },
      { definition: 'other', op: 'after', text: '(defun besides () 1)' },
    ];
    expect(await edit(...edits)).toBe(`Changed later.lisp: line 2, +1 −1. It has 2 top-level forms now.
Changed code.lisp: line 20, +2 −0. It has 10 top-level forms now.

Note: there is no package EL-LATER in the image, so names in later.lisp were not looked up.

Loaded 1 form of code.lisp

Not loaded: 1 form of later.lisp, because the image has no package EL-LATER. The file was changed. Load what the file needs, then the whole file with load_file.`);
    expect(await at.answer('eval_form', { form: '(el::besides)' })).toBe('1');
    at.put(
      'el-later.asd',
      '(defsystem "el-later/tests" :components ((:file "before") (:module "m" :pathname "" :components ((:file "later")))))\n',
    );
    at.put('before.lisp', '(defpackage :el-later (:use :cl))\n');
    expect(await edit({ definition: 'el-later::later', path: 'later.lisp', old: '2', new: '3' })).toMatch(
      /\n\nNot loaded: 1 form of later\.lisp, because the image has no package EL-LATER\. The file was changed\. load_system with system el-later\/tests loads the file and its dependencies\.$/,
    );
    await at.answer('load_system', { system: 'el-later/tests' });
    expect(await at.answer('eval_form', { form: '(el-later::later)' })).toBe('3');
  });

  test('is compared with the image after all files of the call', async () => {
    at.put('one.lisp', '(in-package :el)\n(defclass moved () (a))\n(defmacro thrice (x) `(list ,x))\n');
    at.put('two.lisp', '(in-package :el)\n(defun user () (thrice 1))\n');
    for (const path of ['one.lisp', 'two.lisp']) await at.answer('load_file', { path });
    expect(
      await edit(
        { path: 'one.lisp', definition: 'moved', op: 'delete' },
        { path: 'one.lisp', definition: 'thrice', text: '(defmacro thrice (x) `(vector ,x))' },
        { path: 'two.lisp', definition: 'user', text: '(defclass moved () (a))\n(defun user () (thrice 2))' },
      ),
    ).toBe(`Changed one.lisp: line 2, +1 −2. It has 2 top-level forms now.
Changed two.lisp: lines 2, 3, +2 −1. It has 3 top-level forms now.

Loaded 1 form of one.lisp

Loaded 2 forms of two.lisp`);
    expect(await at.answer('eval_form', { form: '(el::user)' })).toBe('#(2)');
    expect(
      await edit(
        { path: 'one.lisp', definition: 'thrice', text: '(defmacro thrice (x) `(list* ,x))' },
        { path: 'two.lisp', definition: 'moved', op: 'delete' },
      ),
    ).toMatch(
      /Compiled before the macro EL::THRICE changed: EL::USER\. Load it again\.\n\nIn the image but no longer in two\.lisp: class EL::MOVED\.\n/,
    );
  });

  test('is not told as changed on the disk where only other forms were not loaded', async () => {
    const text =
      '(in-package :el)\n(defun here () 1)\n(defun there () 1)\n(defstruct (box (:conc-name b-)) a)\n';
    at.put('parts.lisp', text);
    await at.answer('load_file', { path: 'parts.lisp' });
    at.put('parts.lisp', text.replace('here () 1', 'here () 2'));
    await edit({ path: 'parts.lisp', definition: 'there', old: '1', new: '2' });
    await edit({ path: 'parts.lisp', definition: 'box', old: 'b-', new: 'box/' });
    expect(await at.answer('compare_image', { path: 'parts.lisp' })).toBe(
      'parts.lisp changed on the disk since it was loaded; load it again. Changed forms:\n  (defun here): differs (parts.lisp:2:1)',
    );
    at.put('parts.lisp', text.replace('here () 1', 'here () 2').replace('there () 1', 'there () 3'));
    expect(await at.answer('compare_image', { path: 'parts.lisp' })).toContain('(defun there): differs');
    await at.answer('load_file', { path: 'parts.lisp' });
    expect(await at.answer('compare_image', { path: 'parts.lisp' })).not.toContain('differs');
  });

  test('is loaded where another edit of the call makes its package', async () => {
    at.put('new.lisp', '(in-package :el-new)\n(defun fresh () 1)\n');
    const made = await edit(
      { path: 'new.lisp', definition: 'el-new::fresh', old: '1', new: '2' },
      { path: 'packages.lisp', text: '(defpackage :el-new (:use :cl) (:export #:fresh))' },
    );
    // What could not be read before the call is not told any more.
    expect(made).toMatch(
      /^Changed .*\nCreated .*\n\nLoaded 1 form of packages\.lisp\n\nLoaded 1 form of new\.lisp$/,
    );
    expect(await at.answer('eval_form', { form: '(el-new:fresh)' })).toBe('2');
  });

  test('is read as its file sets that', async () => {
    const setting =
      "(eval-when (:compile-toplevel :load-toplevel :execute)\n  (setf *readtable* (copy-readtable nil))\n  (set-macro-character #\\$ #'el::dollar))";
    at.put('dollars.lisp', DOLLARS);
    await at.answer('load_file', { path: 'dollars.lisp' });
    at.put('priced.lisp', `(in-package :el)\n${setting}\n(defun price () '$a)\n`);
    await at.answer('load_file', { path: 'priced.lisp' });
    expect(await edit({ definition: 'price', old: '$a', new: '$b' })).toContain(
      'Loaded 1 form of priced.lisp',
    );
    expect(await at.answer('eval_form', { form: '(list (el::price) (quote $a))' })).toBe(
      '((EL::DOLLARS EL::B) $A)',
    );
  });

  test('is refused where a form above says how it is read and does more', async () => {
    at.put('dollars.lisp', DOLLARS);
    await at.answer('load_file', { path: 'dollars.lisp' });
    const setting = '(let ((table *dollars*))\n  (incf *loads*)\n  (setf *readtable* table))';
    const text = `(in-package :el)\n(defun above () 1)\n${setting}\n(defun reads () (setf *readtable* nil))\n(defun price () 1)\n`;
    at.put('mixed.lisp', text);
    await at.answer('load_file', { path: 'mixed.lisp' });
    expect(await edit({ definition: 'price', old: '1', new: "'$b" })).toBe(
      "failed: mixed.lisp cannot be loaded in part: the form at line 3 changes how later forms are read, and also does other things. Nothing was changed. Leave 'load' out, then load the whole file with load_file.",
    );
    expect(await edit({ definition: 'above', old: '1', new: '2' })).toContain('Loaded 1 form of mixed.lisp');
  });

  test('goes to the suite of tests that its file is in', async () => {
    await at.answer('load_system', { system: 'fiveam' });
    const suite = (name: string, each: string) =>
      `(in-package :el-tests)\n(def-suite ${name})\n(in-suite ${name})\n(test ${each} (is (= 1 1)))\n`;
    at.put('first.lisp', `(defpackage :el-tests (:use :cl :fiveam))\n${suite('alpha', 'one')}`);
    at.put('second.lisp', suite('beta', 'two'));
    for (const path of ['first.lisp', 'second.lisp']) await at.answer('load_file', { path });
    await edit({ path: 'first.lisp', text: '(test added (is (= 2 2)))' });
    const ran = '(mapcar (lambda (result) (fiveam::name (fiveam::test-case result))) (fiveam:run suite))';
    const form = `(let ((fiveam:*test-dribble* (make-broadcast-stream)))
      (loop for suite in '(el-tests::alpha el-tests::beta) collect (sort ${ran} #'string<)))`;
    expect(await at.answer('eval_form', { form })).toBe('((EL-TESTS::ADDED EL-TESTS::ONE) (EL-TESTS::TWO))');
  });

  test('is changed in a script too, whose first line names its interpreter', async () => {
    const head = '#!/usr/bin/sbcl --script\n#+sbcl (in-package :el)\n';
    at.put('script.lisp', `${head}(defun hello () 1)\n`);
    await at.answer('load_file', { path: 'script.lisp' });
    expect(await edit({ definition: 'hello', old: '1', new: 'unknown' })).toContain(
      'Loaded 1 form of script.lisp\n\nWarnings (1):\n  script.lisp\n    WARNING (line 3, DEFUN HELLO): undefined variable: EL::UNKNOWN',
    );
    at.put('script.lisp', '#!/usr/bin/sbcl');
    expect(await edit({ path: 'script.lisp', text: '(defun el::hello () 3)' })).toContain('Loaded 1 form');
    expect(await at.answer('eval_form', { form: '(el::hello)' })).toBe('3');
  });

  test('is built again when the image is', async () => {
    at.questions.length = 0;
    await edit({ definition: 'report', text: '(defun report () "built again")' });
    expect(at.questions[0]).toMatch(
      /^Approve edit_definitions \(dangerous\)\? line \d+, \+\d+ \u2212\d+, then load, in\n\u2026 code\.lisp\n/,
    );
    at.human = () => APPROVE;
    expect(await at.answer('restart_image', {})).not.toContain(
      'Files changed or gone since they were loaded',
    );
    expect(await at.answer('eval_form', { form: '(el::report)' })).toBe('"built again"');
    expect(await at.answer('compare_image', { path: 'code.lisp' })).toBe(AGREE);
  });
});
