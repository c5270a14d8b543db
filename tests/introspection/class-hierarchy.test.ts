// class_hierarchy on the fixture: exact texts.

import { describe, expect, test } from 'vitest';
import { expectLookup, prepare, sharedLooks } from './looks.ts';

const session = sharedLooks();

function hierarchy(name: string, more: Record<string, unknown> = {}): Promise<string> {
  return session.text('class_hierarchy', { class: name, ...more });
}

const ABOVE =
  'Precedence list: LOOKS::PIXEL, LOOKS::POINT, COMMON-LISP::STRUCTURE-OBJECT, SB-PCL::SLOT-OBJECT, COMMON-LISP::T';

describe('directions', () => {
  const PIXEL = 'LOOKS::PIXEL [STRUCTURE CLASS]\nMetaclass: COMMON-LISP::STRUCTURE-CLASS';
  const UP = `\nDirect superclasses: LOOKS::POINT\n${ABOVE}`;

  test.each([
    [{ direction: 'both' }, `${PIXEL}${UP}\n\nNo subclasses.`],
    [{ direction: 'up' }, `${PIXEL}${UP}`],
    [{ direction: 'down' }, `${PIXEL}\n\nNo subclasses.`],
  ])('C14 %j', async (more, text) => {
    expect(await hierarchy('looks::pixel', more)).toBe(text);
  });
});

describe('subclasses', () => {
  test('C10 stand in a tree, in order; a class with two parents below both, and is counted once', async () => {
    expect(await hierarchy('looks.base:named', { direction: 'down' })).toBe(`LOOKS.BASE::NAMED [CLASS]
Not finalized: what it inherits is not settled yet.
Metaclass: COMMON-LISP::STANDARD-CLASS

Subclasses (5, 2 direct):

  LOOKS::SHAPE
    LOOKS::CIRCLE
      LOOKS::ROUND-SQUARE
    LOOKS::SQUARE
      LOOKS::ROUND-SQUARE
  LOOKS::WAITING`);
  });

  test('what stands below a class that was shown is not shown twice', async () => {
    await prepare(session, '(defclass looks::oval (looks::round-square) ())');
    const tree = (await hierarchy('looks:shape', { direction: 'down' })).split('\n').slice(6);
    expect(tree).toEqual([
      '  LOOKS::CIRCLE',
      '    LOOKS::ROUND-SQUARE',
      '      LOOKS::OVAL',
      '  LOOKS::SQUARE',
      '    LOOKS::ROUND-SQUARE (its subclasses stand above)',
    ]);
    await prepare(session, "(setf (find-class 'looks::oval) nil)");
  });

  test('C13 T has hundreds: they are counted, and limit and offset reach each line', async () => {
    const text = await hierarchy('t', { limit: 2 });
    const [, count] = /Subclasses \((\d+), \d+ direct\)/.exec(text) ?? [];
    const counted = `(let ((seen nil)) (labels ((walk (c) (dolist (s (sb-mop:class-direct-subclasses c)) (unless (member s seen) (push s seen) (walk s))))) (walk (find-class t))) (length seen))`;
    expect(count).toBe(await session.eval(counted));
    const [, lines = '0'] = /Note: (\d+) lines; limit and offset reach the rest\.$/.exec(text) ?? [];
    expect(Number(lines)).toBeGreaterThanOrEqual(Number(count));
    expect(await hierarchy('t', { offset: Number(lines) - 1 })).toMatch(/:\n\n {2,}\S+$/);
  });
});

describe('odd classes', () => {
  test('one that is not finalized shows what is known to be above it, and stays as it is', async () => {
    expect(await hierarchy('looks::waiting')).toBe(`LOOKS::WAITING [CLASS]
Not finalized: what it inherits is not settled yet.
Metaclass: COMMON-LISP::STANDARD-CLASS
Direct superclasses: LOOKS::UNKNOWN-PARENT (not defined), LOOKS.BASE::NAMED
Known superclasses: LOOKS::UNKNOWN-PARENT (not defined), LOOKS.BASE::NAMED, COMMON-LISP::STANDARD-OBJECT, SB-PCL::SLOT-OBJECT, COMMON-LISP::T

No subclasses.`);
    expect(await session.eval("(sb-mop:class-finalized-p (find-class 'looks:shape))")).toBe('NIL');
    await prepare(session, "(sb-mop:finalize-inheritance (find-class 'looks::round-square))");
    expect(await hierarchy('looks::round-square', { direction: 'up' })).toContain(
      'Precedence list: LOOKS::ROUND-SQUARE, LOOKS::SQUARE, LOOKS::CIRCLE, LOOKS::SHAPE, LOOKS.BASE::NAMED, ',
    );
  });

  test('one that is only named as a superclass', async () => {
    expect(await hierarchy('looks::unknown-parent')).toBe(`LOOKS::UNKNOWN-PARENT [FORWARD-REFERENCED CLASS]
Not defined: it is only named as a superclass.
Metaclass: SB-MOP::FORWARD-REFERENCED-CLASS

Subclasses (1, all direct):

  LOOKS::WAITING`);
  });

  test('those without a name, or whose package was deleted, stand at the end and in the order of names', async () => {
    await prepare(
      session,
      '(progn (make-package "GONE" :use nil) (eval `(defclass ,(intern "THING" "GONE") (looks::holder) ())) (delete-package "GONE"))',
    ).catch(() => {});
    await prepare(
      session,
      '(progn (defclass looks::holder () ()) (make-package "GONE.TOO" :use nil) (eval `(defclass ,(intern "THING" "GONE.TOO") (looks::holder) ())) (delete-package "GONE.TOO") (defclass looks::zebra (looks::holder) ()) (defvar looks::*unnamed* (make-instance \'standard-class :direct-superclasses (list (find-class \'looks::holder)))))',
    );
    const tree = (await hierarchy('looks::holder')).split('\n\n').at(-1);
    expect(tree).toMatch(/ {2}#:THING\n {2}LOOKS::ZEBRA\n {2}#<unnamed COMMON-LISP::STANDARD-CLASS>$/);
  });

  test('C8 C9 S2.18 a name that is not there is told as by the other lookups', async () => {
    await expectLookup(session, 'class_hierarchy', 'class');
  });
});
