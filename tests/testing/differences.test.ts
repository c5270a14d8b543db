// What is told of a failed check when its values are long, or do not say what they hold: where they differ first.

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, expect, test } from 'vitest';
import { LIBRARIES_AS_COMPILED } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { write } from './workspaces.ts';

libraries('fiveam', 'rt');

/** What the program has besides the values that the checks are of. */
const PROGRAM = `(defpackage checks (:use cl))
(in-package checks)
(defclass person () ((name :initarg :name) (secret) (friends :initarg :friends :initform '())))
(defclass broken (person) ())
(defmethod print-object ((broken broken) stream) (error "No."))
(defclass noisy (person) ())
(defmethod print-object ((noisy noisy) stream) (loop (write-string "noise " stream)))
(defstruct point x y)
(defstruct node up (parts '()) (value 0))
(defun tree (depth value &optional up) (let ((node (make-node :up up))) (setf (node-parts node) (when (plusp depth) (loop repeat 4 collect (tree (1- depth) 0 node))) (node-value node) value) node))
(defun source (name) (make-pathname :name name :type "lisp" :directory '(:absolute "home" "somebody" "projects" "a-program" "sources" "of-the-program")))
(defun keyed (value &rest keys) (let ((table (make-hash-table :test 'equal))) (dolist (key keys table) (setf (gethash key table) value))))
(defun same (one other) (declare (ignore one other)) nil)
(defun words (n) (loop for i below n collect (format nil "word ~D" i)))
(defun changed (list n part) (let ((list (copy-list list))) (setf (nth n list) part) list))
(defun line (n &optional (char #\\!)) (let ((text (make-string n :initial-element #\\-))) (setf (char text (- n 9)) char) text))
(defun table (&rest parts) (let ((table (make-hash-table :test 'equal))) (loop for (key value) on parts by #'cddr do (setf (gethash key table) value)) table))
(defun circle (&rest parts) (setf (cdr (last parts)) parts) parts)
(defun deep (n inner) (loop repeat n do (setf inner (list inner))) inner)
(defun filled (n &rest changes) (let ((vector (make-array n :initial-element 0))) (loop for (index part) on changes by #'cddr do (setf (aref vector index) part)) vector))
(defun wide (&rest part) (let ((array (make-array '(9 9) :initial-element 5))) (when part (setf (aref array 4 2) (first part))) array))
(5am:def-suite all)
(5am:in-suite all)
`;

/** What (words 9) prints, without parentheses. */
const NINE = Array.from({ length: 9 }, (_, index) => `"word ${index}"`).join(' ');

/** Forms of two values, and what is told of them. The first five failures of a run show whole values that have at most 240
 *  characters. */
const PAIRS: readonly (readonly [one: string, other: string, reported: string])[] = [
  ['(words 40)', '(changed (words 40) 31 9)', 'got "word 31" and 9 at [31]'],
  ['(words 40)', '(words 41)', 'got nothing and "word 40" at [40]'],
  [
    '(cons 1 (words 9))',
    '(changed (cons 1 (words 9)) 0 2)',
    `got 1 and 2 at [0] of (1 ${NINE}) and (2 ${NINE})`,
  ],
  [
    '(make-point :x 1 :y (words 40))',
    '(make-point :x 1 :y (changed (words 40) 2 nil))',
    'got "word 2" and nil at .y[2]',
  ],
  ['(list (words 40) 1)', '(list (words 40) 1.0)', 'got 1 and 1.0 at [1]'],
  ['(line 80)', '(line 80 #\\?)', 'got "...------!--------" and "...------?--------" at [71]'],
  [
    '(line 80 #\\Newline)',
    '(line 80 #\\Space)',
    'got "...------\\n--------" and "...------ --------" at [71]',
  ],
  ['(line 80)', '(subseq (line 80) 0 70)', 'got "...-------!--------" and "...------" at [70]'],
  ['(filled 900)', '(filled 900 612 7 700 8)', 'got 0 and 7 at [612]'],
  ['(wide)', '(wide :other)', 'got 5 and :other at [4][2]'],
  ["(make-instance 'broken :name 1)", "(make-instance 'broken :name 2)", 'got 1 and 2 at .name'],
  ['(table "a key" 1)', '(table "a key" 1 :b 3)', 'got nothing and 3 at [:b]'],
  ['(list (circle 1 2 3) 5)', '(list (circle 1 2 3) 6)', 'got 5 and 6 at [1]'],
  ['(tree 4 1)', '(tree 4 2)', 'got 1 and 2 at .value'],
  ['(list (source "one"))', '(list (source "two"))', 'got ...ogram/one.lisp" and ...ogram/two.lisp" at [0]'],
  ['(expt 10 90)', '(1+ (expt 10 90))', 'got ...0000000 and ...0000001'],
  ["(keyed 1 (circle 1) 'a)", "(keyed 2 (circle 1) 'a)", 'got 1 and 2 at [a]'],
  ['(deep 30 1)', '(deep 30 2)', `got 1 and 2 at ${'[0]'.repeat(6)}...${'[0]'.repeat(6)}`],
];

