// The same tests of the same program in each framework, as a workspace.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { libraries } from '../libraries.ts';

libraries('fiveam');

/** A framework: the systems that it is in, how it says that the four tests are, and how they are run. */
export interface Dialect {
  name: string;
  needs: string;
  /** The text of the file, in which a test is called as the second word of its form. */
  text: string;
  /** The form by which the test-op runs them. */
  run: string;
  /** What is told of the failed check, and its line when that is not the line of its test. */
  failure: string;
  line?: number;
  /** A test that compares two long values, and what is told of it. */
  long: { text: string; reported: string };
  /** Its package, unless it has several. */
  home?: string;
  /** What tests are called in answers, and suites of them all. */
  test: (name: string) => string;
  suites: string[];
  /** What says where the error is that nobody expected; empty where the framework tells of it once its frame is gone. */
  error?: string;
  /** How many checks there are, unless each test is one. */
  checks?: number;
}

const upper = (name: string) => name.toUpperCase();

export const DIALECTS: readonly Dialect[] = [
  {
    name: 'fiveam',
    needs: 'fiveam',
    text: `(defpackage checks (:use cl fiveam shop))
(in-package checks)
(def-suite :checks)
(in-suite :checks)
(test one (is (= 1 (total '((a . 1))))))
(test two
  (is (= 3 (total '((a . 1) (b . 2)))))
  (is (= 4 (total '((a . 1) (b . 2))))))
(test bad (princ "Looking.") (is (= 1 (total '((a . "x"))))))
`,
    run: '(uiop:symbol-call :fiveam :run! :checks)',
    failure: "(= 4 (total '((a . 1) (b . 2)))): got 3",
    long: {
      text: '(test long (is (equalp (basket 3) (basket 4))))',
      reported: '(equalp (basket 3) (basket 4)): got 3 and 4 at [1].cdr',
    },
    home: 'IT.BESE.FIVEAM',
    test: upper,
    suites: ['checks'],
    checks: 4,
  },
  {
    name: 'sb-rt',
    needs: 'sb-rt',
    text: `(defpackage checks (:use cl sb-rt shop))
(in-package checks)
(deftest one (total '((a . 1))) 1)
(deftest two (total '((a . 1) (b . 2))) 4)
(deftest bad (progn (princ "Looking.") (total '((a . "x")))) 1)
`,
    run: '(uiop:symbol-call :sb-rt :do-tests)',
    home: 'SB-RT',
    failure: "(total '((a . 1) (b . 2))) = 3, wanted 4",
    long: {
      text: '(deftest long (basket 3) #.(basket 4))',
      reported: '(basket 3) = 3 at [1].cdr, wanted 4',
    },
    test: upper,
    suites: [],
  },
];

const SHOP = `(defpackage shop (:use cl) (:export #:total #:basket))
(in-package shop)
(defun price (item)
  (+ (cdr item) 0))
(defun total (items)
  (reduce #'+ items :key #'price))
(defun basket (count)
  (list (make-string 400 :initial-element #\\a) (cons :apples count)))
`;

/** Returns the line of the form of TEXT that begins `(OPERATOR NAME`. */
export function lineOf(text: string, name: string): number {
  return (
    text.split('\n').findIndex((line) => new RegExp(`^\\(\\S+ (?:\\(\\w+\\) )?${name}\\b`).test(line)) + 1
  );
}

/** Writes FILES below FOLDER. */
export function write(folder: string, files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** Writes the program below FOLDER, with tests as DIALECT says them. */
export function writeShop(
  folder: string,
  { needs, text, run }: Pick<Dialect, 'needs' | 'text' | 'run'>,
): void {
  write(folder, {
    'shop.asd': `(defsystem "shop" :components ((:file "shop")) :in-order-to ((test-op (test-op "shop/checks"))))
(defsystem "shop/checks" :depends-on ("shop" "${needs}") :components ((:file "checks"))
  :perform (test-op (operation system) ${run}))
`,
    'shop.lisp': SHOP,
    'checks.lisp': text,
  });
}
