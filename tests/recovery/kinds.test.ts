// What built the image is there again after a loss, whatever kind it is of; what did not is told.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Session, startSession } from '../harness.ts';
import { definition, namesOf, toolOf, withSession } from '../lisp-tools/sessions.ts';
import { until } from '../server/processes.ts';
import { afterLoss, killImage, sessions } from './losses.ts';

const start = sessions();

/** Forms that build, in the order in which they are evaluated; a form that shows that; and its value. */
const KINDS: [kind: string, forms: string[], shows: string, value: string][] = [
  ['the last of several definitions', ['(defun f () 1)', '(f)', '(defun f () 2)'], '(f)', '2'],
  [
    'what a called function proclaimed',
    ['(defun proclaim-it (name) (proclaim `(inline ,name)))', "(proclaim-it 'short)"],
    "(values (sb-int:info :function :inlinep 'short))",
    'INLINE',
  ],
  ['a macro and its use', ['(defmacro twice (x) `(list ,x ,x))', '(defun g () (twice 3))'], '(g)', '(3 3)'],
  [
    'a setf expander',
    ['(defsetf first-of (l) (v) `(setf (car ,l) ,v))'],
    '(let ((l (list 1))) (setf (first-of l) 2) l)',
    '(2)',
  ],
  [
    'a class redefined',
    ['(defclass k () (a))', '(defclass k () (a (b :initform 2)))'],
    '(slot-value (make-instance (quote k)) (quote b))',
    '2',
  ],
  ['a structure', ['(defstruct point (x 1) y)'], '(point-x (make-point))', '1'],
  ['a constant', ['(defconstant +k+ 12)'], '+k+', '12'],
  ['a closure', ['(let ((count 10)) (defun tick () (incf count)))', '(tick)'], '(tick)', '11'],
  ['a function set', ["(setf (fdefinition 'set-one) (lambda () 3))"], '(set-one)', '3'],
  [
    'documentation',
    ['(defun car-of (x) x)', '(setf (documentation \'car-of \'function) "Yes.")'],
    "(documentation 'car-of 'function)",
    '"Yes."',
  ],
  [
    'a method removed',
    [
      '(defgeneric gm (x))',
      '(defmethod gm ((x integer)) 1)',
      '(defmethod gm ((x t)) 2)',
      "(remove-method #'gm (find-method #'gm '() (list (find-class 'integer))))",
    ],
    '(gm 1)',
    '2',
  ],
  [
    'a package',
    [
      '(defpackage :p1 (:use :cl) (:export "F"))',
      '(in-package :p1)',
      '(defun f () :p1)',
      '(in-package :cl-user)',
      '(defun outside () (p1:f))',
    ],
    '(list (outside) *package*)',
    '(:P1 #<PACKAGE "COMMON-LISP-USER">)',
  ],
  [
    'the current package',
    ['(defpackage :p2 (:use :cl))', '(in-package :p2)'],
    '*package*',
    '#<PACKAGE "P2">',
  ],
  [
    'changes of a package',
    [
      '(defpackage :p3 (:use))',
      '(export (intern "X" :p3) :p3)',
      '(use-package :cl :p3)',
      '(sb-ext:add-package-local-nickname :three :p3)',
    ],
    '(list (nth-value 1 (find-symbol "X" :p3)) (nth-value 1 (find-symbol "CAR" :p3)) (package-name :three))',
    '(:EXTERNAL :INHERITED "P3")',
  ],
  [
    'a symbol uninterned',
    ['(defun odd-one () 1)', "(unintern 'odd-one)"],
    '(values (find-symbol "ODD-ONE"))',
    'NIL',
  ],
  [
    'a reader macro',
    [
      "(set-macro-character #\\! (lambda (s c) (declare (ignore c)) (list 'quote (read s t nil t))))",
      '(defun quoted () !abc)',
    ],
    '(list (quoted) !def)',
    '(ABC DEF)',
  ],
  [
    'a dispatch macro',
    [
      '(set-dispatch-macro-character #\\# #\\? (lambda (s c n) (declare (ignore s c n)) 77))',
      '(defun seven-seven () #?)',
    ],
    '(seven-seven)',
    '77',
  ],
  [
    'a readtable',
    [
      '(defvar *mine* (copy-readtable))',
      '(setf (readtable-case *mine*) :preserve)',
      '(setf *readtable* *mine*)',
      '(DEFUN MixedCase () 1)',
    ],
    '(FBOUNDP (QUOTE MixedCase))',
    '#<FUNCTION MixedCase>',
  ],
  [
    'a readtable that a function changes',
    [
      '(defun enable () (set-macro-character #\\$ (lambda (s c) (declare (ignore s c)) 9)))',
      '(enable)',
      '(defun nine () $)',
    ],
    '(nine)',
    '9',
  ],
  [
    'a policy',
    ['(declaim (optimize (debug 3)))'],
    '(let ((s (with-output-to-string (*standard-output*) (sb-ext:describe-compiler-policy)))) (not (null (search "DEBUG = 3" s))))',
    'T',
  ],
  ['a printer setting', ['(setf *print-base* 16)'], '255', 'FF'],
  [
    'a feature',
    ['(pushnew :mine *features*)', '#+mine (defun with-mine () 1) #-mine (defun without-mine () 1)'],
    "(fboundp 'with-mine)",
    '#<FUNCTION WITH-MINE>',
  ],
];

