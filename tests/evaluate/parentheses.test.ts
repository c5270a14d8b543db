// What is said of parentheses that are wrong, by whatever meets them.

import { beforeEach, describe, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';

const TWO = '(defun one (x)\n  (let ((y (+ x 1)))\n    (* y 2)))\n\n(defun two (x)\n  (one x))\n';
const OPEN = TWO.replace('1)))', '1))');
const CLOSED = TWO.replace('1)))', '1))))');

const OPEN_TEXT =
  'the form that begins at line 1 does not end. Its indentation says that line 2 lacks ")" at its end. The form at line 5 was read as part of that form.';
const CLOSED_TEXT =
  'the form that begins at line 1 ends too early. Its indentation says that line 2 has 1 ")" too many.';

const at = sharedWorkspace();
beforeEach(() => {
  at.human = () => APPROVE;
});

describe('wrong parentheses', () => {
  test('are placed by eval_form', async () => {
    expect(await at.answer('eval_form', { form: OPEN })).toMatch(
      /cannot be read: the text ends inside this form\nThe form begins at line 1, column 1; reading stopped at line 7, column 1\. Its indentation says that line 2 lacks "\)" at its end\. The form at line 5 was read as part of that form\. Nothing was /,
    );
    expect(await at.answer('eval_form', { form: '(+ 1 2' })).toBe(
      'failed: Error: form 1 cannot be read: the text ends inside this form\nThe form begins at line 1, column 1; reading stopped at line 1, column 7. Nothing was evaluated.',
    );
  });

  test('are placed by load_file and load_system', async () => {
    at.put('open.lisp', OPEN);
    at.put('closed.lisp', CLOSED);
    at.put('unbalanced.asd', '(defsystem "unbalanced" :components ((:file "open")))');
    expect(await at.answer('load_file', { path: 'open.lisp' })).toContain(`\n\nopen.lisp: ${OPEN_TEXT}`);
    expect(await at.answer('load_file', { path: 'closed.lisp' })).toContain(
      `\n\nclosed.lisp: ${CLOSED_TEXT}`,
    );
    expect(await at.answer('load_system', { system: 'unbalanced' })).toContain(`\n\nopen.lisp: ${OPEN_TEXT}`);
    at.put('right.lisp', '(in-package :cl-user)\n(defun three () (undefined-one))\n(error "at load")');
    expect(await at.answer('load_file', { path: 'right.lisp' })).not.toContain('indentation');
  });

  test('are told when a file was written with them, after the text of the contract', async () => {
    const warning = 'Warning: Lisp can no longer read the whole file.';
    expect(await at.answer('write_file', { path: 'new.lisp', content: OPEN })).toBe(
      `Wrote ${OPEN.length} bytes to new.lisp\n\n${warning} new.lisp: ${OPEN_TEXT}`,
    );
    expect(await at.answer('write_file', { path: 'new.lisp', content: CLOSED })).toBe(
      `Wrote ${CLOSED.length} bytes to new.lisp`,
    );
    expect(await at.answer('write_file', { path: 'comment.lisp', content: `${TWO}#| (three)\n` })).toContain(
      `\n\n${warning} comment.lisp: the comment that begins at line 7 does not end.`,
    );
    expect(await at.answer('write_file', { path: 'new.txt', content: OPEN })).toBe(
      `Wrote ${OPEN.length} bytes to new.txt`,
    );
    at.put('edited.lisp', TWO);
    const edit = { path: 'edited.lisp', original: '(+ x 1)))', modified: '(+ x 1))' };
    expect(await at.answer('propose_file_edit', edit)).toMatch(/^Changed edited\.lisp/);
    expect(
      await at.answer('propose_file_edit', { ...edit, original: '(+ x 1))', modified: '(+ x 1)))' }),
    ).not.toContain('Warning');
    expect(await at.answer('propose_file_edit', { ...edit, modified: '(+ x 1))))' })).toContain(
      `\n\n${warning} edited.lisp: ${CLOSED_TEXT}`,
    );
  });
});
