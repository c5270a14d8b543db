// Where edit_definitions puts text that stands beside no definition, and what it says when a name has none of its own.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';

const at = sharedWorkspace();
beforeEach(() => {
  at.questions.length = 0;
  at.human = () => APPROVE;
});

function edit(...edits: object[]): Promise<string> {
  return at.answer('edit_definitions', { edits });
}

function bytes(path: string): string {
  return readFileSync(join(at.root, path), 'latin1');
}

const NEW = '(defun f ()\n  2)';

test('changed forms of one name are told on one line, and of many names some', async () => {
  const methods = Array.from({ length: 6 }, (_, each) => `(defmethod size ((x (eql ${each})))\n  1)`);
  const others = Array.from({ length: 20 }, (_, each) => `(defun function-number-${each} () 1)`);
  at.put(
    'many.lisp',
    [...methods, '(defgeneric two (x))', '(defmethod two ((x list)) 1)', ...others].join('\n'),
  );
  const rows = (from: number, to: number) =>
    others.slice(from, to).map((_, each) => `  ${15 + from + each}: (defun function-number-${from + each})`);
  expect(await edit({ path: 'many.lisp', old: ' 1)', new: ' 2)', all: true })).toBe(
    [
      'Changed many.lisp: 27 forms, +28 −28. It has 28 top-level forms now.',
      '  6 defmethod size, lines 1-2, ..., 11-12',
      '  14: (defmethod two ((x list)))',
      ...rows(0, 7),
      '  and 13 more',
    ].join('\n'),
  );
});

describe('without a definition', () => {
  test('text comes to the end of a file, in its line ends', async () => {
    at.put('end.lisp', '(defun f ()\r\n  1)');
    expect(
      await edit({ path: 'end.lisp', text: '(defun g ()\n  2)\n' }, { path: 'end.lisp', text: '(h)' }),
    ).toBe('Changed end.lisp: lines 4-5, 7, +6 −1. It has 3 top-level forms now.');
    expect(bytes('end.lisp')).toBe('(defun f ()\r\n  1)\r\n\r\n(defun g ()\r\n  2)\r\n\r\n(h)\r\n');
  });

  test('it makes a new file, also beside a change of others and in a new folder', async () => {
    at.put('old.lisp', '(defun f () 1)\n');
    expect(
      await edit(
        { path: 'made.lisp', text: '(defun made () 1)' },
        { definition: 'f', path: 'old.lisp', text: NEW },
      ),
    ).toBe(`Created made.lisp. It has 1 top-level form now.
Changed old.lisp: lines 1-2, +2 −1. It has 1 top-level form now.`);
    expect(bytes('made.lisp')).toBe('(defun made () 1)\n');
    expect(await edit({ path: 'new/made.lisp', text: '(defun made () 1)' })).toMatch(
      /^Created new\/made\.lisp/,
    );
    const edits = [{ path: 'loaded.lisp', text: '(defun made-and-loaded () 42)' }];
    expect(await at.answer('edit_definitions', { edits, load: true })).toContain(
      'Loaded 1 form of loaded.lisp',
    );
    expect(await at.answer('eval_form', { form: '(made-and-loaded)' })).toBe('42');
  });

  test('old and new are of the file', async () => {
    at.put('part.lisp', '(defun f ()\r\n  1)\r\n; 1 and 3\r\n(defun g ()\r\n  3)\r\n');
    expect(
      await edit(
        { path: 'part.lisp', old: '(defun g ()\n  3)', new: '(defun g ()\n  4)' },
        { path: 'part.lisp', op: 'replace', old: '()\n  1)', new: '()\n  2)' },
      ),
    ).toBe('Changed part.lisp: lines 1-2, 4-5, +2 −2. It has 2 top-level forms now.');
    expect(bytes('part.lisp')).toBe('(defun f ()\r\n  2)\r\n; 1 and 3\r\n(defun g ()\r\n  4)\r\n');
    at.questions.length = 0;
    expect(await edit({ path: 'part.lisp', old: '(defun', new: '(defmacro' })).toBe(
      'failed: edits[0].old occurs 2 times in part.lisp, at lines 1, 4; nothing was changed. Give more of the text around it, or all: true.',
    );
    expect(await edit({ path: 'part.lisp', old: '(nothing)', new: '1' })).toBe(
      'failed: edits[0].old was not found in part.lisp; nothing was changed. No similar text was found; read_file shows the current text.',
    );
    expect(await edit({ path: 'part.lisp', old: '()\n  2)', new: '()\n  2' })).toMatch(
      /^failed: edits\[0\], part\.lisp with new in place of old: /,
    );
    expect(await edit({ path: 'none.lisp', old: '1', new: '2' })).toMatch(/^failed: /);
    expect(at.questions).toEqual([]);
  });

  test('it is refused at the end of a file that does not end', async () => {
    at.put('open.lisp', '(a)\n#| open');
    expect(await edit({ path: 'open.lisp', text: '(g)' })).toBe(
      'failed: open.lisp: the comment that begins at line 2 does not end.\nNothing was changed. Correct the text and call again.',
    );
    expect(at.questions).toEqual([]);
  });

  test('a new folder is not made with a change of others', async () => {
    at.put('old.lisp', '(defun f () 1)\n');
    expect(
      await edit({ path: 'none/made.lisp', text: '(a)' }, { definition: 'f', path: 'old.lisp', text: NEW }),
    ).toBe(
      'failed: The folder of none/made.lisp does not exist; nothing was written. Create that file in a separate call.',
    );
    expect(bytes('old.lisp')).toBe('(defun f () 1)\n');
  });
});

