// Lambda lists that SBCL does not keep are told as such, or from the source; never as ().

import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';
import { prepare } from './looks.ts';

const FORGETFUL = `(defpackage :dim (:use :cl))
(in-package :dim)
(declaim (optimize (debug 0)))
(defun spin (a &key ; the speed
             (b 2)) (list a b))
(defun (setf spin) (new a) (list new a))
(defmacro with-spin ((a) &body body) (list* 'list a body))
(defun conditional (a #+sbcl b) (list a b))
(define-compiler-macro spin (&whole form a &key b) (declare (ignore a b)) form)
(defsetf dial set-dial)
(defsetf early not-yet)
(defun set-dial (a new) (list a new))
(defstruct knob turns)
(deftype half (n) (list 'integer 0 n))
(defun none () 1)
`;

const root = sharedFolder();
const session = sharedSession({ args: ['--root', root.path] });
beforeAll(async () => {
  root.put('dim.lisp', FORGETFUL);
  expect(await session.text('load_file', { path: 'dim.lisp' })).toBe('Loaded dim.lisp');
  const forgetful = '(declaim (optimize (debug 0)))\n';
  root.put('edited.lisp', `${forgetful}(defun edited (x) x)\n`);
  root.put('unread.lisp', `${forgetful}(defun unread (x) x)\n`);
  await session.text('load_file', { path: 'edited.lisp' });
  await session.eval('(load "unread.lisp")');
  for (const name of ['edited', 'unread']) {
    root.put(`${name}.lisp`, `${forgetful}(defun ${name} (x y) (list x y))\n`);
    utimesSync(join(root.path, `${name}.lisp`), new Date(), new Date(Date.now() + 5000));
  }
  await prepare(
    session,
    `(proclaim '(optimize (debug 0))) (defun dim::unseen (a) a) (setf (fdefinition 'dim::named) #'dim::spin)
     (ensure-generic-function 'dim::bare)
     (defgeneric dim::wide (x &key a)) (defmethod dim::wide ((x integer) &key a b) (list a b))`,
  );
});

async function firstLine(symbol: string): Promise<string> {
  return (await session.text('function_arglist', { symbol })).split('\n')[0] ?? '';
}

async function described(symbol: string): Promise<string[]> {
  const text = await session.text('describe_symbol', { symbol });
  return [...text.matchAll(/^ {2}(?:Arguments|Accepted by some method): .*/gm)].map(([line]) => line.trim());
}

describe('code that was compiled without lambda lists', () => {
  test.each([
    ['dim::spin', 'DIM::SPIN (a &key (b 2)), from the source', '(a &key (b 2)), from the source'],
    [
      'dim::with-spin',
      'DIM::WITH-SPIN ((a) &body body), from the source',
      '((a) &body body), from the source',
    ],
    ['dim::none', 'DIM::NONE (), from the source', '(), from the source'],
    ['dim::conditional', 'DIM::CONDITIONAL, arguments not recorded', 'not recorded'],
    ['dim::unseen', 'DIM::UNSEEN, arguments not recorded', 'not recorded'],
    ['dim::named', 'DIM::NAMED, arguments not recorded', 'not recorded'],
    ['dim::knob-turns', 'DIM::KNOB-TURNS, arguments not recorded', 'not recorded'],
    ['edited', 'COMMON-LISP-USER::EDITED (x), from the source', '(x), from the source'],
    ['unread', 'COMMON-LISP-USER::UNREAD (x), from the source', '(x), from the source'],
  ])('%s', async (symbol, line, described_) => {
    expect(await firstLine(symbol)).toBe(line);
    expect((await described(symbol))[0]).toBe(`Arguments: ${described_}`);
  });

  test('a setf function is read too', async () => {
    expect(await firstLine('(setf dim::spin)')).toBe('DIM::(SETF SPIN) (new a), from the source');
    expect(await described('dim::spin')).toEqual([
      'Arguments: (a &key (b 2)), from the source',
      'Arguments: (new a), from the source',
    ]);
  });

  test('what stands beside a lambda list says so as well', async () => {
    const text = await session.text('function_arglist', { symbol: 'dim::spin' });
    expect(text).toContain('\nCompiler macro: arguments not recorded\n');
    expect(text).toContain('\nSetf: DIM::(SETF SPIN), arguments not recorded');
    expect(await firstLine('(setf dim::dial)')).toBe('DIM::(SETF DIAL), arguments not recorded');
    expect(await firstLine('(setf dim::early)')).toBe('DIM::(SETF EARLY), arguments not recorded');
    expect(await session.text('class_slots', { class: 'dim::knob' })).toContain(
      '\nConstructors: DIM::MAKE-KNOB, arguments not recorded\n',
    );
  });

  test('a type is read from the source', async () => {
    expect(await session.text('describe_symbol', { symbol: 'dim::half' })).toBe(`DIM::HALF [SYMBOL]
internal in DIM

type
  Arguments: (n), from the source
  Defined: dim.lisp:14:1`);
  });

  test('a program gets no lambda list, or that it is from the source', async () => {
    const form = (name: string) =>
      `(let ((data (live-lisp:call-tool "function_arglist" :symbol "${name}"))) (list (gethash "arglist" data) (gethash "fromSource" data)))`;
    expect(await session.eval(form('dim::spin'))).toBe('("(a &key (b 2))" T)');
    expect(await session.eval(form('dim::unseen'))).toBe('(NIL NIL)');
  });
});

