// That forgetting removes nothing that other code or living data still needs, and says what that is.

import { describe, expect, test } from 'vitest';
import { forget, load, loaded, put, session, withPackageP } from './package-p.ts';

withPackageP();

/** Something that e.lisp makes, and what of another file needs it. */
interface Scene {
  what: string;
  /** What its names have in common. */
  stem: string;
  made: string;
  /** A form that is true while the image has it. */
  there: string;
  /** How answers name it. */
  item: string;
  /** Uses of it in other.lisp, each with what the answer says of it. */
  needs: [form: string, because: string][];
}

const SCENES: Scene[] = [
  {
    what: 'a variable',
    stem: 'wind',
    made: '(defvar *wind* 1)',
    there: "(and (boundp 'p::*wind*) (eq :special (sb-cltl2:variable-information 'p::*wind*)))",
    item: 'variable P::*WIND*',
    needs: [
      ['(declaim (special *wind*))', 'the form at other.lisp:2:1'],
      ['(setf *wind* 5)', 'the form at other.lisp:2:1'],
      ['(defun wind () *wind*)', 'function P::WIND'],
      [
        '(defmethod print-object :before ((x symbol) (s null)) (print *wind*))',
        'method COMMON-LISP::PRINT-OBJECT :BEFORE (COMMON-LISP::SYMBOL COMMON-LISP::NULL)',
      ],
      ['(defclass sail () ((wind :initform *wind*)))', 'the form at other.lisp:2:1'],
      ["(defun the-wind () (symbol-value '*wind*))", 'function P::THE-WIND'],
    ],
  },
  {
    what: 'a package',
    stem: 'gate',
    made: '(defpackage "GATE" (:use "CL")) (intern "LOW" "GATE")',
    there: '(find-package "GATE")',
    item: 'package GATE',
    needs: [
      ["(defvar *gates* (list 'gate::low))", 'the form at other.lisp:2:1'],
      ['(defvar *low* (list (intern "LOW" "GATE")))', 'the value of P::*LOW*'],
      [
        '(defvar *table* (make-hash-table)) (setf (gethash (intern "LOW" "GATE") *table*) 1)',
        'the value of P::*TABLE*',
      ],
      [
        '(defstruct lock gate) (defvar *lock* (make-lock :gate (vector (intern "LOW" "GATE"))))',
        'the value of P::*LOCK*',
      ],
      ['(defvar *close* (let ((gate (intern "LOW" "GATE"))) (lambda () gate)))', 'the value of P::*CLOSE*'],
      ['(setf (get \'gates :low) (intern "LOW" "GATE"))', 'the property list of P::GATES'],
      ["(defun lowest () '(:gate gate::low))", 'function P::LOWEST'],
      ['(defmethod shut ((gate (eql (intern "LOW" "GATE")))) 1)', 'method P::SHUT ((EQL GATE::LOW))'],
      ['(import (intern "LOW" "GATE"))', 'the import of GATE::LOW in package P'],
      ['(defpackage "USER" (:use "GATE"))', 'package USER'],
      ['(defpackage "OTHER" (:local-nicknames ("G" "GATE")))', 'the local nickname in package OTHER'],
    ],
  },
  {
    what: 'a class',
    stem: 'berth',
    made: '(defclass berth () ((owner :initarg :owner :accessor owner)))',
    there: "(and (find-class 'p::berth nil) (fboundp 'p::owner) (fboundp '(setf p::owner)))",
    item: 'class P::BERTH',
    needs: [
      ["(defvar *berths* (list (make-instance 'berth)))", '1 instance'],
      ["(defun berth-p (x) (typep x 'berth))", 'function P::BERTH-P'],
      ['(defclass dry-berth (berth) ())', 'class P::DRY-BERTH'],
      ['(defmethod area ((berth berth)) 1)', 'method P::AREA (P::BERTH)'],
    ],
  },
  {
    what: 'a structure',
    stem: 'boat',
    made: '(defstruct boat (length 1))',
    there: "(and (find-class 'p::boat nil) (fboundp 'p::make-boat) (fboundp 'p::boat-length))",
    item: 'structure P::BOAT',
    needs: [
      ['(defvar *boat* (make-boat))', '1 instance'],
      ['(defun long-p (boat) (< 9 (boat-length boat)))', 'function P::LONG-P'],
      ['(defstruct (tug (:include boat)) power)', 'class P::TUG'],
    ],
  },
  {
    what: 'a condition',
    stem: 'leak',
    made: '(define-condition leak (error) ((where :initarg :where :reader leak-where)))',
    there: "(and (find-class 'p::leak nil) (fboundp 'p::leak-where))",
    item: 'condition P::LEAK',
    needs: [
      ['(defun safely (f) (handler-case (funcall f) (leak () :leak)))', 'function P::SAFELY'],
      ["(defvar *leak* (make-condition 'leak :where 1))", '1 instance'],
    ],
  },
  {
    what: 'a method combination',
    stem: 'gather',
    made: '(define-method-combination gather :operator list)',
    there: "(gethash 'p::gather sb-pcl::**method-combinations**)",
    item: 'method combination P::GATHER',
    needs: [['(defgeneric all (x) (:method-combination gather))', 'generic function P::ALL']],
  },
];

