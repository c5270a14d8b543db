// What rename_symbol changes in files and in the image, and what it refuses before a human is asked.

import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { APPROVE, DENY, openWorkspace, sharedWorkspace } from '../files/sessions.ts';

const PACKAGE = '(defpackage :shop (:use :cl) (:export #:total #:item))\n';
const CODE = `(in-package :shop)

(defvar *rate* 2)

(defstruct item price (count 1))

(defclass basket () ((items :initarg :items :initform '() :accessor items)))

(defun total (basket &key (rate *rate*))
  "Return the TOTAL of BASKET."
  (* rate (reduce #'+ (mapcar #'item-price (items basket)))))

(defmacro with-total ((variable basket) &body body)
  \`(let ((,variable (total ,basket))) ,@body))
`;
const USE = `(in-package :shop)

(defun report (basket)
  (with-total (sum basket) (format nil "~A" sum)))
`;

const FILES: readonly (readonly [path: string, content: string])[] = [
  ['package.lisp', PACKAGE],
  ['code.lisp', CODE],
  ['use.lisp', USE],
];

const at = sharedWorkspace();
beforeEach(async () => {
  at.questions.length = 0;
  at.human = () => APPROVE;
  // A test that changed no file has left the image as it was, too.
  if (FILES.every(([path, content]) => existsSync(join(at.root, path)) && text(path) === content)) return;
  await at.answer('eval_form', { form: '(when (find-package :shop) (delete-package :shop))' });
  for (const [path, content] of FILES) at.put(path, content);
  for (const [path] of FILES) await at.answer('load_file', { path });
});

function rename(name: string, to: string, more: object = {}): Promise<string> {
  return at.answer('rename_symbol', { name, to, ...more });
}

function text(path: string): string {
  return readFileSync(join(at.root, path), 'utf8');
}

function value(form: string): Promise<string> {
  return at.answer('eval_form', { form });
}

// The first, since it builds again what the tests before it have done.
test('an image that is built again has the new names', async () => {
  await rename('shop:total', 'sum-of');
  await at.answer('restart_image', {});
  expect(await value("(list (fboundp 'shop::total) (shop::report (make-instance 'shop::basket)))")).toBe(
    '(NIL "0")',
  );
  expect(await value('(nth-value 1 (find-symbol "TOTAL" :shop))')).not.toBe(':EXTERNAL');
});

test('a dry run tells the places, asks nobody and changes nothing', async () => {
  at.human = () => DENY;
  expect(await rename('shop:total', 'sum-of', { dry_run: true })).toBe(
    [
      'Would rename SHOP::TOTAL to SUM-OF: 3 places in 2 files (lines):',
      '  code.lisp: 9, 14',
      '  package.lisp: 1',
      '',
      'Not changed, 1 in comments, strings and other texts (text: true changes them): code.lisp:10.',
    ].join('\n'),
  );
  truncateSync(at.put('huge.lisp', ''), 2 ** 40);
  const other = await rename('shop:total', 'sum', { dry_run: true });
  rmSync(join(at.root, 'huge.lisp'));
  expect(other).toContain(
    'Places that already have the new name, and will refer to the renamed symbol: use.lisp:4.',
  );
  expect(other).toContain('\nNot searched, because unreadable or too large: huge.lisp.');
  expect([text('code.lisp'), at.questions]).toEqual([CODE, []]);
});