describe('a generic function', () => {
  test('tells its own lambda list, and what some method accepts besides', async () => {
    expect((await session.text('function_arglist', { symbol: 'dim::wide' })).split('\n').slice(0, 3)).toEqual(
      ['DIM::WIDE (X &KEY A)', 'Accepted by some method: (X &KEY A B)', 'Kind: GENERIC-FUNCTION'],
    );
    expect(await described('dim::wide')).toEqual([
      'Arguments: (X &KEY A)',
      'Accepted by some method: (X &KEY A B)',
    ]);
  });

  test('tells one lambda list when both are the same', async () => {
    expect(await described('print-object')).toEqual(['Arguments: (OBJECT STREAM)']);
  });

  test('without any says so', async () => {
    expect(await firstLine('dim::bare')).toBe('DIM::BARE, arguments not recorded');
  });
});

describe('types', () => {
  test('C15 a type that needs arguments, and a structure that is a vector, are types', async () => {
    await prepare(
      session,
      `(proclaim '(optimize (debug 1)))
       (deftype cl-user::up-to (n &optional (from 0)) "Up to N." (list 'integer from n))
       (deftype cl-user::plain-type () 'integer)
       (defstruct (cl-user::vst (:type vector) :named) "Two things." q r)`,
    );
    const text = (symbol: string) => session.text('describe_symbol', { symbol });
    expect((await text('up-to')).split('\n')).toEqual([
      'COMMON-LISP-USER::UP-TO [SYMBOL]',
      'internal in COMMON-LISP-USER',
      '',
      'type',
      '  Arguments: (N &OPTIONAL (FROM 0))',
      '  Documentation: Up to N.',
      expect.stringMatching(/^ {2}Defined: evaluated \S+Z by \(deftype cl-user::up-to /),
    ]);
    expect(await text('plain-type')).toContain('type\n  Arguments: ()');
    expect((await text('vst')).split('\n')).toEqual([
      'COMMON-LISP-USER::VST [SYMBOL]',
      'internal in COMMON-LISP-USER',
      '',
      'typed structure',
      '  Type: VECTOR',
      '  Direct slots: COMMON-LISP-USER::Q, COMMON-LISP-USER::R',
      '  Documentation: Two things.',
      expect.stringMatching(/^ {2}Defined: evaluated \S+Z by \(defstruct /),
    ]);
    expect(await text('up-tow')).toMatch(/^Symbol UP-TOW not found/);
    expect(await session.text('class_slots', { class: 'up-to' })).toMatch(/is a type, not a class\.$/);
  });
});
