// macroexpand_form on the fixture: exact texts.

import { describe, expect, test } from 'vitest';
import type { Answer } from '../harness.ts';
import { prepare, sharedLooks } from './looks.ts';

const session = sharedLooks();

function expand(form: string, more: Record<string, unknown> = {}): Promise<Answer> {
  return session.call('macroexpand_form', { form, package: 'LOOKS', ...more });
}

async function expansion(form: string, more: Record<string, unknown> = {}): Promise<string> {
  const { text, isError } = await expand(form, more);
  expect(isError, text).toBe(false);
  return text;
}

describe('modes', () => {
  test.each([
    [{ mode: 'one' }, '(TWICE (TWICE (F)))'],
    [{ mode: 'full' }, '(PROGN (TWICE (F)) (TWICE (F)))'],
    [{ mode: '' }, '(PROGN (TWICE (F)) (TWICE (F)))'],
    [{ mode: 'all' }, '(PROGN (PROGN (F) (F)) (PROGN (F) (F)))'],
  ])('%j', async (more, text) => {
    expect(await expansion('(four-times (f))', more)).toBe(text);
  });

  test('all follows local macros and leaves what is quoted', async () => {
    const form = "(macrolet ((here (x) (list 'twice x))) (list (here (f)) '(twice (f))))";
    expect(await expansion(form, { mode: 'all' })).toContain("(LIST (PROGN (F) (F)) '(TWICE (F)))");
  });

  test('symbol macros expand too', async () => {
    expect(await expansion('first-unit')).toBe('(CAR (LIST *UNIT*))');
    expect(await expansion('(list first-unit)', { mode: 'all' })).toBe('(LIST (CAR (LIST *UNIT*)))');
  });
});

describe('printing', () => {
  test('is in the package of the form, in lines', async () => {
    expect(await expansion('(with-unit (2) (f))')).toBe("(LET ((*UNIT* 2))\n  (LIST #'EQL (F)))");
    expect(await expansion('(looks:with-unit (2) (f))', { package: 'CL-USER' })).toBe(
      "(LET ((LOOKS:*UNIT* 2))\n  (LIST #'EQL (F)))",
    );
  });

  test('shows symbols that a macro made without marks', async () => {
    expect(await expansion('(with-names)')).toMatch(/^\(LET \(\((#:A\d+) 1\)\)\n {2}\(LIST \1 \1\)\)$/);
  });

  test('shows a circular literal with marks, and it ends', async () => {
    expect(await expansion('(ring)')).toBe("'#1=(A B . #1#)");
  });

  test('shows an object whose print method fails by its class', async () => {
    await prepare(session, '(defclass looks::silent () ())');
    await prepare(session, '(defmethod print-object ((o looks::silent) s) (error "No."))');
    await prepare(
      session,
      "(defmacro looks::with-object () `(list ,(make-instance 'looks::silent) ,(looks::at 1 2)))",
    );
    expect(await expansion('(with-object)')).toBe('(LIST #<LOOKS::SILENT> #<LOOKS::POINT>)');
  });

  test('C13 is bounded, and says that it was cut', async () => {
    await prepare(session, "(defmacro looks::wide () (cons 'list (loop for i below 10000 collect i)))");
    const text = await expansion('(wide)');
    expect(text).toMatch(/^\(LIST 0\s+1\s+2\s+3\s/);
    expect(text).toMatch(/\n\[\.\.\. cut here \.\.\.\]$/);
    expect(text.length).toBeLessThan(10_100);
  });
});

describe('what is no macro form', () => {
  test.each([
    ['(plain 1)', '(PLAIN 1)', ' LOOKS::PLAIN is a function.'],
    ['(quote x)', "'X", ' COMMON-LISP::QUOTE is a special operator.'],
    ['(nope 1)', '(NOPE 1)', ' LOOKS::NOPE is not defined as a macro or function.'],
    ['*unit*', '*UNIT*', ' LOOKS::*UNIT* is a variable.'],
    ['nope', 'NOPE', ' LOOKS::NOPE is not defined as a variable or symbol macro.'],
    ['42', '42', ''],
    ['((lambda (x) x) 1)', '((LAMBDA (X) X) 1)', ''],
  ])('%s says so', async (form, text, what) => {
    expect(await expansion(form)).toBe(`${text}\n\nNote: it is not a macro form.${what}`);
  });

  test('has no macro form in it either, says mode all', async () => {
    expect(await expansion('(list (car x))', { mode: 'all' })).toBe(
      '(LIST (CAR X))\n\nNote: it contains no macro forms.',
    );
  });
});

describe('what goes wrong', () => {
  const error = (text: string) => ({ text, notices: [], isError: true });

  test('C8 an error of the macro is told as by eval_form', async () => {
    const { text, isError } = await expand('(failing 1)');
    expect(isError).toBe(true);
    expect(text.split('\n').slice(0, 5)).toEqual([
      'Error: No expansion of 1.',
      'Type: COMMON-LISP::SIMPLE-ERROR',
      '',
      'Frames:',
      expect.stringMatching(/^ {2}0: \(\(MACRO-FUNCTION LOOKS::FAILING\) /),
    ]);
  });

  test('an expansion that never ends is interrupted at the limit, and the image goes on', async () => {
    const { text, isError } = await expand('(endless)', { timeout: 0.3 });
    expect(isError).toBe(true);
    expect(text).toMatch(/^Error: Interrupted after \d+\.\d s, past the limit of this call; /);
    expect(await session.eval('(+ 1 2)')).toBe('3');
  });

  test('what the macro writes comes with the answer', async () => {
    expect(await expansion('(talking 1)')).toBe('1\n\nOutput:\nexpanding 1');
  });

  test.each([
    ['', 'Error: there is no form to expand: the text contains only white space or comments.'],
    ['(a) (b)', 'Error: there is text after the first form; nothing was expanded. Give one form per call.'],
    [
      '(a',
      'Error: form 1 cannot be read: the text ends inside this form\nThe form begins at line 1, column 1; reading stopped at line 1, column 3. Nothing was evaluated.',
    ],
  ])('C8 %j is an error that says what to do', async (form, text) => {
    expect(await expand(form)).toEqual(error(text));
  });

  test('C8 S2.18 an unknown package, and a form that is missing', async () => {
    expect(await expand('(a)', { package: 'No Where' })).toEqual(error('Package No Where not found'));
    expect(await session.call('macroexpand_form', {})).toEqual(error("Required parameter 'form' missing"));
  });

  test('expanding evaluates nothing, and leaves * and the package as they were', async () => {
    await prepare(session, '(defvar looks::*done* nil)');
    await session.eval('(list :before)');
    await expansion('(twice (setf *done* t))', { mode: 'all' });
    expect(await session.eval('(list * looks::*done* (package-name *package*))')).toBe(
      '((:BEFORE) NIL "COMMON-LISP-USER")',
    );
  });

  test('without a code walker mode all says what to do instead', async () => {
    const gone =
      '(sb-ext:without-package-locks (dolist (p \'("SB-WALKER" "SB-CLTL2")) (let ((s (and (find-package p) (find-symbol "MACROEXPAND-ALL" p)))) (when s (fmakunbound s)))))';
    await prepare(session, gone);
    const answer = await expand('(when a b)', { mode: 'all' });
    expect(answer).toEqual(
      error(
        'Error: mode all needs the code walker of the contrib sb-cltl2, which this SBCL lacks. Expand the inner forms one by one, with mode full.',
      ),
    );
  });
});