test('a function gets its new name in all files and in the image, and whoever has it by a macro', async () => {
  expect(await rename('shop:total', 'sum-of')).toBe(
    [
      'Renamed SHOP::TOTAL to SUM-OF: 3 places in 2 files: code.lisp 2, package.lisp 1.',
      'Not changed, 1 in comments, strings and other texts (text: true changes them): code.lisp:10.',
      '',
      'Loaded again: 3 files. Removed: function SHOP::TOTAL.',
    ].join('\n'),
  );
  expect(text('package.lisp')).toBe(PACKAGE.replace('total', 'sum-of'));
  expect(text('code.lisp')).toBe(CODE.replaceAll('(total', '(sum-of').replace('defun total', 'defun sum-of'));
  expect(at.questions).toHaveLength(1);
  const [head, goesOn, ...shown] = (at.questions[0] ?? '').split('\n');
  expect([head, goesOn]).toEqual([
    'Approve rename_symbol (dangerous)? 2 files, +3 \u22123, then load: rename',
    '\u2026 SHOP::TOTAL to SUM-OF, the first is code.lisp',
  ]);
  expect(shown).toContain('File package.lisp, line 1, +1 \u22121:');
  expect(at.questions[0]).toContain('-(defun total (basket');
  expect(at.questions[0]).toContain('#:sum-of');
  const basket = "(make-instance 'shop::basket :items (list (shop::make-item :price 3)))";
  expect(await value(`(list (shop::report ${basket}) (fboundp 'shop::total))`)).toBe('("6" NIL)');
  expect(await value('(nth-value 1 (find-symbol "SUM-OF" :shop))')).toBe(':EXTERNAL');
  expect(await value('(nth-value 1 (find-symbol "TOTAL" :shop))')).toBe(':INTERNAL');
});

test('comments, strings and other texts follow when asked', async () => {
  at.put('README.md', 'Call `total` or TOTAL, a total of all.\n');
  at.put('data', Buffer.from('(total)\0'));
  expect(await rename('shop:total', 'sum-of', { dry_run: true })).toContain('README.md:1');
  await rename('shop:total', 'sum-of', { text: true });
  expect(text('code.lisp')).toContain('"Return the SUM-OF of BASKET."');
  expect(text('data')).toBe('(total)\0');
  expect(text('README.md')).toBe('Call `sum-of` or SUM-OF, a total of all.\n');
});

test('what DEFSTRUCT makes follows the structure', async () => {
  expect(await rename('shop::item', 'ware')).toMatch(
    /^Renamed SHOP::ITEM to WARE: 3 places in 2 files: code\.lisp 2, package\.lisp 1\.\nWith it: MAKE-ITEM to MAKE-WARE, .*ITEM-PRICE to WARE-PRICE/,
  );
  expect(text('code.lisp')).toContain('(defstruct ware price (count 1))');
  expect(text('code.lisp')).toContain("#'ware-price");
  expect(await value("(list (fboundp 'shop::item-price) (find-class 'shop::item nil))")).toBe('(NIL NIL)');
});

test('accessors and calls of constructors follow a slot', async () => {
  at.put('more.lisp', '(in-package :shop)\n(defun free () (make-item :price 0))\n');
  await at.answer('load_file', { path: 'more.lisp' });
  expect(await rename('shop::price', 'cost')).toContain('With it: ITEM-PRICE to ITEM-COST.');
  expect(text('code.lisp')).toContain('(defstruct item cost (count 1))');
  expect(text('code.lisp')).toContain("#'item-cost");
  expect(text('more.lisp')).toContain('(make-item :cost 0)');
  expect(await value('(shop::item-cost (shop::free))')).toBe('0');
});

test('accessors keep the prefix that a structure gives them', async () => {
  for (const prefix of ['item-', '#:item-', '"ITEM-"']) {
    at.put('code.lisp', CODE.replace('defstruct item', `defstruct (item (:conc-name ${prefix}))`));
    await at.answer('load_file', { path: 'code.lisp' });
    expect(await rename('shop::item', 'ware', { dry_run: true })).not.toContain('ITEM-PRICE');
  }
});

test('instances and values stay', async () => {
  await value("(defvar *b* (make-instance 'shop::basket :items '(1)))");
  await value('(setf shop::*rate* 7)');
  await rename('shop::basket', 'cart');
  await rename('shop::*rate*', '*factor*');
  expect(await value("(list (typep *b* 'shop::cart) (shop::items *b*) (find-class 'shop::basket nil))")).toBe(
    '(T (1) NIL)',
  );
  expect(await value("(list shop::*factor* (boundp 'shop::*rate*))")).toBe('(7 NIL)');
});

test('a new name of a slot of a class is told with the instances that lose its value', async () => {
  await value("(defvar *c* (make-instance 'shop::basket :items '(1)))");
  expect(await rename('shop::items', 'wares')).toMatch(
    /\n\nClasses whose slots changed: SHOP::BASKET \(new SHOP::WARES; gone SHOP::ITEMS; \d+ instances? changes? when next used\)\.$/,
  );
});

