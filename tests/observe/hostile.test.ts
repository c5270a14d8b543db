// observe: what programs do that nobody expects, what it then takes of the heap, and what it proposes (issue: "Hostile cases").

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { sharedProgram } from '../shared.ts';

const PROGRAM = `(defpackage :odd (:use :cl))
(in-package :odd)
(defun twice (x) (values x (* 2 x)))
(defun deep (n) (if (zerop n) 0 (1+ (deep (1- n)))))
(defun keyed (a &key b ((:see c) 2)) (list a b c))
(defun perhaps (a &optional b) (if b (values a b) a))
(defun fails (x) (error "no ~A" x))
(defun unknown (a b) (declare (optimize (debug 0) (speed 3))) (list a b))
(defun wide (a b c d e f g h) (list a b c d e f g h))
(defun look (x) x)
(defun call-one (function x) (funcall function x))
(defun keep (vector) (length vector))
(defun tagged (x) (format nil "<~A>" x))
(defun boom (stream x &rest more) (declare (ignore stream more)) (error "boom ~A" x))
(defun tagging (x) (format nil "<~/odd::boom/>" x))
(defun with-aux (&optional a &rest more &aux (n 3)) (list a more n))
(defstruct (|aPairOfThings| (:constructor pair)))
(defun lone () (make-instance (eval \`(defclass ,(make-symbol "LONE") () ()))))
`;

const session = sharedProgram('odd', PROGRAM);

async function observe(args: Record<string, unknown>): Promise<string> {
  const { text } = await session.call('observe', args);
  return text.replace(/\b\d+(\.\d+)? (ns|µs|ms|s)\b/g, 'N').replace(/ODD::/g, '');
}

const used = async () => Number(await session.eval('(progn (sb-ext:gc :full t) (sb-kernel:dynamic-usage))'));

describe('a function for which SBCL makes others that it calls by a text, as for a control string', () => {
  test('is observed', async () => {
    expect(await observe({ form: '(tagged 1)', functions: ['tagged'] })).toBe(
      '1 call in N.\n  (TAGGED 1) => "<1>"  N\n\nValue: "<1>"',
    );
  });

  test('is told among the frames of an error', async () => {
    const text = await session.eval('(tagging 7)');
    expect(text).toMatch(/^Error: boom 7\n/);
    expect(text).toContain('(ODD::TAGGING 7)  odd.lisp:');
    expect(await session.eval('(+ 1 2)')).toBe('3');
  });
});

test('a million calls take little of the heap, and it is said that they are sampled', async () => {
  await observe({ form: '(twice 1)', functions: ['twice'] });
  // A machine that is busy with other tests calls it less often than what is too often.
  await session.eval('(setf live-lisp.observe::*calls-a-second* 1000)');
  const before = await used();
  const text = await observe({
    form: `(progn (dotimes (i 1000000) (twice i)) (sb-ext:gc :full t) (- (sb-kernel:dynamic-usage) ${before}))`,
    functions: ['twice'],
    limit: 1,
  });
  expect(text).toContain('was called so often that only 1 in ');
  const [, during = ''] = /Value: (-?\d+)/.exec(text) ?? [];
  // At most 2,000 calls are kept, of some hundred octets.
  expect(Number(during)).toBeLessThan(3_000_000);
  expect((await used()) - before).toBeLessThan(1_000_000);
});

test('a recursion of 10,000 calls', async () => {
  const text = await observe({ form: '(deep 10000)', functions: ['deep'], limit: 2 });
  expect(text).toMatch(/^10,001 calls in N\. The last 2:\n {2}\(DEEP 1\) ended unseen/);
  expect(text).toMatch(/\n\nValue: 10000$/);
});

