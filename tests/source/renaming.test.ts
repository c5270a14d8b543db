// Which places of a text a rename changes, and which only look like the name.

import { expect, test } from 'vitest';
import { noKeywordTakers } from '../../src/source/keywords.ts';
import { Packages, type Renaming } from '../../src/source/packages.ts';
import { proseMentions } from '../../src/source/prose.ts';
import { addTakersIn, scanFor } from '../../src/source/renaming.ts';
import { applySplices } from '../../src/source/splice.ts';
import { SourceText } from '../../src/source/text.ts';
import { TopLevelForms } from '../../src/source/top-level.ts';
import { treeOf } from '../../src/source/tree.ts';

const APP = new Packages(
  [
    ['APP', 'APP'],
    ['APPLICATION', 'APP'],
    ['USER', 'USER'],
    ['OTHER', 'OTHER'],
    ['COMMON-LISP-USER', 'COMMON-LISP-USER'],
  ],
  [['OTHER', 'A', 'APP']],
);

function renaming(from: string, to: string): Renaming {
  return { from, to, packages: new Set(['APP', 'USER']), exporters: new Set(['APP']) };
}

interface How {
  to?: string;
  from?: string;
  begins?: string;
  keywords?: boolean;
  prose?: boolean;
  structures?: string[];
  packages?: string[];
}

/** Returns TEXT after the rename of APP::FROM, and why other places stay. */
function renamed(text: string, how: How = {}): { text: string; kept: string[] } {
  const { from = 'FROB', to = 'TWIST', begins = 'APP', keywords = false, prose = false } = how;
  const forms = new TopLevelForms(new SourceText(text), new Set(['SBCL']));
  const packageAt = (index: number) => forms.packageAt(index) ?? begins;
  const all = { ...renaming(from, to), ...(how.packages && { packages: new Set(how.packages) }) };
  const task = { renamings: [all], packages: APP, packageAt, keywords, prose };
  const takers = { ...noKeywordTakers(), structures: new Set(how.structures) };
  const whole = { ...task, takers: new Map([[from, takers]]) };
  if (keywords) addTakersIn(text, all, whole);
  const scan = scanFor(text, whole);
  return { text: applySplices(text, scan.edits) as string, kept: scan.kept.map(({ why }) => why) };
}

test.each<[string, string, string, How?]>([
  [
    'calls, functions, quotes',
    "(frob #'frob 'frob (setf (frob 1) 2))",
    "(twist #'twist 'twist (setf (twist 1) 2))",
  ],
  ['the case of each place', '(FROB (Frob frob))', '(TWIST (twist twist))'],
  ['bars', '(|FROB| fro\\B |frob|)', '(|TWIST| twist |frob|)'],
  [
    'packages and their nicknames',
    '(app:frob application::frob other::frob)',
    '(app:twist application::twist other::frob)',
  ],
  [
    'what comes after IN-PACKAGE',
    '(frob)(in-package :other)(frob)(in-package "USER")(frob)',
    '(twist)(in-package :other)(frob)(in-package "USER")(twist)',
  ],
  ['what features leave out', '#+(or frob abcl) (frob) #-frob frob', '#+(or frob abcl) (twist) #-frob twist'],
  [
    'exports',
    '(defpackage :app (:use :cl) (:export #:frob :FROB "FROB" frob))',
    '(defpackage :app (:use :cl) (:export #:twist :TWIST "TWIST" twist))',
    { begins: 'COMMON-LISP-USER' },
  ],
  [
    'imports',
    '(uiop:define-package x (:import-from :app #:frob) (:shadowing-import-from :other :frob))',
    '(uiop:define-package x (:import-from :app #:twist) (:shadowing-import-from :other :frob))',
  ],
  [
    'names beside a package',
    '(symbol-call :app :frob 1) (find-symbol "FROB" "APP") (intern "FROB" :other)',
    '(symbol-call :app :twist 1) (find-symbol "TWIST" "APP") (intern "FROB" :other)',
  ],
  [
    'names in a call that has a package of its own',
    '(funcall (intern "FROB" *package*) :app) (funcall (intern "FROB") :app) (import (intern "FROB" :other) :app)',
    '(funcall (intern "FROB" *package*) :app) (funcall (intern "FROB") :app) (import (intern "FROB" :other) :app)',
  ],
  [
    'names with a package in strings',
    '(f "app::frob" "~/app:frob/" "other::frob")',
    '(f "app::twist" "~/app:twist/" "other::frob")',
  ],
  [
    'keyword parameters keep their keyword',
    '(defun f (&key frob (b frob)) (f :frob frob))',
    '(defun f (&key ((:frob twist)) (b twist)) (f :frob twist))',
  ],
  [
    'comments only when asked',
    '; calls frob-x and FROB\n(frob "FROB it")',
    '; calls frob-x and TWIST\n(twist "TWIST it")',
    { prose: true },
  ],
])('%s', (_, before, after, how) => {
  expect(renamed(before, how).text).toBe(after);
});

