// Rewriting all calls of a function in one edit, as after a change of its lambda list.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';

const at = sharedWorkspace();

const RATE = `(defpackage :ec (:use :cl) (:export #:rate))
(in-package :ec)
(defun rate (a b &optional c &key d) (list a b c d))
`;

const USES = `(in-package :ec)

(defun plain () (rate 1 (list 2 3)))
(defun full (x) (rate x 2 (rate 4 5 6) :d (first x)))
(defun through () (funcall #'rate 1 2 3))
(defun mapped (list) (mapcar #'rate list list))
(defun applied (list) (apply 'rate list))
(defmacro made (x) \`(rate ,x 1))
(defun local () (flet ((rate (x) x)) (rate 1)))
(defun commented () (rate 1 ; one
  2))
(defun computed (key) (rate 1 2 3 key 4))
(defun few () (rate 1))
(defun long-name-of-a-caller (first-argument second-argument)
  (rate (concatenate 'string first-argument "and") (concatenate 'string second-argument "more") nil))
`;

const OTHER = `(defpackage :ec-other (:use :cl :ec))
(in-package :ec-other)
(defun far () (rate 1 2))
(defun qualified () (ec:rate 3 4 5))
`;

const CALLS = {
  definition: 'ec:rate',
  op: 'calls',
  old: '(rate a b &optional c &key d)',
  new: '(rate c :tariff a :zone b :day d)',
};
const read = (path: string) => readFileSync(join(at.root, path), 'utf8');
const edit = (...edits: object[]) => at.answer('edit_definitions', { edits });

beforeAll(async () => {
  at.human = () => APPROVE;
  at.put('rate.lisp', RATE);
  await at.answer('load_file', { path: 'rate.lisp' });
});

beforeEach(() => {
  at.put('rate.lisp', RATE);
  at.put('uses.lisp', USES);
  at.put('other/far.lisp', OTHER);
});

describe('an edit of all calls', () => {
  test('rewrites those that fit, in all files, and names the others', async () => {
    at.human = () => APPROVE;
    expect(await edit({ ...CALLS, new: '(rate :tariff a :zone b :place c :day d)' })).toBe(
      `Changed uses.lisp: 4 forms, +6 −4. It has 12 top-level forms now.
  3: (defun plain)
  4: (defun full)
  5: (defun through)
  14-17: (defun long-name-of-a-caller)
Changed other/far.lisp: lines 3, 4, +2 −2. It has 4 top-level forms now.

Note: there is no package EC-OTHER in the image, so names in other/far.lisp were not looked up.

Not changed: uses.lisp:6: as a function.
Not changed: uses.lisp:7: as a name.
Not changed: uses.lisp:8: in a backquote or as data.
Not changed: uses.lisp:10: a comment, #+, #- or a dot stands between its arguments.
Not changed: uses.lisp:12: its keywords are not written out.
Not changed: uses.lisp:13: it has fewer arguments than 'old'.`,
    );
    expect(read('uses.lisp').split('\n').slice(2, 5)).toEqual([
      '(defun plain () (rate :tariff 1 :zone (list 2 3)))',
      '(defun full (x) (rate :tariff x :zone 2 :place (rate :tariff 4 :zone 5 :place 6) :day (first x)))',
      "(defun through () (funcall #'rate :tariff 1 :zone 2 :place 3))",
    ]);
    expect(read('uses.lisp')).toContain(`  (rate :tariff (concatenate 'string first-argument "and")
        :zone (concatenate 'string second-argument "more")
        :place nil))
`);
    expect(read('other/far.lisp')).toContain(
      '(defun far () (rate :tariff 1 :zone 2))\n(defun qualified () (ec:rate :tariff 3 :zone 4 :place 5))\n',
    );
  });

  test('leaves a call whose new form needs an argument that it does not give', async () => {
    expect(await edit(CALLS)).toContain(
      "Not changed: other/far.lisp:3: it lacks an argument that 'new' needs: C.",
    );
    expect(read('other/far.lisp')).toContain('(ec:rate 5 :tariff 3 :zone 4)');
  });

  test('goes with the edit of the definition itself, in one question', async () => {
    const questions = at.questions.length;
    const definition = {
      definition: 'ec:rate',
      text: '(defun rate (&key tariff zone) (if (rate 1 2) (list tariff zone)))',
    };
    const answer = await edit(definition, { ...CALLS, old: '(rate a b)', new: '(rate :tariff a :zone b)' });
    expect(answer).toMatch(/^Changed rate.lisp/);
    expect(at.questions.length).toBe(questions + 1);
    expect(read('rate.lisp')).toContain('(if (rate 1 2)');
    expect(read('other/far.lisp')).toContain('(rate :tariff 1 :zone 2)');
  });

  test('moves the lines of an argument with it, but no string over lines', async () => {
    at.put(
      'uses.lisp',
      `(in-package :ec)
(defun lines (x)
  (rate (list x
              (list 1
                    2))
        (list "one
 two"
              x)))
`,
    );
    await edit({ ...CALLS, path: 'uses.lisp', old: '(rate a b)', new: '(rate :zone b :tariff a)' });
    expect(read('uses.lisp')).toBe(`(in-package :ec)
(defun lines (x)
  (rate :zone (list "one
 two"
              x)
        :tariff (list x
                      (list 1
                            2))))
`);
  });

  test('counts what closes behind a call to its line', async () => {
    const wide = `"${'x'.repeat(68)}"`;
    at.put('uses.lisp', `(in-package :ec)\n(defun wide () (progn (rate 1 ${wide})))\n`);
    await edit({ ...CALLS, path: 'uses.lisp', old: '(rate a b)', new: '(rate a :b b)' });
    expect(read('uses.lisp')).toContain(`(rate 1\n${' '.repeat(28)}:b ${wide})))\n`);
  });

  test('takes &rest, forms around parameters, and another function', async () => {
    await edit({ ...CALLS, old: '(rate a &rest more)', new: '(price (list a) more 7)' });
    expect(read('uses.lisp')).toContain('(defun plain () (price (list 1) (list 2 3) 7))');
    expect(read('other/far.lisp')).toContain('(price (list 3) 4 5 7)');
  });
});

