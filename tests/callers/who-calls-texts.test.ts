// S3.17 and C31: the texts of loaded files, which are read again for what their top-level forms call.

import { spawnSync } from 'node:child_process';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedFixture } from '../oracle.ts';
import { sharedFolder } from '../shared.ts';

const folder = sharedFolder();
const fixture = sharedFixture();
const { session } = fixture;

/** Writes SOURCE into the file NAME, has another SBCL compile it, loads what that made, and returns the file. */
async function loaded(name: string, source: string): Promise<string> {
  const file = join(folder.path, name);
  writeFileSync(file, source);
  // A file with the date of its fasl may have changed since that was made.
  utimesSync(file, 1_000_000_000, 1_000_000_000);
  const flags = ['--noinform', '--no-sysinit', '--no-userinit', '--non-interactive'];
  const sbcl = process.env['LIVE_LISP_SBCL'] || 'sbcl';
  expect(spawnSync(sbcl, [...flags, '--eval', `(compile-file ${JSON.stringify(file)})`]).status).toBe(0);
  const fasl = file.replace(/lisp$/, 'fasl');
  expect((await session.call('eval_form', { form: `(load ${JSON.stringify(fasl)})` })).isError).toBe(false);
  return file;
}

test('S3.17 S0.19 to read a file again evaluates, prints and interns nothing', async () => {
  await loaded(
    'quiet.lisp',
    `(defpackage "QUIET" (:use "COMMON-LISP"))
(in-package "QUIET")
(eval-when (:compile-toplevel :load-toplevel :execute) (defvar *evaluated* 0))
(defun goal (x) x)
(defmacro noisy (form) (print :noise) form)
(defun local-names (only-in-this-text) only-in-this-text)
(defparameter *made* (noisy (let ((another-in-this-text 1)) (goal (list another-in-this-text '#.(incf *evaluated*))))))
`,
  );
  await session.eval('(contract-oracle::remember-symbols)');
  expect(await session.call('who_calls', { name: 'quiet::goal' })).toEqual({
    text: 'Other places that call QUIET::GOAL:\n\n  QUIET::*MADE* (initial value)',
    notices: [],
    isError: false,
  });
  expect(await session.eval('(contract-oracle::new-symbols)')).toBe('NIL');
  expect(await session.eval('quiet::*evaluated*')).toBe('0');
});

test('C31 a file that cannot be read to its end is named where nobody is known to call the function', async () => {
  const file = await loaded(
    'broken.lisp',
    `(defpackage :gone (:use :cl))
(defpackage :broken (:use :cl))
(in-package :broken)
(defun early (x) x)
(defun late (x) x)
(early 1)
(late 'gone::thing)
`,
  );
  await session.eval('(delete-package :gone)');
  expect(await session.text('who_calls', { name: 'broken::early' })).toBe(
    `Other places that call BROKEN::EARLY:\n\n  top-level form at ${file}:6`,
  );
  expect(await session.text('who_calls', { name: 'broken::late' })).toMatch(
    /^Possible callers:\n\n {2}top-level form at .*broken\.lisp:7\nNote: not all top-level forms of .*broken\.lisp could be read \(.*GONE.*\); search_in_buffer finds names in that file\.$/,
  );
});

const CHANGING = '(defpackage :changing (:use :cl))\n(in-package :changing)\n(defun goal (x) x)\n(goal 1)\n';

test('S3.11 the text that was loaded counts, also when the file changed before it was read again', async () => {
  const file = await loaded('changing.lisp', CHANGING);
  writeFileSync(file, '(in-package :changing)\n(defun goal (x) x)\n');
  spawnSync('touch', ['-d', '2002-01-01', file]);
  expect(await session.text('who_calls', { name: 'changing::goal' })).toBe(
    `Other places that call CHANGING::GOAL:\n\n  top-level form of ${file}`,
  );
});

test('C31 a form of a file that changed after it was compiled, and before its fasl was loaded, is named', async () => {
  const file = await loaded('compiled.lisp', CHANGING.replaceAll('changing', 'compiled'));
  const fasl = await session.eval(`(namestring (compile-file ${JSON.stringify(file)}))`);
  writeFileSync(file, '(in-package :compiled)\n(defun goal (x) x)\n');
  spawnSync('touch', ['-d', '2002-01-01', file]);
  await session.eval(`(load ${fasl})`);
  expect(await session.text('who_calls', { name: 'compiled::goal' })).toContain(
    `Other places that call COMPILED::GOAL:\n\n  top-level form of ${file}`,
  );
});