test('what stays is told', () => {
  expect(renamed(';; FROB\n(f :frob "FROB" "see FROB" unknown::frob)').kept.sort()).toEqual([
    'keyword',
    'prose',
    'prose',
    'string',
    'unknown package',
  ]);
  const computed = renamed("(defpackage :app (:export #.(names '#:frob) . #.(list :frob)) (:use #:frob))");
  expect(computed.kept).toEqual(['package definition', 'package definition']);
  expect(renamed('(loop with x = 1)', { from: 'WITH', to: 'BY' }).kept).toEqual(['word of LOOP']);
});

test.each([
  ['(loop for i from start below END collect i)', 0],
  ['(loop for x in xs and END in ys when x collect x and collect END END)', 1],
  ['(loop when x do (f x) and return y END with z = 1 and END of-type t = 3 do (f z))', 1],
])('in %s, %i are words of LOOP', (text, words) => {
  const from = text.includes('IT') ? 'IT' : 'END';
  const { kept } = renamed(text, { from, to: 'FINISH' });
  expect(kept).toEqual(Array.from({ length: words }, () => 'word of LOOP'));
});

test.each<[string, string, string, How?]>([
  [
    'of functions',
    "(defun f (&key frob) frob) (f :frob 1) (g :frob 1) (apply #'f :frob 2 x) (funcall 'f :frob 3)",
    "(defun f (&key twist) twist) (f :twist 1) (g :frob 1) (apply #'f :twist 2 x) (funcall 'f :twist 3)",
  ],
  [
    'of classes',
    "(defclass thing () ((frob :initarg :frob)) (:default-initargs :frob 1 :a :frob)) (make-instance 'thing :a 1 :frob :frob) (change-class x 'thing :frob 2) (apply #'make-instance 'thing :frob 2 x)",
    "(defclass thing () ((twist :initarg :twist)) (:default-initargs :twist 1 :a :frob)) (make-instance 'thing :a 1 :twist :frob) (change-class x 'thing :twist 2) (apply #'make-instance 'thing :twist 2 x)",
  ],
  [
    'of functions, but not the values of others,',
    "(defun f (x &key frob kind) frob) (f :frob :frob 1 :kind :frob) (f 1 :kind :frob) (apply #'f 1 :kind :frob x)",
    "(defun f (x &key twist kind) twist) (f :frob :twist 1 :kind :frob) (f 1 :kind :frob) (apply #'f 1 :kind :frob x)",
  ],
  [
    'of a slot with further initargs',
    "(defclass thing () ((frob :initarg :frob :initarg :f))) (make-instance 'thing :frob 1)",
    "(defclass thing () ((twist :initarg :twist :initarg :f))) (make-instance 'thing :twist 1)",
  ],
  [
    'before further arguments of a template or of MULTIPLE-VALUE-CALL',
    "(defun f (&key frob a) a) (defmacro m (&rest rest) `(f :frob 1 ,@rest)) (multiple-value-call #'f :frob 1 (values))",
    "(defun f (&key twist a) a) (defmacro m (&rest rest) `(f :twist 1 ,@rest)) (multiple-value-call #'f :twist 1 (values))",
  ],
  [
    'of a method that calls the next one in the body of a local function',
    '(defmethod f (x &key frob) (flet ((g () 1)) (when x (if (g) (call-next-method x :frob frob)))))',
    '(defmethod f (x &key twist) (flet ((g () 1)) (when x (if (g) (call-next-method x :twist twist)))))',
  ],
  [
    'of classes that have it for something else',
    "(defclass thing () ((part :initarg :frob))) (make-instance 'thing :frob (frob))",
    "(defclass thing () ((part :initarg :frob))) (make-instance 'thing :frob (twist))",
  ],
])('with keywords, those %s follow', (_, before, after, how) => {
  expect(renamed(before, { keywords: true, ...how }).text).toBe(after);
});

