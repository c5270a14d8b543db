// who_references on the fixture: exact texts.

import { describe, expect, test } from 'vitest';
import { WITHOUT_XREFS } from '../oracle.ts';
import { sharedProgram } from '../shared.ts';
import { expectLookup, place, prepare, sharedLooks } from './looks.ts';

const session = sharedLooks();

function references(name: string, more: Record<string, unknown> = {}): Promise<string> {
  return session.text('who_references', { name, ...more });
}

const UNIT = `Functions that read LOOKS::*UNIT*:

  LOOKS::READ-UNIT

Functions that set LOOKS::*UNIT*:

  LOOKS::SET-UNIT
  LOOKS::(SETF UNIT)

Functions that bind LOOKS::*UNIT*:

  LOOKS::BIND-UNIT

Other places that use LOOKS::*UNIT*:

  LOOKS::FIRST-UNIT (symbol macro)

Possible users:

  LOOKS::WITH-UNIT`;

test('C14 who reads, sets and binds it, told apart', async () => {
  expect(await references('*Unit*', { package: 'lks' })).toBe(UNIT);
});

test('a constant is read', async () => {
  expect(await references('looks::+sides+')).toBe(
    `Functions that read LOOKS::+SIDES+:

  LOOKS::READ-UNIT

Other places that use LOOKS::+SIDES+:

  LOOKS::SHAPE (default initarg)`,
  );
});

test('sites puts the places under each', async () => {
  expect(await references('looks:*unit*', { sites: true })).toBe(`Functions that read LOOKS::*UNIT*:

  LOOKS::READ-UNIT
${place('(defun read-unit', '(list')}

Functions that set LOOKS::*UNIT*:

  LOOKS::SET-UNIT
${place('(defun set-unit', '(setf')}
  LOOKS::(SETF UNIT)
${place('(defun (setf unit)', '(setf *')}

Functions that bind LOOKS::*UNIT*:

  LOOKS::BIND-UNIT
${place('(defun bind-unit', '(with-unit')}

Other places that use LOOKS::*UNIT*:

  LOOKS::FIRST-UNIT (symbol macro)
${place('(define-symbol-macro first-unit', '*unit*')}

Possible users:

  LOOKS::WITH-UNIT`);
});

test('a method is shown by its generic function, and its specializers with the place', async () => {
  await prepare(session, '(defvar looks::*seen* 1)');
  await prepare(session, '(defmethod looks:area ((shape string) &key scale) (list scale looks::*seen*))');
  expect(await references('looks::*seen*', { sites: true })).toBe(`Functions that read LOOKS::*SEEN*:

  LOOKS::AREA
    no source  [method (COMMON-LISP::STRING)]`);
});

test('C14 the package that three or more users of a block share stands in its header', async () => {
  await prepare(session, '(defvar looks::*crowd* 1)');
  await prepare(session, '(defun looks::reads-1 () looks::*crowd*)');
  await prepare(session, '(defun looks::reads-2 () looks::*crowd*)');
  await prepare(session, '(defun (setf looks::reads-3) (new) (list new looks::*crowd*))');
  await prepare(session, '(defun looks::sets () (setf looks::*crowd* 2))');
  expect(await references('looks::*crowd*')).toBe(`Functions that read LOOKS::*CROWD*, all in LOOKS:

  READS-1
  READS-2
  (SETF READS-3)

Functions that set LOOKS::*CROWD*:

  LOOKS::SETS`);
  await prepare(session, '(defun cl-user::reads-4 () looks::*crowd*)');
  expect(await references('looks::*crowd*')).toContain('  LOOKS::READS-2\n');
});

test('a fresh reader appears at once, and goes when it reads no more', async () => {
  await prepare(session, '(progn (defvar looks::*fresh* 1) (defun looks::reader () looks::*fresh*))');
  expect(await references('looks::*fresh*')).toBe('Functions that read LOOKS::*FRESH*:\n\n  LOOKS::READER');
  await prepare(session, '(defun looks::reader () 2)');
  expect(await references('looks::*fresh*')).toBe('No references found for LOOKS::*FRESH*');
});

test('C31 code outside functions is told with its kind', async () => {
  await prepare(session, '(progn (defvar looks::*outside* 1) (defvar looks::*after* looks::*outside*))');
  await prepare(session, '(defclass looks::outsider () ((part :initform looks::*outside*)))');
  await prepare(session, "(progn (make-instance 'looks::outsider) nil)");
  expect(await references('looks::*outside*')).toBe(
    'Other places that use LOOKS::*OUTSIDE*:\n\n  LOOKS::*AFTER* (initial value)\n  LOOKS::OUTSIDER (slot initform)',
  );
});