test('where calls have many arguments, each has less room', async () => {
  const string = '(make-string 300 :initial-element #\\x)';
  const form = `(dotimes (i 20) (wide ${`${string} `.repeat(8)}))`;
  const text = await observe({ form, functions: ['wide'] });
  expect(text.match(/\(WIDE /g)).toHaveLength(20);
  expect(countTokens(text)).toBeLessThan(1500);
  const one = await observe({ form, functions: ['wide'], limit: 1 });
  expect(one).toContain(`(WIDE "${'x'.repeat(79)}... `);
});

test('which types were seen', async () => {
  const form = '(list (twice 1) (twice 300) (twice 2.5d0))';
  expect(await observe({ form, functions: ['twice'], mode: 'types' })).toBe(
    'TWICE: 3 calls\n  X: fixnum 2, double-float 1, 1 to 300\n  => fixnum 2, double-float 1, 1 to 300\n  => fixnum 2, double-float 1, 2 to 600\n' +
      '  Derived: (FUNCTION (T) (VALUES T NUMBER &OPTIONAL))\n' +
      '  (declaim (ftype (function ((or double-float fixnum)) (values (or double-float fixnum) (or double-float fixnum) &optional)) odd::twice))\n\nValue: (1 300 2.5d0)',
  );
});

describe('a type is proposed that each call has, and that can be declaimed', () => {
  test.each([
    [
      'keyed',
      "(list (keyed 1) (keyed 1 :b :k :see 2.0) (keyed 'a))",
      '(function ((or fixnum symbol) &key (:b keyword) (:see single-float)) (values cons &optional))',
    ],
    [
      'perhaps',
      '(list (perhaps 1) (perhaps 1 "b"))',
      '(function ((and fixnum unsigned-byte) &optional simple-string) (values (and fixnum unsigned-byte) &optional simple-string))',
    ],
    [
      'with-aux',
      '(with-aux 1 2.0 "c")',
      '(function (&optional (and fixnum unsigned-byte) &rest (or simple-string single-float)) (values cons &optional))',
    ],
    [
      'wide',
      '(apply (function wide) (loop repeat 8 collect (pair)))',
      `(function (${Array(8).fill('odd::|aPairOfThings|').join(' ')}) (values cons &optional))`,
    ],
    ['look', '(look (lone))', '(function (t) (values t &optional))'],
    ['fails', '(ignore-errors (fails 1))', '(function ((and fixnum unsigned-byte)) *)'],
    ['unknown', '(unknown 1 "b")', '(function (&rest (or fixnum simple-string)) (values cons &optional))'],
  ])('%s', async (name, form, type) => {
    const text = await observe({ form, functions: [name], mode: 'types' });
    expect(text).toContain(`  (declaim (ftype ${type} odd::${name}))`);
    const plain = await session.eval(form);
    const declaimed = `(progn (handler-bind ((warning #'muffle-warning)) (proclaim '(ftype ${type} ${name}))) ${form})`;
    expect((await session.eval(declaimed)).replace(/\{.*\}/, '')).toBe(plain.replace(/\{.*\}/, ''));
  });
});

test('where reads names of parameters in the package of the call, and of unknown ones has all', async () => {
  expect(
    await observe({
      form: '(list (odd::twice 1) (odd::twice 2))',
      functions: ['odd::twice'],
      where: '(= x 2)',
      package: 'cl-user',
    }),
  ).toContain('1 of 2 calls in N.\n  (TWICE 2) => 2, 4');
  expect(
    await observe({
      form: '(list (unknown 1 2) (unknown 3 4))',
      functions: ['unknown'],
      where: '(= 3 (first arguments))',
    }),
  ).toContain('1 of 2 calls in N.\n  (UNKNOWN 3 4) => (3 4)');
});

describe('of two forms it is said which one failed', () => {
  test.each([
    ['1', '(error "other")', 'In against: Error: other\nType: COMMON-LISP::SIMPLE-ERROR'],
    ['(car', '1', 'In form: Error: form 1 cannot be read: the text ends inside this form'],
  ])('%s and %s', async (form, against, said) => {
    expect((await observe({ form, against })).split('\nThe form begins')[0]).toBe(said);
  });
});

test('of a form that allocates nothing no profile tells what the backend allocates', async () => {
  await session.eval('(defun nothing () 1)');
  const text = await observe({ form: '(nothing)', mode: 'alloc', seconds: 0.3 });
  expect(text).toMatch(/^[\d,]+ runs of N(?: by the clock \(CPU N: .*?\))? and 0 bytes each\./);
  expect(text).not.toMatch(/TWO-ARG|FLOAT|STREAM|OPEN/);
});

test('a throw behind a warning is not told as caused by it', async () => {
  const form =
    '(catch :out (handler-bind ((warning (function muffle-warning))) (call-one (lambda (x) (warn "w") (throw :out x)) 3)))';
  expect(await observe({ form, functions: ['call-one'] })).toContain(
    'left after COMMON-LISP::SIMPLE-WARNING: w',
  );
});

test('of memory that is in large objects, each of which is one sample', async () => {
  const form = "(dotimes (i 9) (keep (make-array 1048560 :element-type '(unsigned-byte 8))))";
  const text = await observe({ form, mode: 'alloc', seconds: 1 });
  expect(text).toContain(
    'Note: Most of the allocated memory is in large objects, and each of these is only one sample. So the percentages are shares of allocations, not of bytes.',
  );
  expect(text).not.toMatch(/%.* [kM]B/);
});

test('of a run with more samples than are kept', async () => {
  await session.eval(
    '(defun cells (n) (let ((cell nil)) (dotimes (i n cell) (setf cell (list i i))))) (defun early (n) (car (cells n))) (defun late (n) (car (cells n)))',
  );
  const profile = (n: number) =>
    observe({ form: `(list (early ${n}) (late ${n}))`, mode: 'alloc', seconds: 0.1 });
  const text = await profile(14_000_000);
  expect(text).toContain(
    'Note: There were too many samples to keep all, so the profile covers only the beginning. Profile a smaller part of the program.',
  );
  expect(text).not.toMatch(/%.* [kM]B/);
  // 512 MB.
  const whole = await profile(8_000_000);
  expect(whole).not.toContain('Note:');
  expect(whole).toMatch(/ (49|50)% {2}LATE/);
  expect(whole).toMatch(/ (49|50)% {2}EARLY/);
});