test('where a name comes from is told when no form has it', async () => {
  at.put(
    'made-by.lisp',
    '(defclass made-by () ((slot :accessor made-by-slot)))\n(defgeneric made-area (x))\n(defmethod made-area ((x string)) 1)\n',
  );
  await at.answer('load_file', { path: 'made-by.lisp' });
  expect(await edit({ definition: 'made-by-slot', text: '(a)' })).toBe(
    'failed: edits[0]: made-by-slot is defined by the form at made-by.lisp:1, which has another name. Edit that form.',
  );
  expect(await edit({ definition: '(defmethod made-area (integer))', text: '(a)' })).toBe(
    `failed: edits[0]: there is no such definition of made-area. Existing ones:
  made-by.lisp:3  (defmethod made-area ((x string)))
Give one of these as 'definition', or its line as 'line'.`,
  );
});

describe('a name that several definitions have', () => {
  beforeAll(() => {
    const rate = (home: string) => `(in-package ${home})\n(defun rate (x) x)\n`;
    at.put('rate-a.lisp', `${rate('rates-a')}(define-compiler-macro rate (x) x)\n`);
    at.put('rate-b.lisp', rate('rates-b'));
  });

  test('is the one of the kind that the new text defines', async () => {
    const text = '(define-compiler-macro rate (x) (list 1 x))';
    expect(await edit({ path: 'rate-a.lisp', definition: 'rate', text })).toBe(
      'Changed rate-a.lisp: line 3, +1 −1. It has 3 top-level forms now.\n\nNote: there is no package RATES-A in the image, so names in rate-a.lisp were not looked up.',
    );
    expect(bytes('rate-a.lisp')).toBe(`(in-package rates-a)\n(defun rate (x) x)\n${text}\n`);
  });

  test('is asked for with its package where it has two', async () => {
    const rows = [
      '  rate-a.lisp:2  (defun rate)  in package rates-a',
      '  rate-b.lisp:2  (defun rate)  in package rates-b',
    ];
    expect(await edit({ definition: '(defun rate)', op: 'delete' })).toBe(
      `failed: edits[0]: rate matches 2 definitions:\n${rows.join('\n')}\nGive the name with its package: rates-a::rate or rates-b::rate.`,
    );
    at.put('halt.lisp', '(in-package one)\n(defun halt () 1)\n(in-package two)\n(defun halt () 2)\n');
    expect(await edit({ path: 'halt.lisp', definition: 'halt', op: 'delete' })).toBe(
      `failed: edits[0]: halt matches 2 definitions:
  halt.lisp:2  (defun halt)  in package one
  halt.lisp:4  (defun halt)  in package two
Give the name with its package: one::halt or two::halt.`,
    );
    expect(await edit({ path: 'halt.lisp', definition: 'two::halt', op: 'delete' })).toMatch(/^Changed halt/);
    expect(bytes('halt.lisp')).toBe('(in-package one)\n(defun halt () 1)\n(in-package two)\n');
  });

  test('is asked for with its path where the forms are alike', async () => {
    at.put('toll-a.lisp', '(in-package rates-a)\n(defun toll (x) x)\n');
    at.put('toll-b.lisp', '(in-package rates-a)\n(defun toll (x) x)\n');
    expect(await edit({ definition: '(defun toll)', op: 'delete' })).toBe(
      "failed: edits[0]: toll matches 2 definitions:\n  toll-a.lisp:2  (defun toll)\n  toll-b.lisp:2  (defun toll)\nGive 'path', too.",
    );
  });
});