/** Loads e.lisp with MADE, other.lisp with NEEDS, and e.lisp without MADE. */
async function lose(made: string, ...needs: string[]): Promise<void> {
  await loaded('e.lisp', made);
  await loaded('other.lisp', ...needs);
  put('e.lisp', '');
}

test.each(SCENES)('$what that something needs is left, and one that nothing needs goes', async (scene) => {
  /** Returns TEXT with the names of number N. */
  const of = (text: string, n: number) =>
    text.replace(new RegExp(scene.stem, 'gi'), (found) => `${found}${n}`);
  const rows = scene.needs.map(([form, because], n) => ({
    form: of(form, n),
    item: of(scene.item, n),
    because: of(because, n).replace('other.lisp:2:', `other.lisp:${n + 2}:`),
  }));
  const made = Array.from({ length: rows.length + 1 }, (_, n) => of(scene.made, n));
  await lose(made.join(' '), ...rows.map(({ form }) => form));
  const listed = await load('e.lisp');
  for (const { item, because } of rows.slice(0, 5)) {
    // Whether a package is empty then is only known when its symbols are gone.
    if (scene.what !== 'a package')
      expect(listed).toContain(`It would leave ${item}, because of ${because}.`);
  }
  const removed = `Removed, because no longer in the file: ${of(scene.item, rows.length)}.`;
  const left = leaves(rows.map(({ item, because }) => [item, because] as const)).split('\n');
  const answer = await load('e.lisp', { forget: true });
  expect(answer.split('\n').sort()).toEqual([...left, removed].sort());
  const there = made.map((_, n) => `(and ${of(scene.there, n)} t)`);
  expect(await session.eval(`(list ${there.join(' ')})`)).toBe(`(${'T '.repeat(rows.length)}NIL)`);
});

test('a variable that a form evaluated since uses is left', async () => {
  await lose('(defvar *wind* 1)');
  await session.eval('(defun p::wind () p::*wind*)');
  await session.eval('(defclass p::sail () ((wind :initform p::*wind*)))');
  expect(await forget('e.lisp')).toBe(
    'Loaded e.lisp\n\nNot removed: variable P::*WIND*, because of function P::WIND, the evaluated definition of P::SAIL.',
  );
});

test('a variable is removed with the instances in it, and with the functions that use it', async () => {
  await lose("(defclass berth () ()) (defvar *berth* (make-instance 'berth)) (defun berth () *berth*)");
  expect(await forget('e.lisp')).toBe(
    'Loaded e.lisp\n\nRemoved, because no longer in the file: function P::BERTH; variable P::*BERTH*; class P::BERTH.',
  );
});

