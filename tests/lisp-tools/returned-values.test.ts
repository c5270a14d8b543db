// How a value that a tool returned to code is told, and in which package code names things.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
const session = sharedSession(
  { args: ['--root', root.path] },
  '(defpackage :told (:use :cl))\n(in-package :told)\n(defun used () 1)\n(defun user () (used))\n(in-package :cl-user)',
);

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

  test('is told as the tool itself tells it when that is long', async () => {
    const methods = Array.from(
      { length: 60 },
      (_, each) => `(defmethod told::many ((x (eql ${each})))\n  (list ${'x '.repeat(250)}${each}))\n`,
    );
    root.put('many.lisp', `(defgeneric told::many (x))\n${methods.join('')}`);
    await session.call('load_file', { path: 'many.lisp' });
    const own = await session.text('read_definition', { name: 'told::many', methods: true });
    expect(own.length).toBeGreaterThan(20_000);
    expect(await session.eval('(live-lisp:call-tool "read_definition" :name "told::many" :methods t)')).toBe(
      own,
    );
  });

  test('is told of a long file by its first lines and where to read on, and has all of it as data', async () => {
    const lines = Array.from({ length: 3000 }, (_, row) => `;; This is the line ${row + 1} of a long file.`);
    const file = join(root.path, 'long.lisp');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const call = `(live-lisp:call-tool "read_file" :path "${file}")`;
    const said = await session.eval(call);
    const [head = '', , ...shown] = said.split('\n');
    expect(head).toMatch(
      new RegExp(
        `long\\.lisp, lines 1 to ${shown.length} of 3000, \\d+ bytes; start_line ${shown.length + 1} reads on$`,
      ),
    );
    expect(shown).toEqual(lines.slice(0, shown.length));
    expect(await session.eval(`(count #\\Newline (gethash "text" ${call}))`)).toBe('2999');
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
