// S3.18: places in texts with syntax that only their own reader macros know.

import { expect, test } from 'vitest';
import { everyNth } from '../long.ts';
import { randomFrom } from '../random.ts';
import { Written } from './written.ts';

const written = new Written();

/** Reader macros that make conses, hide them, leave forms out, or read characters that balance nothing. */
const SYNTAX = `(defpackage :readers (:use :cl))
(in-package :readers)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (setf *readtable* (copy-readtable))
  (flet ((reading (end) (lambda (stream char) (declare (ignore char)) (read-delimited-list end stream t))))
    (set-macro-character #\\] (get-macro-character #\\)))
    (set-macro-character #\\} (get-macro-character #\\)))
    (set-macro-character #\\[ (lambda (stream char) (list* 'list 1 (funcall (reading #\\]) stream char))))
    (set-macro-character #\\{ (lambda (stream char)
                               (let ((parts (funcall (reading #\\}) stream char)))
                                 (list* 'funcall (list 'function (first parts)) (rest parts)))))
    (set-macro-character #\\! (lambda (stream char) (declare (ignore char)) (list 'not (list 'not (read stream t nil t)))) t)
    (set-macro-character #\\$ (lambda (stream char) (declare (ignore char)) (list 'identity (read stream t nil t))) t)
    (set-dispatch-macro-character #\\# #\\; (lambda (stream char n) (declare (ignore char n)) (read stream t nil t) (values)))
    (set-dispatch-macro-character #\\# #\\?
      (lambda (stream char n) (declare (ignore char n)) (list 'list 2 (read-from-string (read stream t nil t)))))))
(defmacro making (form) \`(list (t5 1) ,form))
(defun t0 (x) x) (defun t1 (x) x) (defun t2 (x) x) (defun t3 (x) x) (defun t4 (x) x) (defun t5 (x) x)
(declaim (notinline t0 t1 t2 t3 t4 t5))
`;

/** Lines of a body, each with a use of what stands in place of T, and whether it is one. */
const LINES: readonly [string, boolean][] = [
  ['(T x)', true],
  ['(when x (T x))', true],
  ['(let ((y (T x))) y)', true],
  ["(mapcar #'T x)", true],
  ['{T x}', true],
  ['{T [x x]}', true],
  ['[x (T x)]', true],
  ['!(T x)', true],
  ['$ (T x)', true],
  ['#;(T (car (cdr x)))', false],
  ['#?"(T x)"', true],
  ['(making (T x))', true],
  ['(macrolet ((it (y) `(T ,y))) (it x))', true],
];
const NOISE = [
  '[1 2]',
  '#;(car (cdr x))',
  '!x',
  '#?"(list 1 (car x))"',
  '(car x)',
  '(loop for y in x collect y)',
  '(append x (cdr x))',
];

/** Returns a text of functions at random, and the lines of the uses of each function of SYNTAX in each of them. */
function program(seed: number): { text: string; truth: Map<string, Set<number>> } {
  const next = randomFrom(seed);
  const pick = <Item>(items: readonly Item[]) => items[next(items.length)] as Item;
  const lines = SYNTAX.split('\n').slice(0, -1);
  const truth = new Map<string, Set<number>>();
  const uses = (user: string, name: string) =>
    truth.set(`${user} ${name}`, (truth.get(`${user} ${name}`) ?? new Set()).add(lines.length));
  for (let number = 0; number < 12; number++) {
    lines.push(`(defun u${number} (x)`, '  (list');
    for (let left = 1 + next(6); left > 0; left--) {
      const [text, isUse] = pick(LINES);
      const name = `t${next(5)}`;
      lines.push(`    ${text.replace('T', name)}`);
      if (isUse) uses(`U${number}`, name);
      if (text.startsWith('(making')) uses(`U${number}`, 't5');
      if (next(3) === 0) lines.push(`    ${pick(NOISE)}`);
    }
    lines.push('    ))');
  }
  return { text: `${lines.join('\n')}\n`, truth };
}

/** Loads a program of SEED. Returns how many places are told as certain, and what is told wrongly. */
async function reported(seed: number): Promise<{ certain: number; wrong: string[] }> {
  const { text, truth } = program(seed);
  await written.load(`readers-${seed}.lisp`, text);
  let certain = 0;
  const wrong: string[] = [];
  for (const [key, lines] of truth) {
    const [user = '', name = ''] = key.split(' ');
    const sites = await written.sitesOf(`READERS::${user}`, `readers::${name}`);
    if (sites.length === 0) wrong.push(`${key}: none`);
    for (const site of sites) {
      if (/\((?:one of \d+|in an expansion)\)$/.test(site)) continue;
      certain++;
      if (!lines.has(Number(/:(\d+):/.exec(site)?.[1]))) wrong.push(`${key}: ${site}, not ${[...lines]}`);
    }
  }
  return { certain, wrong };
}

test.each(everyNth(3, [-495, -119, 8]))('S3.18 no place is told on a wrong line, seed %i', async (seed) => {
  const { certain, wrong } = await reported(seed);
  expect(wrong).toEqual([]);
  expect(certain).toBeGreaterThan(10);
});

test('S3.18 a call behind what a reader macro makes, or in it, has its own place', async () => {
  await written.load(
    'behind.lisp',
    `${SYNTAX}(defun behind (x)
  (list $ (car x) {t1 x} [1 2]
    (t3 x)
    (list (car x) (cdr x))))
`,
  );
  const line = SYNTAX.split('\n').length + 2;
  expect(await written.sitesOf('READERS::BEHIND', 'readers::t3')).toEqual([`behind.lisp:${line}:5  (t3 x)`]);
  expect(await written.sitesOf('READERS::BEHIND', 'readers::t1')).toEqual([
    `behind.lisp:${line - 1}:19  (list $ (car x) {t1 x} [1 2]`,
  ]);
});

test('S3.18 what a macro makes within code that #. has computed is where that stands', async () => {
  const text = `(defpackage :computed (:use :cl))
(in-package :computed)
(defun mixed (x) x)
(defun early (x) x)
(declaim (notinline mixed early))
(defun rounds (a b c d)
  (macrolet ((mix (n) \`(setf a (mixed (list a (mixed ,n))))))
    (let ((e (early a)))
      (setf a (early (cons a (early e)))
            b (early (list b (early e))))
      #.(loop for i below 8 collect \`(mix ,i) into mixes finally (return \`(progn ,@mixes)))
      (setf c (list c (cons (vector a 0) e))
            d (list d (cons (vector b 1) e)))
      (early (list a b (early c) (early d))))))
`;
  await written.load('computed.lisp', text);
  const place = /^computed\.lisp:(\d+):\d+ {2}.*?(\(.*\))?$/;
  const certain = (sites: string[]) =>
    sites.filter((site) => !/\((?:one of \d+|in an expansion)\)$/.test(site));
  const lines = async (name: string) =>
    certain(await written.sitesOf('COMPUTED::ROUNDS', `computed::${name}`)).map((site) =>
      Number(place.exec(site)?.[1]),
    );
  expect(await lines('mixed')).toEqual([11]);
  expect([...new Set(await lines('early'))]).toEqual([8, 9, 10, 14]);
});