test('a package that the image has not takes the symbol through others that it has not', () => {
  const has = (...definitions: string[]) => {
    const packages = new Packages([['APP', 'APP']], []);
    for (const definition of definitions) packages.note(`(uiop:define-package ${definition})`);
    return packages.has(renaming('FROB', 'TWIST'), 'NEW');
  };
  expect(has('new (:use middle)', 'middle (:use app) (:export frob)')).toBe(true);
  expect(has('new (:use outer)', 'outer (:use-reexport middle)', 'middle (:use app) (:reexport app)')).toBe(
    true,
  );
  expect(has('new (:import-from middle frob)', 'middle (:use app)')).toBe(true);
  expect(has('new (:use middle)', 'middle (:use app)')).toBe(false);
  expect(has('new (:use middle)', 'middle (:use app) (:shadow frob) (:export frob)')).toBe(false);
  expect(has('new (:use-reexport middle)', 'middle (:use-reexport new)')).toBe(false);
});

test('a slot follows in structures as they are written', () => {
  expect(
    renamed('#S(thing :frob 1 :a :frob) #s(thing frob 1) (thing :frob 1)', { structures: ['THING'] }).text,
  ).toBe('#S(thing :twist 1 :a :frob) #s(thing twist 1) (thing :frob 1)');
});

test('a package that the image has not is known by its definition', () => {
  const define = (options: string) => {
    const packages = new Packages([['APP', 'APP']], []);
    const text = `(eval-when (:execute) (defpackage new ${options}))`;
    packages.note(text);
    return packages.has(renaming('FROB', 'TWIST'), 'NEW');
  };
  expect(define('(:use :app)')).toBe(true);
  expect(define('(:use-reexport :app)')).toBe(true);
  expect(define('(:mix :cl :app)')).toBe(true);
  expect(define('(:use :cl)')).toBe(false);
  expect(define('(:import-from app frob)')).toBe(true);
  expect(define('(:use :app) (:shadow #:frob)')).toBe(false);
  expect(new Packages([], []).has(renaming('FROB', 'TWIST'), 'NEW')).toBe(undefined);
});

test('a list that does not end is read, and what follows a string that does not end is not', () => {
  expect(renamed('(frob)\n(defun g ()\n  (frob\n').text).toBe('(twist)\n(defun g ()\n  (twist\n');
  expect(treeOf('(frob (frob').unreadableAt).toBe(undefined);
  const text = '(frob) (frob "frob';
  expect([renamed(text).text, treeOf(text).unreadableAt]).toEqual(['(twist) (twist "frob', 13]);
});

test('lists and prefixes can be as deep as no program has them', () => {
  const nested = (depth: number) => `(frob) ${'('.repeat(depth)}frob${')'.repeat(depth)} (frob)`;
  expect(renamed(nested(100_000)).text).toBe(nested(100_000).replaceAll('frob', 'twist'));
  expect(renamed(`${"'".repeat(100_000)}frob`).text).toBe(`${"'".repeat(100_000)}twist`);
});

test('prose speaks of a name in upper case, with a hyphen, or marked as code', () => {
  const found = (text: string, name: string) => proseMentions(text, name).map(({ start }) => start);
  expect(found('list the LIST. (list) `list` lists LIST-1 app:list', 'LIST')).toEqual([9, 16, 23, 46]);
  expect(found('a-b A-B, a-b. a-b.c xa-b A-b', 'A-B')).toEqual([0, 4, 9]);
});
