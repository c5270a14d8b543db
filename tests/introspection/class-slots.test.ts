// class_slots on the fixture: exact texts.

import { describe, expect, test } from 'vitest';
import { expectLookup, prepare, sharedLooks } from './looks.ts';

const session = sharedLooks();

function slots(name: string, more: Record<string, unknown> = {}): Promise<string> {
  return session.text('class_slots', { class: name, ...more });
}

const NOT_FINALIZED = 'Not finalized: what it inherits is not settled yet.';
const NAME = '(from LOOKS.BASE::NAMED)  :INITARG :NAME :INITFORM "nobody" :TYPE STRING';

describe('standard classes', () => {
  const SHAPE = `LOOKS::SHAPE [CLASS]
${NOT_FINALIZED}
Default initargs: :SIDES LOOKS::+SIDES+
Documentation: Something with an area.

Direct slots (2):

  LOOKS::SIDES  :INITARG :EDGES :INITARG :SIDES :TYPE (INTEGER 0 100) :READER LOOKS::SIDES
    How many edges it has.
  LOOKS::REGISTRY  :INITFORM (LIST 1 2 'LOOKS::THREE) :ACCESSOR LOOKS::REGISTRY :ALLOCATION :CLASS

Inherited slots (1):

  LOOKS.BASE::NAME  ${NAME} :ACCESSOR LOOKS.BASE::NAME-OF
    What it is called.`;

  test('C14 its own slots, then the inherited ones with where they are from', async () => {
    expect(await slots('Shape', { package: 'lks' })).toBe(SHAPE);
  });

  test('a slot that it defines anew has what it inherits, and says from where', async () => {
    expect((await slots('looks::square')).split('\n').slice(5, 9)).toEqual([
      '',
      '  LOOKS.BASE::NAME  (also in LOOKS.BASE::NAMED)  :INITARG :NAME :INITFORM "square" :TYPE STRING :ACCESSOR LOOKS.BASE::NAME-OF :READER LOOKS::SQUARE-NAME',
      '    What it is called.',
      '  LOOKS::SIDE  :INITARG :SIDE :INITFORM 1 :WRITER LOOKS::SET-SIDE',
    ]);
  });

  test('no initform and an initform of NIL are told apart', async () => {
    await prepare(session, '(defclass looks::gap () ((none) (empty :initform nil)))');
    expect((await slots('looks::gap')).split('\n').slice(-2)).toEqual([
      '  COMMON-LISP-USER::NONE',
      '  COMMON-LISP-USER::EMPTY  :INITFORM NIL',
    ]);
  });
});

describe('structures', () => {
  test('tell their constructors, each with its arguments, and what only reads', async () => {
    expect(await slots('looks::point')).toBe(`LOOKS::POINT [STRUCTURE CLASS]
Constructors:
  LOOKS::MAKE-POINT (&KEY (X 0))
  LOOKS::AT (X &OPTIONAL (Y 0))
Documentation: A place.

Direct slots (2):

  LOOKS::X  :INITFORM 0 :TYPE FIXNUM :ACCESSOR LOOKS::POINT-X
  LOOKS::Y  :INITFORM 0 :TYPE FIXNUM :READER LOOKS::POINT-Y`);
  });

  test('one that includes another has the accessors of both', async () => {
    expect(await slots('looks::pixel')).toBe(`LOOKS::PIXEL [STRUCTURE CLASS]
Constructors: LOOKS::MAKE-PIXEL (&KEY ((:X X) 5) ((:Y Y) 0) ((:COLOR COLOR) "red"))

Direct slots (2):

  LOOKS::X  (also in LOOKS::POINT)  :INITFORM 5 :TYPE FIXNUM :ACCESSOR LOOKS::PX-X :ACCESSOR LOOKS::POINT-X
  LOOKS::COLOR  :INITFORM "red" :TYPE STRING :ACCESSOR LOOKS::PX-COLOR

Inherited slots (1):

  LOOKS::Y  (from LOOKS::POINT)  :INITFORM 0 :TYPE FIXNUM :READER LOOKS::PX-Y :READER LOOKS::POINT-Y`);
  });
});

describe('conditions', () => {
  test('have slots, documentation and default initargs', async () => {
    expect(await slots('looks::big-mishap')).toBe(`LOOKS::BIG-MISHAP [CONDITION CLASS]
Default initargs: :WHAT :ALL

Direct slots (1):

  LOOKS::SIZE  :INITARG :SIZE :ACCESSOR LOOKS::MISHAP-SIZE

Inherited slots (1):

  LOOKS::WHAT  (from LOOKS::MISHAP)  :INITARG :WHAT :INITFORM :UNKNOWN :READER LOOKS::MISHAP-WHAT
    What went wrong.`);
  });
});

describe('odd classes', () => {
  test('one below a class that is not defined shows what is known', async () => {
    expect(await slots('looks::waiting')).toBe(`LOOKS::WAITING [CLASS]
${NOT_FINALIZED}
Note: superclasses not defined yet, so their slots are not known: LOOKS::UNKNOWN-PARENT.

Direct slots (1):

  LOOKS::OWN  :INITARG :OWN

Inherited slots (1):

  LOOKS.BASE::NAME  ${NAME} :ACCESSOR LOOKS.BASE::NAME-OF
    What it is called.`);
    expect(await slots('looks::unknown-parent')).toBe(
      'LOOKS::UNKNOWN-PARENT [FORWARD-REFERENCED CLASS]\nNot defined: it is only named as a superclass.\n\nNo slots.',
    );
  });

  test('one that is found by another name says its own', async () => {
    await prepare(session, "(progn (setf (find-class 'looks::alias) (find-class 'looks::circle)) nil)");
    expect((await slots('looks::alias')).split('\n').slice(0, 2)).toEqual([
      'LOOKS::ALIAS [CLASS]',
      'Its proper name: LOOKS::CIRCLE',
    ]);
  });
});

describe('what is no class', () => {
  test.each([
    ['row', 'LOOKS::ROW', 'is a typed structure, not a class.'],
    ['thing', 'LOOKS::THING', 'is not defined as a class.'],
  ])('C8 %s says what it is', async (name, shown, what) => {
    expect(await session.call('class_slots', { class: name, package: 'LOOKS' })).toEqual({
      text: `Class ${shown} not found\nNote: ${shown} ${what}`,
      notices: [],
      isError: false,
    });
  });

  test('C8 C9 S2.18 a name that is not there is told as by the other lookups', async () => {
    await expectLookup(session, 'class_slots', 'class');
  });
});

describe('long answers', () => {
  test('C13 limit and offset go through both blocks, and the true number is told', async () => {
    const rest = 'Note: 3 slots; limit and offset reach the rest.';
    expect((await slots('looks:shape', { limit: 1 })).split('\n').slice(-3)).toEqual([
      '    How many edges it has.',
      '  ...',
      rest,
    ]);
    expect((await slots('looks:shape', { offset: 2 })).split('\n').slice(5)).toEqual([
      'Inherited slots (1):',
      '',
      `  LOOKS.BASE::NAME  ${NAME} :ACCESSOR LOOKS.BASE::NAME-OF`,
      '    What it is called.',
    ]);
    expect((await slots('looks:shape', { offset: 3 })).split('\n').slice(-4)).toEqual([
      'Direct slots (2):',
      'Inherited slots (1):',
      '',
      'Note: there are 3 slots, and none from offset 3 on.',
    ]);
  });
});