describe('in files of several packages that are not loaded', () => {
  beforeAll(() => {
    at.put(
      'stops-a.lisp',
      '(in-package :stops-a)\n(defgeneric stop (x))\n(defmethod stop ((x (eql :now))) 1)\n(defun (setf stop) (new x) new)\n#+sbcl (defun os () 1)\n#-sbcl (defun os () 2)\n(in-package "Stops")\n(defun stop () 3)\n(defun stopped () 4)\n',
    );
    at.put('stops-b.lisp', '(in-package :stops-b)\n(defmethod stops-a:stop ((x string)) 2)\n');
  });
  const stop = (definition: string, more: object = {}) =>
    edit({ definition, old: 'not-there', new: 'there', ...more });

  test.each([
    ['stops-a::stop', '(defgeneric stop) at stops-a.lisp:2'],
    ["#'(setf stops-a::stop)", '(defun (setf stop)) at stops-a.lisp:4'],
    ['(defmethod stop ((eql :now)))', '(defmethod stop ((x (eql :now)))) at stops-a.lisp:3'],
    ['|Stops|::stop', '(defun stop) at stops-a.lisp:8'],
  ])('%s is found', async (definition, place) => {
    expect(await stop(definition)).toContain(`failed: edits[0].old was not found in ${place}; `);
  });

  test('a generic function comes before methods of its name in other files', async () => {
    expect(await stop('stop')).toBe(`failed: edits[0]: stop matches 2 definitions:
  stops-a.lisp:2  (defgeneric stop)  in package stops-a
  stops-a.lisp:8  (defun stop)  in package |Stops|
Give one of these as 'definition', or its line as 'line'.`);
    expect(await stop('stopped', { line: 1, path: 'stops-a.lisp' })).toBe(
      "failed: edits[0]: there is no such definition of stopped at line 1. Existing ones:\n  stops-a.lisp:9  (defun stopped)\nGive one of these as 'definition', or its line as 'line'.",
    );
  });

  test('one that a feature excludes is named, and how to change it; one that a feature includes is found', async () => {
    const excluded =
      "failed: edits[0]: #+ or #- excludes the definition of stops-a::os at stops-a.lisp:6 in this image. To change it, give 'path', 'old' and 'new' without 'definition'.";
    expect(await stop('stops-a::os', { line: 6 })).toBe(excluded);
    expect(await stop('stops-a::os')).toContain('old was not found in (defun os) at stops-a.lisp:5; ');
    at.put('else.lisp', '(in-package :stops-a)\n#-sbcl\n(defun elsewhere () 2)\n');
    expect(await stop('stops-a::elsewhere', { path: 'else.lisp' })).toBe(
      "failed: edits[0]: #+ or #- excludes the definition of stops-a::elsewhere at else.lisp:3 in this image. To change it, give 'path', 'old' and 'new' without 'definition'.",
    );
    await edit({ path: 'else.lisp', old: '() 2', new: '() 3' });
    expect(bytes('else.lisp')).toBe('(in-package :stops-a)\n#-sbcl\n(defun elsewhere () 3)\n');
  });

  test('what they define by the name is told where they lack the method', async () => {
    expect(await stop('(defmethod stop :around (string))')).toBe(
      `failed: edits[0]: there is no such definition of stop. Existing ones:
  stops-a.lisp:3  (defmethod stop ((x (eql :now))))  in package stops-a
  stops-b.lisp:2  (defmethod stops-a:stop ((x string)))  in package stops-b
Give one of these as 'definition', or its line as 'line'.`,
    );
    expect(await stop('other::stopped')).toBe(
      'failed: edits[0]: stops-a.lisp defines other::stopped only in another package. Give the name with its package: |Stops|::stopped.',
    );
  });
});