test('what was compiled into other code is removed, and the code is named', async () => {
  await lose(
    '(define-compiler-macro tax (x) `(* 2 ,x)) (defmacro toll (x) `(* 3 ,x)) (defconstant +fee+ 4)',
    '(defun tax (x) (* 5 x)) (defun bill () (list (tax 1) (toll 1) +fee+))',
  );
  expect(await forget('e.lisp')).toBe(
    `Loaded e.lisp

Removed, because no longer in the file: compiler macro P::TAX; constant P::+FEE+; macro P::TOLL.
Compiled with P::+FEE+, which the image no longer has: P::BILL. Change this code, or define P::+FEE+ again.
Compiled before the definition P::TAX changed: P::BILL. Load it again.
Compiled with P::TOLL, which the image no longer has: P::BILL. Change this code, or define P::TOLL again.`,
  );
  expect(await session.eval('(p::bill)')).toBe('(2 3 4)');
});

test('a function that other code uses is removed, and its users are named', async () => {
  await lose(
    '(defun fee (x) x) (defun own (x) (fee x)) (defun unused ()) (defgeneric area (x))',
    "(defun total (x) (fee x)) (defvar *fee* (fee 1)) (defun all () (mapcar #'area (list 1)))",
  );
  await session.eval('(defmethod p::due ((x integer)) (p::fee x))');
  expect(await forget('e.lisp')).toBe(
    `Loaded e.lisp

Removed, because no longer in the file: functions P::FEE, P::OWN, P::UNUSED; generic function P::AREA.
Removed, but still used: function P::FEE, by method P::DUE (COMMON-LISP::INTEGER), function P::TOTAL, the form at other.lisp:2:27; generic function P::AREA, by function P::ALL. Change the users, or define again what they use.`,
  );
});

test('what only names a removed function in data is told apart from its users', async () => {
  await lose(
    '(defun fee () 1)',
    "(defun names () '(fee)) (defvar *names* '(fee 1)) (defun all () (mapcar 'fee '(1)))",
  );
  expect(await forget('e.lisp')).toBe(
    `Loaded e.lisp

Removed, because no longer in the file: function P::FEE.
Removed, but still used: function P::FEE, by function P::ALL. Change the users, or define again what they use.
Removed, but still named in data: function P::FEE, in function P::NAMES, the form at other.lisp:2:25. Code that calls such a name would fail.`,
  );
});

test('of many users of a removed function, ten are named', async () => {
  await lose('(defun fee () 1)', ...Array.from({ length: 12 }, (_, n) => `(defun user-${n + 10} () (fee))`));
  expect(await forget('e.lisp')).toMatch(
    /function P::FEE, by (?:function P::USER-\d+, ){9}function P::USER-\d+ and 2 more\. Change/,
  );
});

test('a package is not removed while the session is in it', async () => {
  await lose('(defpackage "GATE" (:use "CL"))');
  await session.eval('(in-package "GATE")');
  expect(await forget('e.lisp')).toBe(
    'Loaded e.lisp\n\nNot removed: package GATE, because of the session, whose current package it is.',
  );
});

test('a package is not removed when there is too much data to search', async () => {
  await lose('(defpackage "GATE" (:use "CL")) (intern "LOW" "GATE")', '(defvar *much* (make-list 600000))');
  expect(await forget('e.lisp')).toBe(
    'Loaded e.lisp\n\nNot removed: package GATE, because of values of variables, which are too large to search.',
  );
});

/** Returns TEXT with NAME, in either case, as that of number N. */
function numbered(text: string, name: string, n: number): string {
  return text.replace(new RegExp(`(?<![-\\w])${name}(?![-\\w])`, 'gi'), (found) => `${found}${n}`);
}

