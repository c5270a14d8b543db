// S0 while the image changes: every answer is about the image as it is, never as it was.

import { beforeAll, expect, test } from 'vitest';
import { LONG } from '../long.ts';
import { expectOracle, searchText, sharedFixture } from '../oracle.ts';

const fixture = sharedFixture();
beforeAll(async () => {
  await fixture.session.text('apropos_search', { pattern: 'anything' });
});

/** Evaluates FORM, and checks that all searches that it may have changed are still complete. */
async function afterChange(form: string): Promise<void> {
  const { isError, text } = await fixture.session.call('eval_form', { form });
  expect(isError, text).toBe(false);
  await expectOracle(fixture, [{ pattern: 'live-change' }, { pattern: 'live-change', type: 'function' }]);
}

function rowsText(...rows: string[]): string {
  return searchText('live-change', rows);
}

function found(): Promise<string> {
  return fixture.session.text('apropos_search', { pattern: 'live-change' });
}

test('S0.6 S0.15 a new export is found at once', async () => {
  await afterChange('(progn (defpackage "LC" (:use "CL")) (export (intern "LIVE-CHANGE-1" "LC") "LC"))');
  expect(await found()).toBe(rowsText('LC::LIVE-CHANGE-1 [SYMBOL]'));
});

test('S0.6 an export that takes the place of another is found, and the other is not', async () => {
  await afterChange(
    '(progn (intern "LIVE-CHANGE-2" "LC") (unexport (find-symbol "LIVE-CHANGE-1" "LC") "LC") (export (find-symbol "LIVE-CHANGE-2" "LC") "LC"))',
  );
  expect(await found()).toBe(rowsText('LC::LIVE-CHANGE-2 [SYMBOL]'));
  for (let turn = 0; turn < 4; turn += 1) {
    const [off, on] = turn % 2 === 0 ? ['2', '1'] : ['1', '2'];
    await afterChange(
      `(progn (unexport (find-symbol "LIVE-CHANGE-${off}" "LC") "LC") (export (find-symbol "LIVE-CHANGE-${on}" "LC") "LC"))`,
    );
    expect(await found()).toBe(rowsText(`LC::LIVE-CHANGE-${on} [SYMBOL]`));
  }
});

test('S0.17 a label follows every definition', async () => {
  await afterChange('(defun lc::live-change-2 ())');
  expect(await found()).toBe(rowsText('LC::LIVE-CHANGE-2 [FUNCTION]'));
  await afterChange("(progn (fmakunbound 'lc::live-change-2) (defmacro lc::live-change-2 ()))");
  expect(await found()).toBe(rowsText('LC::LIVE-CHANGE-2 [MACRO]'));
  await afterChange("(progn (fmakunbound 'lc::live-change-2) (defclass lc::live-change-2 () ()))");
  expect(await found()).toBe(rowsText('LC::LIVE-CHANGE-2 [CLASS]'));
  await afterChange("(progn (setf (find-class 'lc::live-change-2) nil) (defvar lc::live-change-2))");
  expect(await found()).toBe(rowsText('LC::LIVE-CHANGE-2 [VARIABLE]'));
});

test('S0.15 a package that also exports the symbol adds no second line', async () => {
  await afterChange(
    '(progn (defpackage "LC.MORE" (:use)) (import \'lc::live-change-2 "LC.MORE") (export \'lc::live-change-2 "LC.MORE"))',
  );
  expect(await found()).toBe(rowsText('LC::LIVE-CHANGE-2 [VARIABLE]'));
});

test('S0.8 S0.14 a renamed package shows its new name, and the old name is gone', async () => {
  await afterChange('(rename-package "LC" "A.LC")');
  expect(await found()).toBe(rowsText('A.LC::LIVE-CHANGE-2 [VARIABLE]'));
  expect(await fixture.session.text('apropos_search', { pattern: 'x', package: 'LC' })).toBe(
    'Package LC not found',
  );
});

test('S0.15 C10 a renamed package takes its new place in the order', async () => {
  await afterChange('(progn (make-package "M.LC" :use ()) (export (intern "LIVE-CHANGE-2" "M.LC") "M.LC"))');
  expect(await found()).toBe(rowsText('A.LC::LIVE-CHANGE-2 [VARIABLE]', 'M.LC::LIVE-CHANGE-2 [SYMBOL]'));
  await afterChange('(rename-package "A.LC" "Z.LC")');
  expect(await found()).toBe(rowsText('M.LC::LIVE-CHANGE-2 [SYMBOL]', 'Z.LC::LIVE-CHANGE-2 [VARIABLE]'));
});

