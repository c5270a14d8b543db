// In which package a name is looked up: the one that is given, the session's, or the contract's.

import { beforeAll, describe, expect, test } from 'vitest';
import { prepare } from '../introspection/looks.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession();
beforeAll(async () => {
  await prepare(
    session,
    `(defpackage :hull.deck (:use :cl))
     (defpackage :hull (:use :cl) (:local-nicknames (:deck :hull.deck)))`,
  );
  await prepare(
    session,
    `(in-package :hull)
     (defvar *draught* 3)
     (defclass keel () ((depth :initarg :depth)))
     (defun float-p (x) (< x *draught*))
     (defun sink () (float-p 4))
     (defun hull.deck::mast () 1)
     (defclass hull.deck::sail () ())
     (defvar hull.deck::*wind* 2)`,
  );
});

/** The tools that look a name up: the name of that parameter, a name in HULL, and one in HULL.DECK. */
const TOOLS = [
  ['describe_symbol', 'symbol', 'float-p', 'mast', 'HULL::FLOAT-P', 'HULL.DECK::MAST'],
  ['function_arglist', 'symbol', 'float-p', 'mast', 'HULL::FLOAT-P', 'HULL.DECK::MAST'],
  ['who_references', 'name', '*draught*', '*wind*', 'HULL::*DRAUGHT*', 'HULL.DECK::*WIND*'],
  ['class_slots', 'class', 'keel', 'sail', 'HULL::KEEL', 'HULL.DECK::SAIL'],
  ['class_hierarchy', 'class', 'keel', 'sail', 'HULL::KEEL', 'HULL.DECK::SAIL'],
] as const;

describe.each(TOOLS)('%s', (tool, parameter, name, other, found, otherFound) => {
  const look = (asked: string, more: object = {}) => session.text(tool, { [parameter]: asked, ...more });

  test('C26 S2.19 without a package a name is one of the current package', async () => {
    expect(await look(name)).toContain(found);
    expect(await look(name, { package: '' })).toContain(found);
    expect(await look('nobody')).toBe('Symbol NOBODY not found in package HULL (status: NIL)');
  });

  test('C26 a package that is given, and a prefix, win over the current one', async () => {
    expect(await look(other, { package: 'hull.deck' })).toContain(otherFound);
    expect(await look(`hull.deck::${other}`)).toContain(otherFound);
    expect(await look('keel', { package: 'CL-USER' })).toBe(
      'Symbol KEEL not found in package CL-USER (status: NIL)',
    );
  });

  test('C25 a package that does not exist is told, also when the name has a prefix', async () => {
    expect(await look(`hull::${name}`, { package: 'No Where' })).toBe('Package No Where not found');
    expect(await look(`nowhere::${name}`, { package: 'hull' })).toBe('Package nowhere not found');
  });

  test('C25 a prefix wins over a package that exists, and can be a nickname local to it', async () => {
    expect(await look(`hull::${name}`, { package: 'CL' })).toContain(found);
    expect(await look(`deck::${other}`, { package: 'hull' })).toContain(otherFound);
    expect(await look(`deck::${other}`, { package: 'CL' })).toBe('Package deck not found');
  });

  test('C25 C26 without a package a prefix can be a nickname local to the current one', async () => {
    expect(await look(`deck::${other}`)).toContain(otherFound);
  });
});

describe('the two that keep the package of their contracts', () => {
  test('C26 S3.3 S3.5 who_calls looks in CL-USER, and says when the current package has the symbol', async () => {
    expect(await session.text('who_calls', { name: 'float-p' })).toBe(
      'Symbol FLOAT-P not found in package CL-USER (status: NIL)\nNote: HULL, the current package, has a symbol FLOAT-P; give package: "HULL" to ask about it.',
    );
    expect(await session.text('who_calls', { name: 'float-p', package: 'HULL' })).toBe(
      'Functions that call HULL::FLOAT-P:\n\n  HULL::SINK',
    );
  });

  test.each([
    [{ name: 'nobody' }, 'Symbol NOBODY not found in package CL-USER (status: NIL)'],
    [
      { name: 'float-p', package: 'CL' },
      'Symbol FLOAT-P not found in package CL (status: NIL)\nDid you mean COMMON-LISP::FLOATP?',
    ],
    [
      { name: 'cl::float-p' },
      'Symbol FLOAT-P not found in package cl (status: NIL)\nDid you mean COMMON-LISP::FLOATP?',
    ],
    [{ name: 'hull::float-p', package: 'No Where' }, 'Package No Where not found'],
  ])('C25 C26 S3.4 S3.5 who_calls says nothing else of %j', async (args, text) => {
    expect(await session.text('who_calls', args)).toBe(text);
  });

  test('C26 S0.6 apropos_search looks at what is exported, and says when the current package has matches', async () => {
    const search = (pattern: string, more: object = {}) =>
      session.text('apropos_search', { pattern, ...more });
    expect(await search('draught')).toBe(
      'Found 0 symbols matching \'draught\':\n\nNote: 1 symbol of HULL, the current package, matches; package: "HULL" lists it.',
    );
    expect(await search('draught', { package: 'HULL' })).toBe(
      "Found 1 symbol matching 'draught':\n\n  HULL::*DRAUGHT* [VARIABLE]",
    );
    await prepare(session, '(defun draught-of (x) x)');
    expect(await search('draught')).toBe(
      'Found 0 symbols matching \'draught\':\n\nNote: 2 symbols of HULL, the current package, match; package: "HULL" lists them.',
    );
    expect(await search('draught', { type: 'class' })).toBe("Found 0 symbols matching 'draught':\n\n");
    expect(await search('draught', { package: 'CL' })).toBe("Found 0 symbols matching 'draught':\n\n");
  });
});
