// S3.17 S3.8: what sets a slot of a structure, and which part of a definition calls a function.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';

const folder = sharedFolder();
const session = sharedSession();

const SETS = `(defstruct place (north 0) (east 0 :type fixnum) (name nil :read-only t))
(define-modify-macro scalef (k) *)
(defmacro move (place) \`(setf (place-north ,place) 1))
(defun reads (p) (list (place-north p) (place-east p)))
(defun sets-east (p) (setf (place-east p) (place-north p)))
(defun sets (p) (setf (place-east p) 1 (place-north p) 2))
(defun counts (p) (incf (place-north p)))
(defun swaps (p q) (rotatef (place-north p) (place-north q)))
(defun doubles (p) (flet ((inner () (scalef (place-north p) 2))) (inner)))
(defun by-name (p) (with-accessors ((n place-north)) p (setf n 1)))
(defun moves (p) (move p))
(defun passed (p) (funcall #'(setf place-north) 1 p))
(defun own (p) (flet (((setf place-north) (v p) (list v p))) (setf (place-north p) 1)))
(defmethod method-sets ((p place)) (push 1 (place-north p)))
(defvar *placed* (make-place))
(setf (place-north *placed*) 1)
`;
const SETTERS = ['BY-NAME', 'COUNTS', 'DOUBLES', 'METHOD-SETS', 'MOVES', 'PASSED', 'SETS', 'SWAPS'];
const FORM = 19;

/** Returns what is told of who sets the slot of a place in the package HOME, of SETTERS and then of PLACES, below HEADER. */
function reported(
  home: string,
  setters: readonly string[],
  places: readonly string[],
  header = 'Possible callers:',
): string {
  const name = `${home}::(SETF PLACE-NORTH)`;
  const functions = [`Functions that call ${name}:`, '', ...setters.map((each) => `  ${home}::${each}`)];
  const others = ['', header, '', ...places.map((each) => `  ${each}`)];
  return [...functions, ...(places.length > 0 ? others : [])].join('\n');
}

/** Tells whether SETF of a slot in the package HOME calls a function, as it does from 2.4 on; else it sets the slot in place. */
async function isCalled(home: string): Promise<boolean> {
  const form = `(third (macroexpand-1 '(setf (${home}::place-north x) 1)))`;
  return (await session.eval(`(eq 'funcall (first ${form}))`)) === 'T';
}

function opened(home: string): string {
  return `(defpackage :${home} (:use :cl))\n(in-package :${home})\n`;
}

/** Writes SOURCE into the file NAME and returns that. */
function written(name: string, source: string): string {
  const file = join(folder.path, name);
  writeFileSync(file, source);
  return file;
}

test('S3.8 who sets the slot of a structure is told when it was evaluated', async () => {
  expect((await session.call('eval_form', { form: opened('evaluated') + SETS })).isError).toBe(false);
  const name = '(setf evaluated::place-north)';
  expect(await session.text('who_calls', { name })).toBe(reported('EVALUATED', SETTERS, []));
  // What changes a slot reads it first.
  const readers = ['COUNTS', 'DOUBLES', 'METHOD-SETS', 'READS', 'SETS-EAST', 'SWAPS'];
  expect(await session.text('who_calls', { name: 'evaluated::place-north' })).toBe(
    reported('EVALUATED', readers, ['EVALUATED::MOVE']).replace('(SETF PLACE-NORTH)', 'PLACE-NORTH'),
  );
  await session.eval('(in-package :evaluated)');
  await session.eval('(dolist (name (quote (sets swaps moves doubles counts))) (fmakunbound name))');
  await session.eval('(defun by-name (p) p)');
  expect(await session.text('who_calls', { name })).toBe(
    reported('EVALUATED', ['METHOD-SETS', 'PASSED'], []),
  );
  expect(await session.text('who_calls', { name: '(setf evaluated::place-east)' })).toContain('SETS-EAST');
});

