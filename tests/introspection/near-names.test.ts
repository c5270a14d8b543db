// Names near one that is not there: which, how many, and when none is told.

import { beforeAll, describe, expect, test } from 'vitest';
import { sharedSession } from '../shared.ts';
import { prepare } from './looks.ts';

const session = sharedSession();
beforeAll(async () => {
  await prepare(
    session,
    `(defpackage :mill (:use :cl) (:nicknames :grinder) (:export #:grind #:grinds #:coarse #:*flour*))
     (defpackage :mill.other (:use :cl) (:export #:sift))
     (defun mill:grind (x) x) (defun mill:grinds (x) x) (defun mill::grin (x) x) (defun mill::grand (x) x)
     (defun mill.other:sift (x) x) (defun mill.other::within (x) x) (defun mill.other::grind (x) x)
     (defvar mill.other::*kept* 1)
     (defvar mill:*flour* 1)
     (defclass mill::wheel () ())
     (deftype mill::grain (n) (list 'integer 0 n))
     (intern "GRIND-NOTHING" :mill)`,
  );
});

const notFound = (name: string, home: string) => `Symbol ${name} not found in package ${home} (status: NIL)`;

describe('a look-up', () => {
  const look = (symbol: string, more: object = {}) => session.text('describe_symbol', { symbol, ...more });

  test.each([
    ['grindd', 'MILL::GRIND or MILL::GRINDS'],
    ['whel', 'MILL::WHEEL or COMMON-LISP::WHEN'],
    ['*fluor*', 'MILL::*FLOUR*'],
    ['grind-nothin', undefined],
    ['sift', 'MILL.OTHER::SIFT'],
    ['within', undefined],
    ['mapcarr', 'COMMON-LISP::MAPCAR'],
  ])('S3.5 of %s tells what is near and names something: %s', async (name, near) => {
    const text = notFound(name.toUpperCase(), 'mill');
    expect(await look(name, { package: 'mill' })).toBe(near ? `${text}\nDid you mean ${near}?` : text);
  });

  test('tells three at most, the nearest first', async () => {
    await prepare(session, '(progn (defun mill::grin-1 ()) (defun mill::grin-2 ()) (defun mill::grin-3 ()))');
    expect(await look('mill::grin-')).toBe(
      `${notFound('GRIN-', 'mill')}\nDid you mean MILL::GRIN, MILL::GRIN-1 or MILL::GRIN-2?`,
    );
  });

  test.each([
    ['mlil', 'MILL'],
    ['Grindr', 'GRINDER'],
    ['mil', undefined],
  ])('S3.4 S0.9 of a package %s tells %s', async (name, near) => {
    const text = `Package ${name} not found`;
    const expected = near ? `${text}\nDid you mean ${near}?` : text;
    expect(await session.text('apropos_search', { pattern: 'x', package: name })).toBe(expected);
    expect(await session.text('who_calls', { name: 'x', package: name })).toBe(expected);
  });

  test('S3.5 C26 tells none when the current package has the symbol', async () => {
    await prepare(session, '(in-package :mill)');
    expect(await session.text('who_calls', { name: 'grind' })).toBe(
      `${notFound('GRIND', 'CL-USER')}\nNote: MILL, the current package, has a symbol GRIND; give package: "MILL" to ask about it.`,
    );
    await prepare(session, '(in-package :cl-user)');
  });
});

describe('an error', () => {
  const lines = async (form: string, from: number, to: number) =>
    (await session.call('eval_form', { form })).text.split('\n').slice(from, to);

  test.each([
    ['(mill::grnd 1)', 'MILL::GRAND or MILL::GRIND'],
    ['(sift 1)', 'MILL.OTHER::SIFT'],
    ["(make-instance 'mill::whele)", 'MILL::WHEEL'],
    ['(intern "X" "MLIL")', 'MILL'],
  ])('S2.16 of %s tells what is near behind its type', async (form, near) => {
    const [type, question] = await lines(form, 1, 3);
    expect(type).toMatch(/^Type: /);
    expect(question).toBe(`Did you mean ${near}?`);
  });

  test.each([
    ['mill::*flor*', 'MILL::*FLOR*', 'MILL::*FLOUR*'],
    ['*kept*', 'COMMON-LISP-USER::*KEPT*', 'MILL.OTHER::*KEPT*'],
  ])('of the unbound variable %s tells its package too', async (form, name, near) => {
    expect(await lines(form, 1, 4)).toEqual([
      'Type: COMMON-LISP::UNBOUND-VARIABLE',
      `Variable: ${name}`,
      `Did you mean ${near}?`,
    ]);
  });

  test('of a name leaves a symbol, of which it is told what is near', async () => {
    await session.call('eval_form', { form: '*kept*' });
    expect(await session.text('describe_symbol', { symbol: '*kept*' })).toContain(
      '\n\nIt names nothing: no function, macro, variable, class or type. Did you mean MILL.OTHER::*KEPT*?',
    );
  });

  test.each([
    ['(mill::unheard-of 1)'],
    ['(:keyword 1)'],
    ['(signal (make-condition (quote undefined-function) :name 5)) (error "No.")'],
  ])('of %s tells none', async (form) => {
    expect((await lines(form, 0, 20)).join('\n')).not.toContain('Did you mean');
  });

  test.each([
    ['(mlil:grind 1)', 'MILL'],
    ['(mill:grnd 1)', 'MILL::GRIND'],
  ])('of reading %s tells what is near', async (form, near) => {
    const [first, second] = await lines(form, 0, 2);
    expect(first).toMatch(/^Error: form 1 cannot be read: /);
    expect(second).toBe(`Did you mean ${near}?`);
  });

  test('that is kept tells it too', async () => {
    await session.call('eval_form', { form: '(mill::grnd 1)' });
    await session.eval('1');
    expect(await session.text('get_last_error', {})).toContain(
      '\nDid you mean MILL::GRAND or MILL::GRIND?\n',
    );
  });
});

test('a warning about what is undefined tells what is near', async () => {
  const form = '(defun use () (list (mill::grnd 1) mill::*flor* (mill::unheard-of)))';
  const text = await session.text('compile_form', { form });
  expect(text).toContain('undefined function: MILL::GRND. Did you mean MILL::GRAND or MILL::GRIND?\n');
  expect(text).toContain('undefined variable: MILL::*FLOR*. Did you mean MILL::*FLOUR*?\n');
  expect(text).toMatch(/undefined function: MILL::UNHEARD-OF\n/);
});

test('nothing warns of a variable that is defined behind its use in the same unit', async () => {
  const form =
    "(with-compilation-unit () (compile nil '(lambda () mill::*flour-2*)) (defvar mill::*flour-2* 1))";
  const text = await session.eval(`(defvar mill::*flour-3* 1) ${form}`);
  expect(text).toBe('[1] MILL::*FLOUR-3*\n[2] MILL::*FLOUR-2*');
});