test('keyword parameters keep their keyword unless asked', async () => {
  const result = await rename('shop::rate', 'factor', { dry_run: true });
  expect(result).toContain('2 places in 1 file (lines):\n  code.lisp: 9, 11');
  await rename('shop::rate', 'factor');
  expect(text('code.lisp')).toContain('&key ((:rate factor) *rate*)');
  await rename('shop::factor', 'scale', { keywords: true });
  expect(text('code.lisp')).toContain('&key ((:rate scale) *rate*)');
});

test('the bytes of a file stay but for the name', async () => {
  at.put(
    'latin.lisp',
    Buffer.from('(in-package :shop)\r\n; caf\xe9 \r\n(defun latin ()\r\n  (total 1))', 'latin1'),
  );
  await rename('shop:total', 'sum-of');
  expect(readFileSync(join(at.root, 'latin.lisp'), 'latin1')).toBe(
    '(in-package :shop)\r\n; caf\xe9 \r\n(defun latin ()\r\n  (sum-of 1))',
  );
});

test('a load that fails leaves the old definitions', async () => {
  at.put('code.lisp', `${CODE}\n(error "no")\n`);
  const answer = await rename('shop::*rate*', '*factor*');
  expect(answer).toContain('The load of code.lisp did not finish.');
  expect(answer).toContain(
    '\nNone of these files was loaded to its end. The files are written, but the image keeps the definitions under the old name. Correct the errors below, then load the files with load_file.\n',
  );
  expect(await value("(boundp 'shop::*rate*)")).not.toBe('NIL');
});

test('a symbol that shadows another leaves its place to that', async () => {
  at.put(
    'shadow.lisp',
    '(defpackage :dark (:use :cl) (:shadow #:list))\n(in-package :dark)\n(defun list () 1)\n',
  );
  await at.answer('load_file', { path: 'shadow.lisp' });
  expect(await rename('dark::list', 'enumerate')).toBe(
    'Renamed DARK::LIST to ENUMERATE: 2 places in 1 file: shadow.lisp 2.\n\nLoaded again: 1 file. Removed: function #:LIST.',
  );
  expect(await value("(list (dark::enumerate) (eq 'dark::list 'list))")).toBe('(1 T)');
});

test('what is allowed in advance holds for all files together', async () => {
  const { session, put, close, questions } = await openWorkspace({
    args: ['--allow', 'rename_symbol:*.lisp'],
  });
  try {
    put('one.lisp', '(defun here () 1)\n');
    put('two.lisp', '(defun there () (here))\n');
    for (const path of ['one.lisp', 'two.lisp']) await session.text('load_file', { path });
    expect(await session.text('rename_symbol', { name: 'here', to: 'near' })).toMatch(
      /^Renamed .* in 2 files/,
    );
    put('notes.txt', 'Say `near`.');
    await session.text('rename_symbol', { name: 'near', to: 'far', text: true });
    expect(questions).toHaveLength(1);
    expect(questions[0]).not.toContain('session');
  } finally {
    await close();
  }
});