const PRICES = `(in-package :ec)
(defun price (a b &key day) (list a b day))
(defun spare (a &optional b &key day) (list a b day))
(defun marked (mode &optional b) (list mode b))
(defun shout (level text &rest more) (list level text more))
(defgeneric shown (a &key))
(defmethod shown ((a integer) &key day) day)
(defpackage :ec-two (:use :cl) (:import-from :ec #:rate))
(in-package :ec-two)
(defun price (a) a)
(defun spare (a b c d) (list a b c d))
`;

describe('an edit of all calls leaves those that would lack an argument', () => {
  const kept = (line: number, why: string) => `Not changed: uses.lisp:${line}: ${why}`;
  const needs = (parameter: string) => `it lacks an argument that 'new' needs: ${parameter}.`;
  const mayNeed = (parameter: string, name: string) =>
    `it lacks an argument that 'new' may need: ${parameter}. Change this call in a separate edit, or first load the new definition of ${name}.`;
  const tooFew = (given: number, required: number, name: string) =>
    `'new' gives it too few arguments: ${given}, and ${name} requires ${required}. Change this call in a separate edit, or first load the new definition of ${name}.`;

  beforeAll(async () => {
    at.put('prices.lisp', PRICES);
    await at.answer('load_file', { path: 'prices.lisp' });
  });

  /** Rewrites CALLS, each on a line from line 2 on, by the pattern from OLD to REPLACEMENT, after EDITS. Returns their
   *  lines in the file then, and the lines of the answer about those that stay. */
  async function rewritten(calls: readonly string[], old: string, replacement: string, ...edits: object[]) {
    at.put('uses.lisp', `(in-package :ec)\n${calls.join('\n')}\n`);
    const answer = await edit(...edits, { ...CALLS, path: 'uses.lisp', old, new: replacement });
    return [read('uses.lisp').trimEnd().split('\n').slice(1), answer.match(/^Not changed: .*$/gm) ?? []];
  }

  test('an optional argument that the function of new requires, or not', async () => {
    const calls = ['(rate 1 2)', '(rate 1)'];
    const old = '(rate a &optional b)';
    expect(await rewritten(calls, old, '(price a b)')).toEqual([
      ['(price 1 2)', '(rate 1)'],
      [kept(3, needs('B'))],
    ]);
    expect(await rewritten(calls, old, '(spare a b)')).toEqual([['(spare 1 2)', '(spare 1)'], []]);
    expect(await rewritten(calls, old, '(list a b)')).toEqual([
      ['(list 1 2)', '(rate 1)'],
      [kept(3, needs('B'))],
    ]);
  });

  test('no more than those that a call in its own package lacks', async () => {
    const calls = ['(rate 1)', '(in-package :ec-two)', '(rate 1)'];
    const old = '(rate a &rest more)';
    expect(await rewritten(calls, old, '(price a more)')).toEqual([
      ['(rate 1)', '(in-package :ec-two)', '(price 1)'],
      [kept(2, tooFew(1, 2, 'PRICE'))],
    ]);
    expect(await rewritten(calls, old, '(ec::price a more)')).toEqual([
      calls,
      [kept(2, tooFew(1, 2, 'PRICE')), kept(4, tooFew(1, 2, 'PRICE'))],
    ]);
  });

  test('with keywords, which are no positional arguments', async () => {
    expect(
      await rewritten(
        ['(rate 1 2)', '(rate 1 :day 5)', '(rate 1)'],
        '(rate a &rest more)',
        '(price a more :day 7)',
      ),
    ).toEqual([
      ['(price 1 2 :day 7)', '(rate 1 :day 5)', '(rate 1)'],
      [kept(3, tooFew(1, 2, 'PRICE')), kept(4, tooFew(1, 2, 'PRICE'))],
    ]);
    expect(
      await rewritten(
        ['(rate 1 :c 2 :d 3)', '(rate 1 :d 3)', '(rate 1 :c 2)', '(rate 1)'],
        '(rate a &key c d)',
        '(spare a c :day d)',
      ),
    ).toEqual([['(spare 1 2 :day 3)', '(rate 1 :d 3)', '(spare 1 2)', '(spare 1)'], [kept(3, needs('C'))]]);
  });

  test('after a keyword that is no keyword of the function', async () => {
    const calls = ['(rate 1 2)', '(rate 1)'];
    const old = '(rate a &optional b)';
    expect(await rewritten(calls, old, '(marked :fast b)')).toEqual([
      ['(marked :fast 2)', '(marked :fast)'],
      [],
    ]);
    expect(await rewritten(calls, old, '(shout :day a b)')).toEqual([
      ['(shout :day 1 2)', '(rate 1)'],
      [kept(3, needs('B'))],
    ]);
    expect(await rewritten(calls, old, '(shown a :day b)')).toEqual([['(shown 1 :day 2)', '(shown 1)'], []]);
  });

  test('of a function that the image does not have', async () => {
    const calls = ['(rate 1 2 3 :d 4)', '(rate 1 2 :d 4)', '(rate 1 2 3)', '(rate 1 2)'];
    expect(await rewritten(calls, '(rate a b &rest more)', '(absent a more)')).toEqual([
      ['(absent 1 3 :d 4)', '(absent 1 :d 4)', '(absent 1 3)', '(absent 1)'],
      [],
    ]);
    expect(await rewritten(['(rate 2)', '(rate)'], '(rate &rest more)', '(absent :fast more)')).toEqual([
      ['(absent :fast 2)', '(rate)'],
      [kept(3, mayNeed('MORE', 'ABSENT'))],
    ]);
  });

  test('of a function that the same call edits', async () => {
    const calls = ['(rate 1 2 3)', '(rate 1 2)'];
    const own = { definition: 'ec:rate', text: '(defun rate (a b c) (list a b c))' };
    expect(await rewritten(calls, '(rate a b &optional c)', '(rate b a c)', own)).toEqual([
      ['(rate 2 1 3)', '(rate 1 2)'],
      [kept(3, needs('C'))],
    ]);
    const absent = { path: 'rate.lisp', text: '(defun absent (a &key fast) (list a fast))' };
    expect(await rewritten(calls, '(rate a b &optional c)', '(absent a :fast c)', absent)).toEqual([
      ['(absent 1 :fast 3)', '(absent 1)'],
      [],
    ]);
  });

  test('of the function itself, by its definition in the image', async () => {
    expect(await rewritten(['(rate 1 2 3)', '(rate 1 2)'], '(rate a b &optional c)', '(rate b a c)')).toEqual(
      [['(rate 2 1 3)', '(rate 2 1)'], []],
    );
    expect(
      await rewritten(['(rate 1 2 3)', '(rate 1 2)'], '(rate a b &optional c)', '(rate a :b c)'),
    ).toEqual([['(rate 1 :b 3)', '(rate 1 2)'], [kept(3, needs('C'))]]);
    at.put('uses.lisp', '(in-package :ec)\n(rate 1 2)\n');
    expect(await edit({ ...CALLS, path: 'uses.lisp', old: '(rate a b)', new: '(rate a)' })).toBe(
      `failed: These edits change no call.\n${kept(2, tooFew(1, 2, 'RATE'))}`,
    );
  });
});