test('S3.8 S3.18 who sets the slot of a structure is told of a loaded file, with places', async () => {
  const path = written('sets.lisp', opened('loaded') + SETS);
  const name = '(setf loaded::place-north)';
  expect(await session.text('load_file', { path })).toMatch(/^Loaded/);
  const header = (await isCalled('loaded'))
    ? 'Other places that call LOADED::(SETF PLACE-NORTH):'
    : 'Possible callers:';
  expect(await session.text('who_calls', { name })).toBe(
    reported('LOADED', SETTERS, [`top-level form at ${path}:${FORM - 1}`], header),
  );
  const sites = await session.text('who_calls', { name, sites: true });
  expect(sites).toContain(`  LOADED::COUNTS\n    ${path}:9:25  (defun counts (p) (incf (place-north p)))\n`);
});

const PARTS = `(eval-when (:compile-toplevel :load-toplevel :execute) (defun part (x) x))
(defgeneric takes (x))
(defmethod takes ((x (eql (part 1)))) (list x))
(defmethod takes ((x (eql (part 2)))) (list x 2))
(defmethod takes ((x string)) (load-time-value (list (part 3))))
(defmethod tells ((x (eql (part 4)))) (list x))
(defmethod keeps ((x string)) (load-time-value (list (part 5))))
(defmethod both ((x (eql (part 6)))) (load-time-value (list (part 7))))
(defclass given () ((a :initarg :a)) (:default-initargs :a (part 8)))
(defclass filled () ((a :initform (part 9))))
(defclass mixed () ((a :initform (part 10) :initarg :a)) (:default-initargs :a (part 11)))
(define-condition sorry (error) ((a :initarg :a)) (:default-initargs :a (part 12)))
(define-condition worry (error) ((a :initform (part 13))))
(defun loads () (load-time-value (list (part 14))))
(list 1)
`;
const PLACES = [
  'BOTH (defmethod)',
  'FILLED (slot initform)',
  'GIVEN (default initarg)',
  'KEEPS (load-time value)',
  'LOADS (load-time value)',
  'MIXED (defclass)',
  'SORRY (default initarg)',
  'TAKES (load-time value)',
  'TAKES (specializer)',
  'TELLS (specializer)',
  'WORRY (slot initform)',
];

/** Returns the other places that call PART of the package HOME, sorted. */
async function places(home: string): Promise<string[]> {
  const text = await session.text('who_calls', { name: `${home}::part` });
  expect(text).toMatch(/^Other places/);
  return text.split('\n').slice(2).sort();
}

test('S3.17 each part of a definition is called what it is', async () => {
  await session.eval(`${opened('parts-1')} 1`);
  await session.eval('(in-package :parts-1)');
  expect((await session.call('eval_form', { form: `(progn ${PARTS})` })).isError).toBe(false);
  expect(await places('parts-1')).toEqual(PLACES.map((place) => `  PARTS-1::${place}`));
});

test('S3.17 each part of a definition is called what it is in a file too', async () => {
  const path = written('parts.lisp', `${opened('parts')}${PARTS}`);
  expect(await session.text('load_file', { path })).toMatch(/^Loaded/);
  expect(await places('parts')).toEqual(PLACES.map((place) => `  PARTS::${place}`));
});

test('S3.17 a LOAD-TIME-VALUE in the template of a macro is no call', async () => {
  const text = `${opened('templates')}(defun at-load (x) x)
(defmacro later (x) \`(list (load-time-value (at-load ,x))))
(defmacro quoted () '(load-time-value (at-load 1)))
(defun now () (load-time-value (at-load 2)))
`;
  const path = written('templates.lisp', text);
  expect(await session.text('load_file', { path })).toMatch(/^Loaded/);
  expect(await session.text('who_calls', { name: 'templates::at-load' })).toBe(
    `Other places that call TEMPLATES::AT-LOAD:

  TEMPLATES::NOW (load-time value)

Possible callers:

  TEMPLATES::LATER
  TEMPLATES::QUOTED`,
  );
});