test('a symbol macro has no references of its own; a note says where its users are', async () => {
  expect(await references('looks::first-unit')).toBe(`No references found for LOOKS::FIRST-UNIT
Note: LOOKS::FIRST-UNIT is a symbol macro: SBCL records no references to it, only to its expansion, (CAR (LIST LOOKS:*UNIT*)).`);
});

test.each([
  ['plain', 'LOOKS::PLAIN is a function, not a variable. who_calls lists what calls it.'],
  ['shape', 'LOOKS::SHAPE is a class, not a variable. impact_of_change lists what depends on it.'],
  ['thing', 'LOOKS::THING is not defined as a variable.'],
])('C8 %s is no variable: a note says what it is', async (name, note) => {
  const shown = note.replace(/ is .*/, '');
  expect(await references(name, { package: 'LOOKS' })).toBe(
    `No references found for ${shown}\nNote: ${note}`,
  );
});

test('a variable that is special only in a function has references and the note', async () => {
  await prepare(session, '(defun looks::locally-special () (declare (special looks::loose)) looks::loose)');
  expect(await references('looks::loose')).toBe(`Functions that read LOOKS::LOOSE:

  LOOKS::LOCALLY-SPECIAL
Note: LOOKS::LOOSE is not defined as a variable.`);
});

test('C13 limit and offset go through the blocks, and the true number is told', async () => {
  const rest = 'Note: 6 references; limit and offset reach the rest.';
  expect(await references('looks:*unit*', { limit: 2 })).toBe(`Functions that read LOOKS::*UNIT*:

  LOOKS::READ-UNIT

Functions that set LOOKS::*UNIT*:

  LOOKS::SET-UNIT
  ...
${rest}`);
  expect(await references('looks:*unit*', { offset: 3 })).toBe(
    'Functions that bind LOOKS::*UNIT*:\n\n  LOOKS::BIND-UNIT\n\nOther places that use LOOKS::*UNIT*:\n\n  LOOKS::FIRST-UNIT (symbol macro)\n\nPossible users:\n\n  LOOKS::WITH-UNIT',
  );
  expect(await references('looks:*unit*', { offset: 6 })).toBe(
    'Functions that read, set or bind LOOKS::*UNIT*:\n\nNote: there are 6 references, and none from offset 6 on.',
  );
});

test('C8 C9 S2.18 a name that is not there is told as by the other lookups', async () => {
  await expectLookup(session, 'who_references', 'name');
});

test('an SBCL without cross references to its own variables says so', async () => {
  await prepare(
    session,
    `(sb-ext:without-package-locks (setf (fdefinition ${WITHOUT_XREFS}) (constantly t)))`,
  );
  expect((await references('*print-base*')).split('\n').at(-1)).toBe(
    'Note: this SBCL records no cross references to symbols of its own packages, such as COMMON-LISP, so references may be missing here.',
  );
});

describe('a function that binds the variable and sets it', () => {
  const program = sharedProgram(
    'own-binding',
    '(defpackage :own-binding (:use :cl))\n(in-package :own-binding)\n(defvar *rate* 2)\n(defvar |mixedName| 1)\n(defun bound () (let ((*rate* 1)) (setf *rate* 3)))\n(defun all () (setf *rate* 4 |mixedName| 2))\n',
  );

  test('perhaps sets its own binding only', async () => {
    expect(await program.text('who_references', { name: '*rate*' })).toContain(
      `Functions that set OWN-BINDING::*RATE*:

  OWN-BINDING::ALL
  OWN-BINDING::BOUND (also binds it, so it may set only that binding)`,
    );
  });

  test('a name in mixed case is found as answers write it', async () => {
    expect(await program.text('who_references', { name: 'own-binding::mixedName' })).toBe(
      'Functions that set OWN-BINDING::mixedName:\n\n  OWN-BINDING::ALL',
    );
  });
});

describe('the only use', () => {
  const program = sharedProgram(
    'once',
    '(defpackage :once (:use :cl))\n(in-package :once)\n(defvar *rate* 2)\n(defun taxed (x)\n  (* x\n     *rate*))\n',
  );

  test('is shown with its code', async () => {
    expect(await program.text('who_references', { name: '*rate*', sites: true })).toBe(
      `Functions that read ONCE::*RATE*:

  ONCE::TAXED
    once.lisp:5:3  (* x

  4  (defun taxed (x)
> 5    (* x
  6       *rate*))`,
    );
    expect(await program.text('who_references', { name: '*rate*' })).toBe(
      'Functions that read ONCE::*RATE*:\n\n  ONCE::TAXED',
    );
  });
});
