// Calls by code that would wait for what waits for them: they run, or are refused at once.

import { beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
const session = sharedSession({ args: ['--root', root.path] });

/** Writes the system NAME whose one file has FORM. */
function writeSystem(name: string, form: string): void {
  root.put(`${name}.asd`, `(defsystem "${name}" :components ((:file "${name}")))`);
  root.put(`${name}.lisp`, `(in-package :cl-user) ${form}`);
}

const REFUSAL =
  'Another system is being loaded. That load waits for the code that made this call, and this call would wait for that load, so neither would end. Let the code of that system load this one directly, name this one in the :depends-on of that system, or load this one afterwards.';

describe('compile_form', () => {
  const inner = String.raw`(live-lisp:call-tool :compile-form :form \"(defmacro inner-macro () (undefined-there))\")`;

  test.each([
    ['a macro that it expands', inner.replaceAll('\\"', '"')],
    ['an evaluation by such a macro', `(live-lisp:call-tool :eval-form :form "${inner}")`],
  ])('S2.21 runs within %s, and both take back what they define', async (_, call) => {
    const form = `(macrolet ((made () (if (hash-table-p ${call}) 7 8))) (defun outer-function () (made)))`;
    const answer = await session.call('compile_form', { form, timeout: 300 });
    expect(answer.text).toMatch(/^Compiled the form without warnings\./);
    expect(await session.eval("(or (fboundp 'outer-function) (macro-function 'inner-macro))")).toBe('NIL');
  });

  test('S2.21 by code gets its turn while all places are taken and others wait for it', async () => {
    const form =
      '(sleep 0.5) (hash-table-p (live-lisp:call-tool :compile-form :form "(defun not-kept () 1)"))';
    const evaluations = Array.from({ length: 8 }, () => session.eval(form, { timeout: 300 }));
    const compilations = Array.from({ length: 2 }, () =>
      session.text('compile_form', { form: '(defun not-kept-either () 2)', timeout: 300 }),
    );
    for (const text of await Promise.all(evaluations)) expect(text).toBe('[1] NIL\n[2] T');
    for (const text of await Promise.all(compilations)) expect(text).toMatch(/^Compiled the form/);
  });
});

describe('load_system', () => {
  beforeAll(() => writeSystem('needed', '(defvar *needed* t)'));

  test('S2.21 by an evaluation for which a system that is being loaded waits is refused at once', async () => {
    writeSystem(
      'indirect',
      `(defvar *message* nil)
       (live-lisp:call-tool :eval-form :form
         "(handler-case (live-lisp:call-tool :load-system :system \\"needed\\" :timeout 300)
            (live-lisp:tool-error (e) (setf *message* (live-lisp:tool-error-message e))))")`,
    );
    expect(await session.text('load_system', { system: 'indirect' })).toMatch(/^Loaded system indirect/);
    expect(await session.eval("(values *message* (boundp '*needed*))")).toBe(`"${REFUSAL}"\nNIL`);
  });

  test('S2.21 by the code of that system itself runs', async () => {
    writeSystem('direct', '(live-lisp:call-tool :load-system :system "needed")');
    expect(await session.text('load_system', { system: 'direct' })).toMatch(/^Loaded system direct/);
    expect(await session.eval('*needed*')).toBe('T');
  });
});
