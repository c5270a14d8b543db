// What an evaluation keeps, shows and bounds.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../harness.ts';
import { good } from '../harness.ts';
import { sharedSession } from '../shared.ts';

/** What clients show whole; longer answers are cut or stored away. */
const ANSWER_LIMIT = 50_000;

/** What stands below a circular value. */
const CIRCULAR = '\n[... it is circular, so it is printed with *print-circle* ...]';

const session = sharedSession();

function answer(form: string, more: Record<string, unknown> = {}): Promise<Answer> {
  return session.call('eval_form', { form, ...more });
}

describe('between calls', () => {
  test('* ** *** / // + ++ last, and - is the form', async () => {
    for (const form of ['(values 1 10)', '(values 2 20)', '(values 3 30)']) await answer(form);
    expect(await answer('(list * ** *** / // + ++ -)')).toEqual(
      good('(3 2 1 (3 30) (2 20) (VALUES 3 30) (VALUES 2 20) (LIST * ** *** / // + ++ -))'),
    );
  });

  test('within a call each form has the values of the one before', async () => {
    expect(await answer('(+ 1 1) (* * 3) (list * **)')).toEqual(good('[1] 2\n[2] 6\n[3] (6 2)'));
  });

  test('no values leave * as NIL; an error leaves it as it was', async () => {
    await answer('42');
    await answer('(error "no value")');
    expect(await answer('*')).toEqual(good('42'));
    await answer('(values)');
    expect(await answer('(list * /)')).toEqual(good('(NIL NIL)'));
  });

  test('definitions and values last', async () => {
    await answer('(defvar *n* 1) (defun next-n () (incf *n*)) (defmacro twice (form) `(progn ,form ,form))');
    expect(await answer('(twice (next-n))')).toEqual(good('3'));
    expect(await answer('*n*')).toEqual(good('3'));
  });

  test('IN-PACKAGE counts for the rest of the call and for the next', async () => {
    const text = await session.eval(
      '(defpackage :stays (:use :cl)) (in-package :stays) (defun here () 1) (here)',
    );
    expect(text).toBe('[1] #<PACKAGE "STAYS">\n[2] #<PACKAGE "STAYS">\n[3] HERE\n[4] 1');
    expect(await answer("(list (here) (package-name *package*) 'cl-user::x)")).toEqual(
      good('(1 "STAYS" COMMON-LISP-USER::X)'),
    );
    expect(await answer('(in-package :cl-user)')).toEqual(good('#<PACKAGE "COMMON-LISP-USER">'));
  });

  test('the argument package is for its call only, unless that changes the package itself', async () => {
    await answer('(defpackage :visited (:use :cl)) (defpackage :settled (:use :cl))');
    expect(await answer("'x", { package: 'visited' })).toEqual(good('X'));
    expect(await answer("'visited::x")).toEqual(good('VISITED::X'));
    await answer('(in-package :settled)', { package: 'VISITED' });
    expect(await answer('(package-name *package*)')).toEqual(good('"SETTLED"'));
    await answer('(in-package :cl-user)');
  });

  test('a deleted package is left, and the next call works', async () => {
    await answer('(defpackage :doomed (:use :cl)) (in-package :doomed)');
    await answer('(delete-package *package*)');
    expect(await answer('(package-name *package*)')).toEqual(good('"COMMON-LISP-USER"'));
  });

  test('the printer and the reader stay as they were set', async () => {
    await answer('(setf *print-base* 2 *print-radix* t)');
    expect(await answer('10')).toEqual(good('#b1010'));
    await answer('(setf *print-base* 10 *print-radix* nil *read-base* 16)');
    expect(await answer('ff')).toEqual(good('255'));
    await answer('(setf *read-base* 10.)');
    await answer('(setf *print-length* 2 *print-case* :downcase)');
    expect(await answer("'((a b c))")).toEqual(good('((a b ...))'));
    await answer('(setf *print-length* 1000 *print-case* :upcase)');
    expect(await answer("'(a b 10)")).toEqual(good('(A B 10)'));
  });

  test('a reader macro lasts, and goes when the readtable is put back', async () => {
    await answer(
      '(set-macro-character #\\$ (lambda (s c) (declare (ignore c)) (list (quote list) (read s))))',
    );
    expect(await answer('$5')).toEqual(good('(5)'));
    await answer('(setf *readtable* (copy-readtable nil))');
    expect((await answer('$five')).text).toMatch(/^Error: The variable \$FIVE is unbound\.\n/);
  });

  test('no setting of printer or reader changes what the other tools tell', async () => {
    const asked: [string, Record<string, unknown>][] = [
      ['describe_symbol', { symbol: 'car' }],
      ['describe_symbol', { symbol: '*print-base*' }],
      ['apropos_search', { pattern: 'mapc', package: 'cl' }],
      ['who_calls', { name: 'next-n' }],
      ['eval_form', { form: '(cl:error "text")' }],
      ['eval_form', { form: '(cl:defun unused-one (x) :one)' }],
    ];
    const ask = () => Promise.all(asked.map(([name, args]) => session.call(name, args)));
    await answer('(defun unused-one () :one)');
    const before = await ask();
    await answer(
      `(setf *print-base* 2 *print-radix* t *print-case* :downcase *print-readably* t *print-length* 1
         *print-level* 1 *print-escape* nil *print-pretty* nil *print-array* nil *print-gensym* nil *read-base* 3)`,
    );
    const after = await ask();
    await answer('(setf *print-readably* nil *print-escape* t *read-base* 10.)');
    await answer(
      '(setf *print-base* 10 *print-radix* nil *print-case* :upcase *print-length* 1000 *print-level* 50)',
    );
    await answer('(setf *print-pretty* t *print-array* t *print-gensym* t)');
    // The value itself is printed as the session says.
    const remarks = (texts: Answer[]) => texts.map(({ text }) => text.replace(/^unused-one/i, ''));
    expect(remarks(after)).toEqual(remarks(before));
  });
});

