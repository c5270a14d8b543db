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
  await afterChange('(progn (defpackage "LC" (:use "CL")) (export (intern "LIVE-CHANGE-2" "LC") "LC"))');
  expect(await found()).toBe(rowsText('LC::LIVE-CHANGE-2 [SYMBOL]'));
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

test('S0.8 S0.14 a renamed package shows its new name, and the old name is gone', async () => {
  await afterChange('(rename-package "LC" "A.LC")');
  expect(await found()).toBe(rowsText('A.LC::LIVE-CHANGE-2 [VARIABLE]'));
  expect(await fixture.session.text('apropos_search', { pattern: 'x', package: 'LC' })).toBe(
    'Package LC not found',
  );
});

test('S0.9 a deleted package is not found, and what it exported is gone', async () => {
  await afterChange('(delete-package "A.LC")');
  expect(await found()).toBe(rowsText());
  expect(await fixture.session.text('apropos_search', { pattern: 'x', package: 'A.LC' })).toMatch(
    /^Package A\.LC not found/,
  );
});

test('S0.6 hundreds of new exports, and their removal, are seen', async () => {
  await fixture.session.eval('(make-package "M.LC" :use ())');
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