/** Those that change how forms of the others are read or printed. */
const ALONE = ['the current package', 'a reader macro', 'a readtable', 'a printer setting'];

describe('is there again after one loss:', () => {
  let session: Session;
  let notice = '';
  const together = KINDS.filter(([kind]) => !ALONE.includes(kind));
  beforeAll(async () => {
    session = await startSession();
    for (const [kind, forms] of together) {
      for (const form of forms) expect((await session.call('eval_form', { form })).isError, kind).toBe(false);
    }
    await killImage(session);
    notice = (await session.call('eval_form', { form: '1' })).notices.join('\n');
  });
  afterAll(() => session.close());

  test('nothing fails', () => {
    expect(notice).toMatch(/Rebuilt in \d+\.\d s: \d+ forms\. Variables/);
    expect(notice).not.toContain('Not rebuilt');
    expect(notice).toContain(
      'Not run again: 2 forms in which no definition was seen. What only these forms created is gone.',
    );
  });

  test.each(together)('%s', async (_, __, shows, value) => {
    expect((await session.eval(shows)).replace(/ \{\w+\}/, '')).toBe(value);
  });
});

test.each(KINDS.filter(([kind]) => ALONE.includes(kind)))(
  '%s is there again',
  async (_, forms, shows, value) => {
    const session = await start();
    for (const form of forms) expect((await session.call('eval_form', { form })).isError, form).toBe(false);
    await killImage(session);
    const { text, reported: notice } = await afterLoss(session, shows);
    expect(notice).not.toContain('Not rebuilt');
    expect(text.replace(/ \{\w+\}/, '')).toBe(value);
  },
);

test('tools come back at once, and count as made by an evaluation', async () => {
  await withSession('modern', async ({ session, changes }) => {
    await session.eval(definition('gives_seven', 'seven'));
    await until('the change', 60_000, () => changes() > 0);
    const before = changes();
    await session.eval('(sb-ext:exit :abort t)');
    await until('another change', 60_000, () => changes() > before);
    expect(await session.text('gives_seven')).toBe('seven');
    expect((await toolOf(session, 'gives_seven'))?._meta).toEqual({ 'live-lisp/declaredLevel': 'safe' });
    await killImage(session);
    await until('its return', 60_000, async () => (await namesOf(session)).includes('gives_seven'));
    const { notices } = await session.call('gives_seven');
    expect(notices.join('\n')).toContain('1 form, with 1 tool (gives_seven).');
  });
});

test('a stream that a form has kept goes on to where output goes', async () => {
  const session = await start();
  await session.eval('(defvar *log* *standard-output*) (defun note (x) (format *log* "Noted ~a." x) x)');
  await killImage(session);
  await session.eval('1');
  const { text, notices } = await session.call('eval_form', { form: '(note 1)' });
  expect([text, notices]).toEqual(['1\n\nOutput:\nNoted 1.', []]);
});