describe('nothing is changed', () => {
  test('when the human says no', async () => {
    at.human = () => DENY;
    expect(await rename('shop:total', 'sum-of')).toContain('denied by user');
    expect(text('code.lisp')).toBe(CODE);
  });

  test('when a file is another by then', async () => {
    at.human = () => {
      writeFileSync(join(at.root, 'code.lisp'), `${CODE};`);
      return APPROVE;
    };
    expect(await rename('shop:total', 'sum-of')).toBe(
      'failed: What rename_symbol would do has changed since it was approved, so nothing was done. Call it again to ask anew.',
    );
    expect(text('package.lisp')).toBe(PACKAGE);
  });

  /** What is asked for, the new name, and why that cannot be. */
  const REFUSED: [what: string, name: string, to: string, why: string][] = [
    [
      'what is there',
      'shop:total',
      'report',
      'SHOP::TOTAL cannot be renamed:\n  SHOP::REPORT is defined already, as function. Choose another name, or rename that first.',
    ],
    [
      'an inherited name',
      'shop:total',
      'list',
      'SHOP::TOTAL cannot be renamed:\n  In package SHOP the name LIST already means COMMON-LISP::LIST. Choose another name.',
    ],
    [
      'a symbol of Common Lisp',
      'car',
      'first-of',
      'COMMON-LISP::CAR cannot be renamed:\n  CAR is in the locked package COMMON-LISP, and no known file defines CAR.',
    ],
    [
      'a keyword',
      ':use',
      'using',
      'KEYWORD::USE cannot be renamed:\n  :USE is a keyword, which all packages share. Edit the places that use it.',
    ],
    ['the same name', 'shop:total', 'total', 'SHOP::TOTAL has that name already.'],
    [
      'another package',
      'shop:total',
      'cl-user::total',
      "SHOP::TOTAL stays in its package, and CL-USER is another package. Give parameter 'to' without a package.",
    ],
    [
      'no name',
      'shop:total',
      '(a b)',
      "Parameter 'to' must be one symbol without quotes or parentheses, such as new-name, not (a b)",
    ],
    [
      'what a macro makes',
      'shop::item-price',
      'price-of',
      'SHOP::ITEM-PRICE does not occur in its definition at code.lisp:5: a macro generates the name. Rename what the macro generates it from, such as the structure or the slot.',
    ],
    ['no symbol', 'shop::nothing', 'thing', 'Symbol NOTHING not found in package shop (status: NIL)'],
  ];

  test('for what cannot be renamed, nor named so', async () => {
    for (const [what, name, to, why] of REFUSED) {
      expect(await rename(name, to), what).toBe(`failed: ${why}`);
      expect(at.questions, what).toEqual([]);
    }
  });

  test('for what was uninterned', async () => {
    await value('(let ((it (intern "LEFT" :shop))) (import it :cl-user) (unintern it :shop))');
    expect(await rename('cl-user::left', 'right')).toBe(
      'failed: #:LEFT was uninterned, so it cannot be renamed. Rename the symbol that now has this name in the former package, or change the name in the files.',
    );
  });

  test('for what only an evaluation has', async () => {
    await value('(defun shop::loose () 1)');
    expect(await rename('shop::loose', 'tight')).toBe(
      'failed: SHOP::LOOSE occurs in no writable file, so there is nothing to rename. Define it under the new name with eval_form.',
    );
  });
});

test('warnings that the load before has shown are counted', async () => {
  at.put('use.lisp', `${USE}(defun wrong (basket) (never-defined (total basket)))\n`);
  expect(await at.answer('load_file', { path: 'use.lisp' })).toContain(
    'undefined function: SHOP::NEVER-DEFINED',
  );
  expect(await rename('shop::report', 'account')).toMatch(
    /\n\nLoaded again: 1 file\. Removed: function SHOP::REPORT\.\n\nThe same warning as before\.$/,
  );
});

test('a definition that changed in its file after it was loaded, as by another image, is not renamed', async () => {
  at.put('moved.lisp', '(in-package :shop)\n(defun moved () 1)\n');
  await at.answer('load_file', { path: 'moved.lisp' });
  at.put('moved.lisp', '(in-package :shop)\n(defun gone-on () 1)\n');
  expect(await rename('shop::moved', 'elsewhere')).toBe(
    'failed: The definition of SHOP::MOVED in moved.lisp changed after this image loaded it, so nothing was renamed. Call load_file for moved.lisp, then repeat this call if SHOP::MOVED is still there.',
  );
});

test('of two renames of one symbol at once one is made, and the other finds nothing to rename', async () => {
  at.put('twice.lisp', '(in-package :shop)\n(defun twice () 1)\n');
  await at.answer('load_file', { path: 'twice.lisp' });
  const answers = await Promise.all([rename('shop::twice', 'double'), rename('shop::twice', 'doubled')]);
  const refusal =
    'failed: SHOP::TWICE is undefined and occurs in no file, so there is nothing to rename. Another call may have renamed it; apropos_search finds names by substring.';
  expect(answers.toSorted()).toEqual([expect.stringMatching(/^Renamed SHOP::TWICE to DOUBLED?: /), refusal]);
});
