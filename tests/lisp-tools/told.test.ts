// How a value that a tool returned to code is told, and in which package code names things.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Session, startSession } from '../harness.ts';

let session: Session;
beforeAll(async () => {
  session = await startSession();
  await session.eval(
    '(defpackage :told (:use :cl))\n(in-package :told)\n(defun used () 1)\n(defun user () (used))\n(in-package :cl-user)',
  );
});
afterAll(() => session.close());

describe('a value that a tool returned', () => {
  test('is told as the text of the tool, alone and in a list', async () => {
    const one = await session.text('describe_symbol', { symbol: 'told::used' });
    const other = await session.text('who_calls', { name: 'told::used' });
    const calls = [
      '(live-lisp:call-tool "describe_symbol" :symbol "told::used")',
      '(live-lisp:call-tool "who_calls" :name "told::used")',
    ];
    expect(await session.eval(calls[0] ?? '')).toBe(one);
    expect(await session.eval(`(list ${calls.join(' ')})`)).toBe(`${one}\n\n${other}`);
  });

  test('is data for the program, and parts of it are printed', async () => {
    const call = '(live-lisp:call-tool "who_calls" :name "told::used")';
    expect(await session.eval(`(gethash "name" ${call})`)).toBe('"TOLD::USED"\nT');
    expect(await session.eval(`(list ${call} 1)`)).toMatch(/^\(#<HASH-TABLE .*1\)$/s);
  });

  test('is told as 10,000 characters of a long text', async () => {
    const said = await session.eval('(live-lisp:call-tool "apropos_search" :pattern "")');
    expect(said).toMatch(/^Found \d+ symbols matching ''/);
    expect(said).toContain('characters left out ...]');
    expect(said.length).toBeLessThan(10_200);
  });
});

describe('names that code gives a tool', () => {
  const form = '(live-lisp:call-tool "who_calls" :name "used")';

  test('are read in the package of the evaluation', async () => {
    expect(await session.eval(form, { package: 'told' })).toBe(
      'Functions that call TOLD::USED:\n\n  TOLD::USER',
    );
    expect(
      await session.eval('(live-lisp:call-tool "eval_form" :form "(package-name *package*)")', {
        package: 'told',
      }),
    ).toContain('"TOLD"');
  });

  test('are read in the package that code gives, and searched for in all', async () => {
    expect(await session.eval('(live-lisp:call-tool "who_calls" :name "used" :package "told")')).toContain(
      'TOLD::USER',
    );
    const all = '(gethash "total" (live-lisp:call-tool "apropos_search" :pattern "mapcar"))';
    expect(await session.eval(all, { package: 'told' })).toBe(await session.eval(all));
  });
});