/** Forms of two values of which no difference is found, and what is told of them. */
const ALIKE: readonly (readonly [one: string, other: string, reported: RegExp])[] = [
  ['(circle 1)', '(circle 1)', /^got \(1(?: 1)+\.\.\. and \(1(?: 1)+\.\.\.$/],
  ['(deep 90 1)', '(deep 90 2)', /^got \(+#\)+ and \(+#\)+$/],
  ["(make-instance 'noisy)", "(make-instance 'noisy)", /^got (?:noise ){10}\.\.\. and (?:noise ){10}\.\.\.$/],
  [
    '(make-string 2000000 :initial-element #\\a)',
    '(make-string 2000000 :initial-element #\\a)',
    /^got "a{59}\.\.\. and "a{59}\.\.\.$/,
  ],
  ["#'car", "#'cdr", /^failed$/],
];

const root = sharedFolder();
let reported: string[];
beforeAll(() => {
  const tests = [...PAIRS, ...ALIKE].map(
    ([one, other], index) => `(5am:test t${index} (5am:is (same ${one} ${other})))`,
  );
  write(root.path, {
    'checks.lisp': `${PROGRAM}${tests.join('\n')}\n`,
    'checks.asd': `(defsystem "checks" :depends-on ("fiveam") :components ((:file "checks"))
  :perform (test-op (o c) (uiop:symbol-call :fiveam :run! (uiop:find-symbol* :all :checks))))
`,
  });
});
const session = sharedSession({ args: ['--root', root.path, ...LIBRARIES_AS_COMPILED] });
beforeAll(async () => {
  const { text } = await session.call('run_tests', { limit: 100, isolate: true });
  reported = text.split('\n').slice(1);
});

/** Returns what is told of the check with INDEX, without the check. */
function outputOf(index: number): string {
  const line = reported.find((each) => each.startsWith(`  T${index} `)) ?? '';
  return /(?:\)\): | )(got .*|failed)$/.exec(line)?.[1] ?? line;
}

test('of two long values the place is told where they differ', () => {
  expect(PAIRS.map((_, index) => outputOf(index))).toEqual(PAIRS.map(([, , text]) => text));
});

test('of two values without a difference the beginnings are told', () => {
  for (const [index, [, , text]] of ALIKE.entries()) expect(outputOf(PAIRS.length + index)).toMatch(text);
});

test('a failure takes few tokens, however long its values are', () => {
  const tokens = reported.map((line) => countTokens(line)).sort((a, b) => a - b);
  expect(tokens[Math.floor(tokens.length / 2)]).toBeLessThanOrEqual(45);
  expect(tokens.at(-1)).toBeLessThan(160);
});

/** A form with the value 1. */
const LONG = `(+ 1 ${'(- 12345 12345) '.repeat(18)})`;

test('of a long form that lists its parts the one that differs is told whole', async () => {
  write(root.path, {
    'parts.lisp': `(defpackage parts (:use cl rt))
(in-package parts)
(defun rotated (list by) (append (nthcdr by list) (butlast list (- (length list) by))))
(deftest middle (list (rotated (list 1 2 3) ${LONG}) (rotated (list 3 1 2) (mod (+ 3 1) 3)) (rotated (list 4 5) 1))
  ((2 3 1) (1 2 4) (5 4)))
(deftest end (vector (rotated (list 1 2 3 4 5 6 7) ${LONG}) (rotated (list 1 2) (mod (+ 3 1) 2)))
  #((2 3 4 5 6 7 1) (2 1)))
(deftest short (list (rotated (list 1 2) 1) (rotated (list 1) 0)) ((2 1) (2)))
`,
    'parts.asd': `(defsystem "parts" :depends-on ("rt") :components ((:file "parts"))
  :perform (test-op (o c) (uiop:symbol-call :rt :do-tests)))
`,
  });
  const { text } = await session.call('run_tests', { system: 'parts' });
  expect(text.split('\n').slice(1, 4)).toEqual([
    '  MIDDLE parts.lisp:4: (list ... (rotated (list 3 1 2) (mod (+ 3 1) 3)) ...) = ((2 3 1) (1 2 3) (5 4)), wanted ((2 3 1) (1 2 4) (5 4))',
    '  END parts.lisp:6: (vector ... (rotated (list 1 2) (mod (+ 3 1) 2))) = #((2 3 4 5 6 7 1) (1 2)), wanted #((2 3 4 5 6 7 1) (2 1))',
    '  SHORT parts.lisp:8: (list (rotated (list 1 2) 1) (rotated (list 1) 0)) = ((2 1) (1)), wanted ((2 1) (2))',
  ]);
});

test('a form that is not so long is told whole, as are its values and what was wanted', async () => {
  write(root.path, {
    'whole.lisp': `(defpackage whole (:use cl rt))
(in-package whole)
(defun article (&key stock) (list :name "The name of an article" :price 12345678 :tags '(:alpha :beta :gamma :delta) :stock stock))
(deftest stock (loop for part in (article :stock (+ 1 2 3)) unless (eql part :an-article-without-this-key) collect part)
  #.(list :name "The name of an article" :price 12345678 :tags '(:alpha :beta :gamma :delta) :stock 7))
`,
    'whole.asd': `(defsystem "whole" :depends-on ("rt") :components ((:file "whole"))
  :perform (test-op (o c) (uiop:symbol-call :rt :do-tests)))
`,
  });
  const { text } = await session.call('run_tests', { system: 'whole' });
  const plist = '(:name "The name of an article" :price 12345678 :tags (:alpha :beta :gamma :delta) :stock';
  expect(text).toContain(
    `STOCK whole.lisp:4: (loop for part in (article :stock (+ 1 2 3)) unless (eql part :an-article-without-this-key) collect part) = 6 at [7] of ${plist} 6), wanted 7 of ${plist} 7)`,
  );
});

test('the first fifty failed tests have places', async () => {
  const tests = Array.from({ length: 55 }, (_, n) => `(deftest test-${n} 1 2)`);
  write(root.path, {
    'many.lisp': ['(defpackage many (:use cl rt))', '(in-package many)', ...tests].join('\n'),
    'many.asd': `(defsystem "many" :depends-on ("rt") :components ((:file "many"))
  :perform (test-op (o c) (uiop:symbol-call :rt :do-tests)))
`,
  });
  const { text } = await session.call('run_tests', { system: 'many', limit: 60 });
  // RT also runs the tests of the systems above.
  expect(text.match(/^ {2}\S+ \w+\.lisp:\d+: /gm)).toHaveLength(50);
});