test('S0.15 C10 a package that swaps its name with its nickname takes its new place as well', async () => {
  const rows = (home: string) => [`${home}::LIVE-CHANGE-2 [VARIABLE]`, 'M.LC::LIVE-CHANGE-2 [SYMBOL]'];
  for (const [name, nickname] of ['AZ', 'ZA', 'AZ', 'ZA'].map((pair) =>
    [...pair].map((letter) => `${letter}.LC`),
  )) {
    await afterChange(`(rename-package (symbol-package 'lc.more::live-change-2) "${name}" '("${nickname}"))`);
    const expected = name === 'A.LC' ? rows('A.LC') : rows('Z.LC').reverse();
    expect(await found()).toBe(rowsText(...expected));
  }
});

test('S0.15 C10 a symbol that loses or changes its home takes its new place in the order', async () => {
  await afterChange(
    '(progn (defvar cl-user::*homeless* (find-symbol "LIVE-CHANGE-2" "Z.LC")) (unintern cl-user::*homeless* "Z.LC"))',
  );
  expect(await found()).toBe(rowsText('#::LIVE-CHANGE-2 [VARIABLE]', 'M.LC::LIVE-CHANGE-2 [SYMBOL]'));
  await afterChange('(import cl-user::*homeless* "Z.LC")');
  expect(await found()).toBe(rowsText('M.LC::LIVE-CHANGE-2 [SYMBOL]', 'Z.LC::LIVE-CHANGE-2 [VARIABLE]'));
});

test('S0.6 an uninterned symbol is gone, and one interned in its place is another', async () => {
  await afterChange('(unintern (find-symbol "LIVE-CHANGE-2" "M.LC") "M.LC")');
  expect(await found()).toBe(rowsText('Z.LC::LIVE-CHANGE-2 [VARIABLE]'));
  await afterChange(
    '(progn (export (intern "LIVE-CHANGE-2" "M.LC") "M.LC") (setf (fdefinition (find-symbol "LIVE-CHANGE-2" "M.LC")) #\'car))',
  );
  expect(await found()).toBe(rowsText('M.LC::LIVE-CHANGE-2 [FUNCTION]', 'Z.LC::LIVE-CHANGE-2 [VARIABLE]'));
});

test('S0.9 a deleted package is not found, and what it exported is gone', async () => {
  await afterChange('(delete-package "M.LC")');
  expect(await found()).toBe(rowsText('Z.LC::LIVE-CHANGE-2 [VARIABLE]'));
  expect(await fixture.session.text('apropos_search', { pattern: 'x', package: 'M.LC' })).toBe(
    'Package M.LC not found\nDid you mean A.LC or Z.LC?',
  );
});

test("S0.6 a package made again under a deleted one's name is searched anew", async () => {
  await afterChange('(progn (make-package "M.LC" :use ()) (export (intern "LIVE-CHANGE-3" "M.LC") "M.LC"))');
  expect(await found()).toBe(rowsText('Z.LC::LIVE-CHANGE-2 [VARIABLE]', 'M.LC::LIVE-CHANGE-3 [SYMBOL]'));
});

test('S0.6 hundreds of new exports, and their removal, are seen', async () => {
  await afterChange('(dotimes (i 500) (export (intern (format nil "LIVE-CHANGE-MANY-~D" i) "M.LC") "M.LC"))');
  await afterChange(
    '(dotimes (i 500) (unless (= i 250) (unintern (find-symbol (format nil "LIVE-CHANGE-MANY-~D" i) "M.LC") "M.LC")))',
  );
  const many = await fixture.session.text('apropos_search', { pattern: 'live-change-many' });
  expect(many).toBe(searchText('live-change-many', ['M.LC::LIVE-CHANGE-MANY-250 [SYMBOL]']));
  // After all these changes each symbol of all packages is still found.
  await expectOracle(fixture, [{ pattern: '' }]);
});

test('S0.6 S0.15 C10 after changes at random, a search finds what going through all packages finds', async () => {
  const { isError, text } = await fixture.session.call('load_file', { path: 'fixtures/random-exports.lisp' });
  expect(isError, text).toBe(false);
  expect(await fixture.session.eval(`(random-exports::wrong-searches ${LONG ? 150 : 50})`)).toBe('NIL');
});

test('S0.7 a package of its own follows the same changes', async () => {
  await fixture.session.eval('(intern "LIVE-CHANGE-INSIDE" "APP")');
  const inside = { pattern: 'live-change', package: 'APP' };
  await expectOracle(fixture, [inside]);
  expect(await fixture.session.text('apropos_search', inside)).toBe(
    rowsText('APP::LIVE-CHANGE-INSIDE [SYMBOL]'),
  );
  await fixture.session.eval('(unintern (find-symbol "LIVE-CHANGE-INSIDE" "APP") "APP")');
  expect(await fixture.session.text('apropos_search', inside)).toBe(rowsText());
});