describe('an edit of all calls that is wrong says why', () => {
  test.each([
    [{ old: '(rate a' }, "Parameter 'old' must be one call, such as (area shape &key unit)."],
    [{ new: 'x' }, "Parameter 'new' must be one call, such as (area :of shape)."],
    [
      { old: '(rate a #| the rest |# b)' },
      "Parameter 'old' has a dot, a comment, #+ or #- between its elements. Leave this out: the new calls would lose it.",
    ],
    [{ old: '(rate 5)' }, "Parameter 'old' must have a plain symbol for each argument, not 5."],
    [{ old: '(rate &aux b)' }, "Parameter 'old' can have only &optional, &rest and &key, not &AUX."],
    [{ old: '(rite a)' }, "Parameter 'old' must be a call of ec:rate."],
    [{ text: '(x)' }, "op: \"calls\" takes only 'definition', 'old', 'new' and 'path'."],
    [
      { definition: undefined, path: 'uses.lisp' },
      "Parameter 'definition' is missing. Give the name of the function whose calls are to change.",
    ],
    [{ definition: '(setf rate)' }, 'op: "calls" needs the name of a function or macro, not (setf rate).'],
    [
      { definition: 'ec::none', old: '(none a)' },
      'ec::none is not a function in the image, so its calls are unknown. Load its definition first.',
    ],
  ])('%j', async (wrong, why) => {
    expect(await edit({ ...CALLS, ...wrong })).toBe(`failed: edits[0]: ${why}`);
  });
});
