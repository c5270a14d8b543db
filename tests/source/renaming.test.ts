// Which places of a text a rename changes, and which only look like the name.

import { expect, test } from 'vitest';
import { noKeywordTakers } from '../../src/source/keywords.ts';
import { Packages, type Renaming } from '../../src/source/packages.ts';
import { proseMentions } from '../../src/source/prose.ts';
import { addTakersIn, scanFor } from '../../src/source/renaming.ts';
import { applySplices } from '../../src/source/splice.ts';
import { spelled, symbolIn } from '../../src/source/symbol-text.ts';
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
  ['a package that has none', '(frob a:frob app::frob)', '(frob a:twist app::twist)', { begins: 'OTHER' }],
  ['one of Common Lisp', '(cl:frob frob)', '(cl:frob twist)'],
  [
    'what comes after IN-PACKAGE',
    '(frob)(in-package :other)(frob)(in-package "USER")(frob)',
    '(twist)(in-package :other)(frob)(in-package "USER")(twist)',
  ],
  [
    'IN-PACKAGE in a form at top level, once that is read',
    '(eval-when (:compile-toplevel) (in-package :other) (frob)) (frob) (progn (cl:in-package :app)) (frob)',
    '(eval-when (:compile-toplevel) (in-package :other) (twist)) (frob) (progn (cl:in-package :app)) (twist)',
  ],
  [
    'IN-PACKAGE that nothing runs',
    '(defun f () (in-package :other)) (frob)',
    '(defun f () (in-package :other)) (twist)',
  ],
  ['IN-PACKAGE that is left out', '#-sbcl (in-package :other) (frob)', '#-sbcl (in-package :other) (twist)'],
  ['what features leave out', '#+(or frob abcl) (frob) #-frob frob', '#+(or frob abcl) (twist) #-frob twist'],
  [
    'numbers in a radix of their own',
    '(face #xFACE #36rFACE #x Face #xface #+sbcl #XFACE #-sbcl #xface #x#.face)',
    '(visage #xFACE #36rFACE #x Face #xface #+sbcl #XFACE #-sbcl #xface #x#.visage)',
    { from: 'FACE', to: 'VISAGE' },
  ],
  ['names with it in them', '(frob-all frobs *frob* frob)', '(frob-all frobs *frob* twist)'],
  ['templates', '`(frob ,frob ,@(frob))', '`(twist ,twist ,@(twist))'],
  ['a name that needs bars', '(frob)', '(|Twist it|)', { to: 'Twist it' }],
  ['line ends', '(frob)\r\n(frob)\r\n', '(twist)\r\n(twist)\r\n'],
  [
    'exports',
    '(defpackage :app (:use :cl) (:export #:frob :FROB "FROB" frob))',
    '(defpackage :app (:use :cl) (:export #:twist :TWIST "TWIST" twist))',
    { begins: 'COMMON-LISP-USER' },
  ],
  [
    'a list of exports behind a dot, which a label shares',
    '(defpackage :app (:export #:a . #1=(#:frob . (:frob))))(defpackage :other (:import-from :app . #1#) (:export . #1#))',
    '(defpackage :app (:export #:a . #1=(#:twist . (:twist))))(defpackage :other (:import-from :app . #1#) (:export . #1#))',
  ],
  [
    'imports behind a dot',
    '(defpackage :other (:import-from #:app . (#:frob)) (:use . (#:frob)))',
    '(defpackage :other (:import-from #:app . (#:twist)) (:use . (#:frob)))',
  ],
  ['exports of another', '(defpackage :other (:export #:frob))', '(defpackage :other (:export #:frob))'],
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
    'names made beside a package',
    "(intern (string '#:frob) (find-package :app)) ((:file :app) (:file :frob)) (intern (string :frob) :other)",
    "(intern (string '#:twist) (find-package :app)) ((:file :app) (:file :frob)) (intern (string :frob) :other)",
  ],
  [
    'names beside a call that returns a package',
    '(intern "FROB" (find-package :app)) (symbol-call (find-package \'#:app) :frob 1) (find-symbol "FROB" (find-package "OTHER"))',
    '(intern "TWIST" (find-package :app)) (symbol-call (find-package \'#:app) :twist 1) (find-symbol "FROB" (find-package "OTHER"))',
  ],
  [
    'names beside calls in calls that return a package',
    '(intern (string-upcase (symbol-name :frob)) (load-time-value (find-package (string :app)))) `(intern "FROB" ,(find-package :app))',
    '(intern (string-upcase (symbol-name :twist)) (load-time-value (find-package (string :app)))) `(intern "TWIST" ,(find-package :app))',
  ],
  [
    'names in a call that has a package of its own',
    '(funcall (intern "FROB" *package*) :app) (funcall (intern "FROB") :app) (import (intern "FROB" :other) :app)',
    '(funcall (intern "FROB" *package*) :app) (funcall (intern "FROB") :app) (import (intern "FROB" :other) :app)',
  ],
  [
    'names beside a call that has a package only among its arguments',
    "(make-app :frob (load-system :app)) (f '(string :frob) :app) (f :frob '(find-package :app))",
    "(make-app :frob (load-system :app)) (f '(string :frob) :app) (f :frob '(find-package :app))",
  ],
  [
    'names of options beside a package',
    '(defsystem :app :frob "app" :perform (f (o) (symbol-call :app :frob))) (run :package :app :frob 1)',
    '(defsystem :app :frob "app" :perform (f (o) (symbol-call :app :twist))) (run :package :app :frob 1)',
  ],
  [
    'names with a package in strings',
    '(f "app::frob" "~/app:frob/" "other::frob")',
    '(f "app::twist" "~/app:twist/" "other::frob")',
  ],
  [
    'names without a package that FORMAT calls',
    '(format t "~/frob/ ~1,\'x:@/FROB/ ~~/frob/ ~a/frob/") (f "a ~/frob/ b" "~/frob/a" "~/app::frob/")',
    '(format t "~/twist/ ~1,\'x:@/TWIST/ ~~/frob/ ~a/frob/") (f "a ~/twist/ b" "~/frob/a" "~/app::twist/")',
    { packages: ['COMMON-LISP-USER', 'APP'] },
  ],
  ['those of another package', '(format t "~/frob/")', '(format t "~/frob/")'],
  [
    'keyword parameters keep their keyword',
    '(defun f (&key frob (b frob)) (f :frob frob))',
    '(defun f (&key ((:frob twist)) (b twist)) (f :frob twist))',
  ],
  [
    'those with a default',
    '(lambda (&key (frob 1 frob-p) &aux (x frob)))',
    '(lambda (&key ((:frob twist) 1 frob-p) &aux (x twist)))',
  ],
  ['those with a keyword of their own', '(lambda (&key ((:k frob) 1)))', '(lambda (&key ((:k twist) 1)))'],
  [
    'words of LOOP',
    '(loop for x in y collect (collect x))',
    '(loop for x in y collect (gather x))',
    { from: 'COLLECT', to: 'GATHER' },
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
  ['(loop for END in list collect END)', 0],
  ['(loop repeat END sum END)', 0],
  ['(loop for x = END then (f END))', 0],
  ['(loop for x in END when x do (f x) END)', 1],
  ['(loop if a collect b else collect c END)', 1],
  ['(loop for x in xs when (f x) collect IT)', 1],
  ['(loop with a = 1 and END = 2 and x and END for i from END do (f i))', 0],
  ['(loop for x in xs and END in ys when x collect x and collect END END)', 1],
  ['(loop for END of-type END in list for k being the hash-keys of END do (f k))', 0],
  ['(loop when x do (f x) and return y END with z = 1 and END of-type t = 3 do (f z))', 1],
  ['(loop for to in list collect to into END finally (return END))', 0],
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
    'of functions of another symbol',
    '(in-package :other) (defun f (&key frob) frob) (f :frob 1)',
    '(in-package :other) (defun f (&key frob) frob) (f :frob 1)',
  ],
  [
    'of functions whose parameters are called like definitions',
    '(defun f (default &key frob) (defer default frob)) (f 1 :frob 1)',
    '(defun f (default &key twist) (defer default twist)) (f 1 :twist 1)',
  ],
  [
    'in declarations, other methods and calls of the next one',
    '(declaim (ftype (function (t &key (:frob t)) t) f)) (defmethod f (x &key frob) x) (defmethod f ((x y) &key ((:frob z) 1)) (call-next-method x :frob z)) (defmethod g (x) (call-next-method x :frob 1))',
    '(declaim (ftype (function (t &key (:twist t)) t) f)) (defmethod f (x &key twist) x) (defmethod f ((x y) &key ((:twist z) 1)) (call-next-method x :twist z)) (defmethod g (x) (call-next-method x :frob 1))',
  ],
  [
    'of classes',
    "(defclass thing () ((frob :initarg :frob)) (:default-initargs :frob 1 :a :frob)) (make-instance 'thing :a 1 :frob :frob) (change-class x 'thing :frob 2) (apply #'make-instance 'thing :frob 2 x)",
    "(defclass thing () ((twist :initarg :twist)) (:default-initargs :twist 1 :a :frob)) (make-instance 'thing :a 1 :twist :frob) (change-class x 'thing :twist 2) (apply #'make-instance 'thing :twist 2 x)",
  ],
  [
    'of classes and functions that are quoted without the apostrophe',
    '(defclass thing () ((frob :initarg :frob))) (defun f (&key frob) frob) (make-instance (quote thing) :frob 2) (apply (function f) :frob 2 x) (apply (quote g) :frob 2 x)',
    '(defclass thing () ((twist :initarg :twist))) (defun f (&key twist) twist) (make-instance (quote thing) :twist 2) (apply (function f) :twist 2 x) (apply (quote g) :frob 2 x)',
  ],
  [
    'of classes whose slot has another name than its accessor',
    "(defclass thing () ((default :initarg :b) (%frob :accessor frob :initarg :frob))) (make-instance 'thing :frob 2)",
    "(defclass thing () ((default :initarg :b) (%frob :accessor twist :initarg :twist))) (make-instance 'thing :twist 2)",
  ],
  [
    'of classes that have it for something else',
    "(defclass thing () ((part :initarg :frob))) (make-instance 'thing :frob (frob))",
    "(defclass thing () ((part :initarg :frob))) (make-instance 'thing :frob (twist))",
  ],
  [
    'of classes that a method initializes',
    "(defmethod initialize-instance :after ((x thing) &key frob) x) (make-instance 'thing :frob 2) (defmethod shared-initialize ((x other) s &rest r) (apply #'call-next-method x s :frob 1 r))",
    "(defmethod initialize-instance :after ((x thing) &key twist) x) (make-instance 'thing :twist 2) (defmethod shared-initialize ((x other) s &rest r) (apply #'call-next-method x s :frob 1 r))",
  ],
  [
    'of constructors',
    '(defstruct (s (:constructor make-it (&key frob))) frob) (make-it :frob 1)',
    '(defstruct (s (:constructor make-it (&key twist))) twist) (make-it :twist 1)',
  ],
])('with keywords, those %s follow', (_, before, after, how) => {
  expect(renamed(before, { keywords: true, ...how }).text).toBe(after);
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

test('symbols are read and written', () => {
  const read = [
    'twist',
    '|Twist|',
    'app::twist',
    ':twist',
    '12',
    '1.5e3',
    '-',
    '..',
    '(a)',
    'a b',
    '"a"',
    "'a",
    '#:a',
    '',
  ];
  expect(read.map((text) => symbolIn(text)?.name)).toEqual([
    ...['TWIST', 'Twist', 'TWIST', 'TWIST', undefined, undefined, '-'],
    ...[undefined, undefined, undefined, undefined, undefined, undefined, undefined],
  ]);
  expect(['A-B', 'a', '1+', '12', 'A|B', 'A B'].map((name) => spelled(name, 'x'))).toEqual([
    ...['a-b', '|a|', '1+', '|12|', '|A\\|B|', '|A B|'],
  ]);
});

test('prose speaks of a name in upper case, with a hyphen, or marked as code', () => {
  const found = (text: string, name: string) => proseMentions(text, name).map(({ start }) => start);
  expect(found('list the LIST. (list) `list` lists LIST-1 app:list', 'LIST')).toEqual([9, 16, 23, 46]);
  expect(found('a-b A-B, a-b. a-b.c xa-b A-b', 'A-B')).toEqual([0, 4, 9]);
});