describe('package-local nicknames', () => {
  beforeAll(async () => {
    await answer('(defpackage :nick-target (:use :cl) (:export #:thing))');
    await answer('(defpackage :nick-user (:use :cl) (:local-nicknames (:nt :nick-target)))');
    await answer('(in-package :nick-user)');
  });
  afterAll(() => answer('(cl:in-package :cl-user)'));

  test('work in eval_form', async () => {
    expect(await answer('(defun nt:thing () "Does it." :done) (nt:thing)')).toEqual(
      good('[1] NT:THING\n[2] :DONE'),
    );
  });

  test('work in describe_symbol, in the name and as the package', async () => {
    await answer('(defun nt:thing () "Does it." :done)');
    for (const args of [
      { symbol: 'nt:thing', package: 'nick-user' },
      { symbol: 'thing', package: 'nt' },
    ])
      expect(await session.text('describe_symbol', args)).toMatch(/^NICK-TARGET::THING \[FUNCTION\]\n/);
  });
});

describe('values', () => {
  test.each([
    ['(values)', '; No values'],
    ['(values 1 :two "three")', '1\n:TWO\n"three"'],
    ['(values 1 2) (values) 3', '[1] 1\n    2\n[2] ; No values\n[3] 3'],
    [' ; nothing\n #| here |# ', 'No form to evaluate: the text holds only white space or comments.'],
    ['(let ((l (list 1 2))) (setf (cddr l) l) l)', `#1=(1 2 . #1#)${CIRCULAR}`],
    [
      '(progn (defstruct ring next) (let ((r (make-ring))) (setf (ring-next r) r)))',
      `#1=#S(RING :NEXT #1#)${CIRCULAR}`,
    ],
    ['(let ((s (copy-seq "abc"))) (list s s))', '("abc" "abc")'],
    ['(let ((l (list 1)) (*print-circle* t)) (list l l))', '((1) (1))'],
  ])('of %j are %j', async (form, text) => {
    expect(await answer(form)).toEqual(good(text));
  });

  test.each([
    ['(make-list 1000000)', '1000000'],
    ['(make-string 1000000 :initial-element #\\x)', '[... cut here; it has 1000000 characters ...]'],
    [
      "(make-array 1000000 :element-type 'bit)",
      '... it has 1000000 elements; *print-length* limits what is shown ...',
    ],
    ['(expt 7 300000)', '[... cut here ...]'],
  ])('of %s are bounded, and it is said that there is more', async (form, said) => {
    const { text, isError } = await answer(form);
    expect(isError).toBe(false);
    expect(text.length).toBeLessThan(ANSWER_LIMIT);
    expect(text.slice(-200)).toContain(said);
  });

  const BIG = '(expt 7 474)';
  const ENDS = '37711253362606995859...4732596849';

  test('of a number with hundreds of digits are told by its ends, and inspect shows all', async () => {
    const whole = String(7n ** 474n);
    for (const [form, text] of [
      [BIG, `${ENDS}\n[... it has 401 digits ...] inspect takes it as @N.`],
      ['(expt 10 99)', `1${'0'.repeat(99)}`],
      [
        `(list 1 ${BIG} "a")`,
        `(1 #<${ENDS}, 401 digits> "a")\n[... its numbers of more than 100 digits are shortened ...] inspect takes it as @N.`,
      ],
      [
        `(list (list (- ${BIG}) (/ ${BIG} 2)))`,
        /^\(\(#<-3771\d{15}\.\.\.\d{10}, 401 digits>\s+#<3771\d{16}\.\.\.\d{8}\/2, 402 digits>\)\)\n/,
      ],
      [`(let ((*print-pretty* nil)) (print ${BIG}))`, new RegExp(`Output:\\n${whole}`)],
    ] as const) {
      const { text: said } = await answer(form);
      const reported = said.replace(/@\d+/, '@N');
      if (typeof text === 'string') expect(reported).toBe(text);
      else expect(reported).toMatch(text);
    }
    await answer(BIG);
    expect(await session.text('inspect', { value: '*' })).toMatch(new RegExp(`^${whole}\\n`));
    await answer(`(list 1 ${BIG})`);
    expect(await session.text('inspect', { value: '*', path: ['1'] })).toMatch(new RegExp(`^${whole}\\n`));
    expect(await session.text('inspect', { value: '*' })).toMatch(
      new RegExp(`^\\(1 #<${ENDS}, 401 digits>\\)[\\s\\S]*\\n {2}1 = #<${ENDS}, 401 digits>$`),
    );
  });

  test('of such numbers in messages and forms of warnings are told by their ends too', async () => {
    const { text } = await answer(
      `(progn (warn "of ~D" ${BIG}) (defun too-big (x) (declare (type (integer 0 3) x)) (setf x ${7n ** 474n}) x))`,
    );
    expect(text).toContain(`WARNING (form 1): of ${ENDS} (401 digits)`);
    expect(text).toContain(`Constant ${ENDS} (401 digits) conflicts with its asserted type`);
    expect(text).not.toMatch(/\d{50}/);
  });

  test('that the output ends with stand in the answer once, unless they are short', async () => {
    const value = '("a value" "of more characters" "than the mark")';
    const again = '[... the value as above ...]';
    expect(await answer(`(print '${value})`)).toEqual(good(`${value}\n\nOutput:\n${again}`));
    expect(await answer(`(progn (print 1) (print '${value}))`)).toEqual(
      good(`${value}\n\nOutput:\n1 \n${again}`),
    );
    expect(await answer(`(progn (format t "So: ~S" '${value}) '${value})`)).toEqual(
      good(`${value}\n\nOutput:\nSo: ${value}`),
    );
    expect(await answer(`(progn (print '${value}) (print 1) '${value})`)).toEqual(
      good(`${value}\n\nOutput:\n${value} \n1`),
    );
    expect(await answer('(print 42)')).toEqual(good('42\n\nOutput:\n42'));
  });

  test('a value a million levels deep is bounded', async () => {
    const { text, isError } = await answer('(let ((x nil)) (dotimes (i 1000000) (setf x (list x))) x)');
    expect([isError, text.length < ANSWER_LIMIT, text.startsWith('((((')]).toEqual([false, true, true]);
  });
});

test('a form that ran, and whose value cannot be printed, is told to have run', async () => {
  await answer(
    '(progn (defclass mute () ()) (defmethod print-object ((x mute) s) (error "No.")) (defvar *runs* 0))',
  );
  const ran =
    '\n\nThe form ran to its end; only printing its value failed. inspect * shows its first value without its print method.';
  const { text } = await answer("(progn (incf *runs*) (make-instance 'mute))");
  expect(text).toMatch(/^Error: No\.\n/);
  expect(text.endsWith(ran)).toBe(true);
  expect(await session.text('inspect', { value: '*' })).toMatch(/^#<COMMON-LISP-USER::MUTE>/);
  expect((await answer('(make-instance \'mute) (error "No.")')).text).toContain(ran);
  expect((await answer('*runs* (error "No.")')).text).not.toContain('ran to its end');
});

describe('warnings', () => {
  test('come with their definition and form', async () => {
    expect(
      await answer('(defun adds (x) (+ x "a")) (defun calls () (never-defined 1)) (defun drops (y) 1)'),
    ).toEqual(
      good(
        '[1] ADDS\n[2] CALLS\n[3] DROPS\n\n' +
          'Warnings (3):\n' +
          '  WARNING (DEFUN ADDS): Constant "a" conflicts with its asserted type NUMBER.\n' +
          '    in (+ COMMON-LISP-USER::X "a")\n' +
          '  STYLE-WARNING (DEFUN CALLS): undefined function: COMMON-LISP-USER::NEVER-DEFINED\n' +
          '    in (COMMON-LISP-USER::NEVER-DEFINED 1)\n' +
          '  STYLE-WARNING (DEFUN DROPS): The variable Y is defined but never used.',
      ),
    );
  });

  test('a style warning of the program is about no undefined name, whatever it says, and keeps its place', async () => {
    const { text } = await answer(
      `(dolist (says '("first" "undefined by me")) (warn 'sb-int:simple-style-warning :format-control says))`,
    );
    expect(text.match(/first|undefined by me/g)).toEqual(['first', 'undefined by me']);
  });

  test('a function that a later form of the call defines is no undefined one', async () => {
    expect(await answer('(defun early () (defined-later)) (defun defined-later () 1)')).toEqual(
      good('[1] EARLY\n[2] DEFINED-LATER'),
    );
  });

  test('of the program itself come with the number of the form', async () => {
    expect(await answer('1 (warn "careful with ~a" 2)')).toEqual(
      good('[1] 1\n[2] NIL\n\nWarnings (1):\n  WARNING (form 2): careful with 2'),
    );
  });

  test('one that the program handles is not told', async () => {
    expect(await answer('(handler-case (warn "handled") (warning () :handled))')).toEqual(good(':HANDLED'));
    expect(await answer('(handler-bind ((warning (function muffle-warning))) (warn "x"))')).toEqual(
      good('NIL'),
    );
  });

  test('many are bounded, and their number is told', async () => {
    const { text } = await answer('(dotimes (i 1000) (warn "number ~d" i))');
    expect(text).toContain('Warnings (1000');
    expect(text.length).toBeLessThan(ANSWER_LIMIT);
  });
});

describe('redefinitions', () => {
  test('are told in one line', async () => {
    const form = '(defgeneric redefined-g (x) (:method ((x integer)) 1))';
    expect((await answer(form)).text).not.toContain('Redefined');
    const { text, isError } = await answer(form);
    expect(isError).toBe(false);
    expect(text.match(/^Redefined: .*$/m)?.[0]).toContain('REDEFINED-G');
    expect(text).not.toContain('Warnings');
  });
});