test('a package whose name has lower case is found by its name in bars', async () => {
  await at.answer('eval_form', { form: '(defpackage "lowCase" (:use :cl))' });
  at.put('low.lisp', '(in-package "lowCase")\n(defun low () 1)\n');
  await at.answer('load_file', { path: 'low.lisp' });
  expect(await at.answer('read_definition', { name: '|lowCase|::low' })).toBe(
    'low.lisp:2  lowCase::LOW [FUNCTION]\n\n(defun low () 1)',
  );
  expect(await at.answer('read_definition', { name: 'other::low' })).toBe(
    'low.lisp:2  other::low (found by its name in the file, in package |lowCase|)\n\n(defun low () 1)',
  );
});

test('a definition in a binding of its name is that, and one in a binding of nothing is found', async () => {
  at.put('bound.lisp', '(let (table) (defun table () (or table 1)))\n(let () (defun helper () 1))\n');
  const edits = [
    { path: 'bound.lisp', definition: 'table', text: '(defun table () 2)' },
    { path: 'bound.lisp', definition: 'helper', text: '(defun helper () 2)' },
  ];
  expect(await edit(...edits)).toContain('Changed bound.lisp: ');
  expect(bytes('bound.lisp')).toBe('(let (table) (defun table () 2))\n(let () (defun helper () 2))\n');
});

test('a name with its package is found among many files that have the name in others', async () => {
  const days = Array.from({ length: 25 }, (_, day) => `day${day + 1}`);
  for (const day of days) at.put(`${day}.lisp`, `(in-package ${day})\n(defun part-one () 1)\n`);
  expect(await edit({ definition: 'day20::part-one', text: '(defun part-one () 2)' })).toContain(
    'Changed day20.lisp: ',
  );
  expect(bytes('day20.lisp')).toBe('(in-package day20)\n(defun part-one () 2)\n');
  for (const day of days) rmSync(join(at.root, `${day}.lisp`));
});

describe('beside a file that is in no workspace and loaded', () => {
  const OUTSIDE = '(in-package :cl-user)\n(defmethod outer ((it t) (other t)) (list it))\n';
  beforeAll(async () => {
    const file = join(at.root, '../outside/outer.lisp');
    writeFileSync(file, OUTSIDE);
    await at.answer('eval_form', { form: `(load "${file}")` });
  });

  test('what can be meant by a name, and is in a workspace, is changed there', async () => {
    at.put('mine.lisp', '(defmethod outer ((it shape) other)\n  (list it))\n');
    expect(await edit({ definition: '(defmethod outer (shape t))', old: 'list it', new: 'list other' })).toBe(
      'Changed mine.lisp: lines 1-2, +1 −1. It has 1 top-level form now.',
    );
    expect(bytes('mine.lisp')).toContain('list other');
  });

  test('what only that file has is refused', async () => {
    rmSync(join(at.root, 'mine.lisp'));
    expect(await edit({ definition: 'cl-user::outer', old: 'list it', new: 'list' })).toMatch(
      /^failed: Path .*outer\.lisp is outside the workspace /,
    );
    expect(readFileSync(join(at.root, '../outside/outer.lisp'), 'utf8')).toBe(OUTSIDE);
  });
});
