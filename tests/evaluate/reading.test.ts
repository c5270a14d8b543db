// Forms that cannot be read: what is wrong, where, and that nothing is interned.

import { describe, expect, test } from 'vitest';
import { bad, NO_SYSTEMS } from '../harness.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession({ args: NO_SYSTEMS });

function unreadable(
  what: string,
  number: number,
  begins: [number, number],
  stopped: [number, number],
): string {
  return (
    `Error: form ${number} cannot be read: ${what}\n` +
    `The form begins at line ${begins[0]}, column ${begins[1]}; reading stopped at line ${stopped[0]}, column ${stopped[1]}. `
  );
}

describe('what is wrong and where', () => {
  const END = 'the text ends inside this form';

  test.each([
    ['(list 1 2', unreadable(END, 1, [1, 1], [1, 10])],
    [
      '\n\n  (list 1\n 2',
      `${unreadable(END, 1, [3, 3], [4, 3])}Its indentation says that line 3 lacks ")" at its end. `,
    ],
    ['|open', unreadable(END, 1, [1, 1], [1, 6])],
    [')', unreadable('unmatched close parenthesis', 1, [1, 1], [1, 2])],
    ['no-such-package::x', unreadable('Package NO-SUCH-PACKAGE does not exist.', 1, [1, 1], [1, 19])],
    ['#.(error "at ~a time" :read)', unreadable('at READ time', 1, [1, 1], [1, 29])],
    ['(1 . 2 3)', unreadable('More than one object follows . in list.', 1, [1, 1], [1, 9])],
  ])('%j', async (form, text) => {
    expect(await session.call('eval_form', { form })).toEqual(bad(`${text}Nothing was evaluated.`));
  });

  test('a symbol that is not external names the symbol and the package', async () => {
    await session.eval('(defpackage :shut (:use :cl)) (intern "INSIDE" :shut)');
    const text = await session.eval('(list shut:inside)');
    expect(text).toMatch(
      /^Error: form 1 cannot be read: .*INSIDE.* SHUT .*\nThe form begins at line 1, column 1;/,
    );
    expect(text).toMatch(/external/);
  });

  test('columns count characters, not octets', async () => {
    expect(await session.eval('"äöü" "λ𝄞" (list #<)')).toMatch(
      /form 3 cannot be read: .*\nThe form begins at line 1, column 12; reading stopped at line 1, column 20\./,
    );
  });

  test('the forms before are evaluated', async () => {
    const wrong = unreadable('unmatched close parenthesis', 3, [1, 5], [1, 6]);
    expect(await session.eval('1 2 )')).toBe(
      `${wrong}Forms 1 to 2 were evaluated.\n\nValues of the forms before the failed one:\n[1] 1\n[2] 2`,
    );
  });

  test('a package that the call itself makes can be used by the forms after', async () => {
    expect(await session.eval("(defpackage :just-made (:export #:x)) 'just-made:x")).toBe(
      '[1] #<PACKAGE "JUST-MADE">\n[2] JUST-MADE:X',
    );
  });
});

describe('nothing is interned', () => {
  async function present(name: string, ofPackage = 'CL-USER'): Promise<boolean> {
    return (await session.eval(`(nth-value 1 (find-symbol "${name}" "${ofPackage}"))`)) !== 'NIL';
  }

  test.each([
    '(fresh-a (fresh-b',
    '(fresh-a fresh-b no-such-package::x)',
    '(fresh-a #.(list (quote fresh-b) (error "no")))',
  ])('by %s', async (form) => {
    expect((await session.call('eval_form', { form })).isError).toBe(true);
    expect([await present('FRESH-A'), await present('FRESH-B')]).toEqual([false, false]);
  });

  test('no keyword either', async () => {
    await session.eval('(list :fresh-key #<)');
    expect(await present('FRESH-KEY', 'KEYWORD')).toBe(false);
  });

  test('nor in another package that the form names', async () => {
    await session.eval('(defpackage :elsewhere (:use))');
    await session.eval('(list elsewhere::fresh-there #<)');
    expect(await present('FRESH-THERE', 'ELSEWHERE')).toBe(false);
  });

  test('but what was there before stays, and so do the forms before', async () => {
    await session.eval('(defvar *old-one* 5)');
    await session.eval("(list 'kept-by-form-1) (list *old-one* 'kept-by-form-1 #<)");
    expect(await session.eval('*old-one*')).toBe('5');
    expect(await present('KEPT-BY-FORM-1')).toBe(true);
  });
});

test('*read-eval* nil is respected', async () => {
  const text = await session.eval('(setf *read-eval* nil) (list #.(+ 1 2))');
  expect(text).toMatch(/^Error: form 2 cannot be read: can't read #\. while \*READ-EVAL\* is NIL/);
  expect(await session.eval('(setf *read-eval* t)')).toBe('T');
});
