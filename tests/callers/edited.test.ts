// Where who_calls and impact_of_change tell top-level forms of a file that was edited after it was loaded.

import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';

const LOADED = `(defpackage :edited (:use :cl))
(in-package :edited)
(defun target (x) x)
(defvar *gone* (target 1))
(print (target 2))
(defclass kept () ((slot :initform (target 3))))
`;
/** The same with a form above, one that goes and one that changes. */
const EDITED = LOADED.replace('(defun', '(defun above () (target 0))\n(defun')
  .replace(/\(defvar.*\n/, '')
  .replace('2', '7');

const folder = temporaryFolder();
let session: Session;
beforeAll(async () => {
  session = await startSession({ args: ['--root', folder.path] });
});
afterAll(async () => {
  await session.close();
  folder.remove();
});

/** Writes TEXT to the file NAME, as of SECONDS after a day in the past. */
function write(name: string, text: string, seconds: number): void {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  utimesSync(path, 1_700_000_000 + seconds, 1_700_000_000 + seconds);
}

async function callers(name: string): Promise<string> {
  const text = await session.text('who_calls', { name, sites: true });
  return text.split('Other places')[1] ?? text;
}

test.each([['before'], ['after']])('forms are told as they are now, asked %s the edit', async (first) => {
  const file = `${first}.lisp`;
  write(file, LOADED.replaceAll('edited', first), 0);
  await session.text('load_file', { path: file });
  if (first === 'before')
    expect(await callers('before::target')).toContain(`${file}:5:8  (print (target 2))`);
  write(file, EDITED.replaceAll('edited', first), 10);
  const name = first.toUpperCase();
  expect(await callers(`${first}::target`)).toBe(` that call ${name}::TARGET:

  top-level form of ${file}
  top-level form at ${file}:5
    ${file}:5:8  (print (target 7)) (changed since it was loaded)
  ${name}::KEPT (slot initform)
    ${file}:6:36  (defclass kept () ((slot :initform (target 3)))) (the file changed since it was loaded, but not here)`);
});

test('a call in a form that did not change is checked', async () => {
  const impact = await session.text('impact_of_change', { name: 'before::target', lambda_list: '(x y)' });
  expect(impact).toContain(`Calls that no longer fit (1 of 1 call):
  BEFORE::KEPT (slot initform)  before.lisp:6:36  (defclass kept () ((slot :initform (target 3))))  [1 argument, at least 2 needed]`);
});