/** Returns what forgetting answers that leaves each of ITEMS because of what its second member says. */
function leaves(items: readonly (readonly [item: string, because: string])[]): string {
  const lines = items.map(([item, because]) => `Not removed: ${item}, because of ${because}.`);
  return ['Loaded e.lisp', '', ...lines].join('\n');
}

describe('a variable that an evaluated form declared or set', () => {
  /** Evaluates each of FORMS, about a variable of its own that e.lisp then has no more. Returns what forgetting says. */
  async function evaluated(forms: readonly string[]): Promise<string> {
    const made = forms.map((_, n) => `(defvar *wind${n}* 1)`);
    await loaded('e.lisp', ...made);
    for (const [n, form] of forms.entries())
      await session.call('eval_form', { form: numbered(form, 'wind', n), package: 'p' });
    const values = `(list ${forms.map((_, n) => `(ignore-errors (symbol-value 'p::*wind${n}*))`).join(' ')})`;
    const before = await session.eval(values);
    // This loads its file again, which makes other definitions.
    await lose(made.join(' '));
    const answer = await forget('e.lisp');
    if (answer.includes('Not removed')) expect(await session.eval(values)).toBe(before);
    return answer;
  }

  test('stays', async () => {
    const forms = [
      '(declaim (special *wind*))',
      "(proclaim '(special *wind*))",
      '(setf *wind* 5)',
      "(setf (symbol-value '*wind*) 5)",
      "(set '*wind* 5)",
      '(progn (setq *other* 1 *wind* 5))',
      '(multiple-value-setq (*other* *wind*) (floor 7 2))',
      '(incf *wind*)',
      '(let ((wind 5)) (when wind (setf *wind* wind)))',
    ];
    expect(await evaluated(forms)).toBe(
      leaves(
        forms.map((form, n) => [`variable P::*WIND${n}*`, `the evaluated form ${numbered(form, 'wind', n)}`]),
      ),
    );
  });

  test('goes after one that only uses it', async () => {
    put('sets.lisp', '(print 1)');
    const forms = [
      '(print *wind*)',
      '(let* ((a 1) (*wind* a)) (setf *wind* 6) (incf *wind*))',
      '(multiple-value-bind (*wind*) (floor 7 2) (setf *wind* 6))',
      "(setf (get '*wind* :speed) 5)",
      "(list '(setf *wind* 5))",
      '(declaim (type integer *wind*))',
      "(progn (setf *wind* 5) (makunbound '*wind*))",
      '(load "sets.lisp")',
    ];
    expect(await evaluated(forms)).toBe(
      `Loaded e.lisp\n\nRemoved, because no longer in the file: variables ${forms.map((_, n) => `P::*WIND${n}*`).join(', ')}.`,
    );
  });
});

describe('what another file makes only where the image does not have it', () => {
  test('stays', async () => {
    await loaded(
      'once.lisp',
      "(defmacro define-once (name &rest rest) `(unless (fboundp ',name) (defun ,name ,@rest)))",
      '(defmacro define-unless-tested (&rest rest) `(define-once ,@rest))',
    );
    const rows = [
      ['(defun moor () 1)', "(unless (fboundp 'moor) (defun moor () 2))", 'function P::MOOR'],
      [
        '(defun moor () 1)',
        "(eval-when (:execute :load-toplevel) (unless (fboundp 'p::moor) (defun p::moor ())))",
        'function P::MOOR',
      ],
      ['(defun moor () 1)', "(unless (fboundp 'moor) (setf (fdefinition 'moor) #'car))", 'function P::MOOR'],
      ['(defun moor () 1)', '(define-once moor () 2)', 'function P::MOOR'],
      ['(defun moor () 1)', '(define-unless-tested moor () 2)', 'function P::MOOR'],
      ['(defmacro moor () 1)', "(unless (macro-function 'moor) (defmacro moor () 2))", 'macro P::MOOR'],
      [
        '(defun (setf moor) (x y) x y)',
        "(unless (fboundp '(setf moor)) (defun (setf moor) (x y) y x))",
        'function (SETF P::MOOR)',
      ],
      ['(defgeneric moor (x))', "(unless (fboundp 'moor) (defgeneric moor (x)))", 'generic function P::MOOR'],
      [
        '(defclass moor () ((at :accessor at)))',
        "(unless (find-class 'moor nil) (defclass moor () ()))",
        'class P::MOOR',
      ],
      ['(defstruct moor at)', "(unless (find-class 'moor nil) (defstruct moor at))", 'structure P::MOOR'],
      ['(defpackage "MOOR")', '(unless (find-package "MOOR") (defpackage "MOOR"))', 'package MOOR'],
    ].map((row, n) => row.map((text) => numbered(text, 'moor', n)));
    await loaded('e.lisp', ...rows.map(([made = '']) => made));
    await loaded('other.lisp', ...rows.map(([, guarded = '']) => guarded));
    put('e.lisp', '');
    const answer = await forget('e.lisp');
    const left = leaves(rows.map(([, , item = ''], n) => [item, `the form at other.lisp:${n + 2}:1`]));
    expect(answer.split('\n').sort()).toEqual(left.split('\n').sort());
  });

  test('but not for another kind under its name, its test, a string, or a symbol of another package', async () => {
    const forms = [
      '(unless nil (defclass moor () ()))',
      "(require :sb-rt) (sb-rt:deftest moor (fboundp 'moor) t)",
      '(print "moor")',
      '(defpackage "Q" (:use "CL")) (in-package "Q") (unless (fboundp \'moor) (defun moor ()))',
    ].map((form, n) => numbered(form, 'moor', n));
    await lose(forms.map((_, n) => `(defun moor${n} () 1)`).join(' '), ...forms);
    expect(await forget('e.lisp')).toContain(
      'Removed, because no longer in the file: functions P::MOOR0, P::MOOR1, P::MOOR2, P::MOOR3.',
    );
  });
});

describe('what an evaluated form makes', () => {
  /** Has e.lisp make a function for each of FORMS, which are evaluated then, and lose it. Returns what forgetting says. */
  async function evaluated(forms: readonly string[]): Promise<string> {
    const made = forms.map((_, n) => `(defun moor${n} () 1)`);
    await loaded('e.lisp', ...made);
    for (const form of forms) await session.call('eval_form', { form, package: 'p' });
    await lose(made.join(' '));
    return forget('e.lisp');
  }

  test('only where the image does not have it stays', async () => {
    const forms = [
      "(unless (fboundp 'moor) (defun moor () 2))",
      "(or (fboundp 'p::moor) (eval '(defun p::moor () 2)))",
      "(unless (fboundp 'moor) (setf (fdefinition 'moor) #'car))",
    ].map((form, n) => numbered(form, 'moor', n));
    expect(await evaluated(forms)).toBe(
      leaves(forms.map((form, n) => [`function P::MOOR${n}`, `the evaluated form ${form}`])),
    );
    expect(await session.eval('(list (p::moor0) (p::moor1) (p::moor2))')).toBe('(1 1 1)');
  });

  test('in any case, or only names, goes', async () => {
    const forms = [
      "(describe 'moor)",
      '(progn (defun moor () 2) (moor))',
      "(let ((list (list 'moor))) (setf (first list) 'moor))",
      '(unless nil (defclass moor () ()))',
    ].map((form, n) => numbered(form, 'moor', n));
    expect(await evaluated(forms)).toContain(
      'Removed, because no longer in the file: functions P::MOOR0, P::MOOR1, P::MOOR2, P::MOOR3.',
    );
  });
});

test('packages that use each other are removed together', async () => {
  await lose('(defpackage "GATE" (:use "CL")) (defpackage "LOCK" (:use "GATE"))');
  expect(await forget('e.lisp')).toBe(
    'Loaded e.lisp\n\nRemoved, because no longer in the file: packages GATE, LOCK.',
  );
});
