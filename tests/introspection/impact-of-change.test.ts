// What impact_of_change tells: calls, what must be compiled again, methods, classes, tests. Exact texts.

import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { FIXTURES } from '../harness.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { prepare } from './looks.ts';

/** A workspace whose files the tests write. */
const folder = sharedFolder();
const other = sharedSession({ cwd: folder.path });
const session = sharedSession();
beforeAll(async () => {
  expect(await session.text('load_file', { path: 'fixtures/impact.lisp' })).toContain(
    'Loaded fixtures/impact.lisp',
  );
});

const SOURCE = readFileSync(join(FIXTURES, 'impact.lisp'), 'utf8').split('\n');

/** Returns a row for the place of TEXT in the line with WITHIN: the caller, the place, that line, and WHY. */
function row(caller: string, within: string, text: string, why = '', shown = true): string {
  const index = SOURCE.findIndex((line) => line.includes(within));
  const line = SOURCE[index] ?? '';
  const at = `fixtures/impact.lisp:${index + 1}:${line.indexOf(text) + 1}`;
  return `  ${[caller, at, shown && line.trim(), why && `[${why}]`].filter(Boolean).join('  ')}`;
}

const NO_TESTS = 'Tests: unknown, because ASDF has registered no system that tests another (test-op).';
/** Whether PART of an answer is the text of a definition, below its place. */
const isText = (part: string) => /^\S+:\d+(?:-\d+)? {2}\S.*\]\n/.test(part);
const impact = async (name: string, more: object = {}) =>
  (await session.text('impact_of_change', { name, package: 'impact', ...more }))
    .split('\n\n')
    .filter((part) => !isText(part));

const UNKNOWN = [
  row('BY-APPLY', 'by-apply', "#'price", 'as a function'),
  row('BY-FUNCTION', 'by-function', "#'price", 'as a function'),
  row('IN-EXPANSION', 'in-expansion', '(with-price', 'in an expansion'),
  row('WITH-PRICE', '`(let', '(price', 'in a backquote or as data'),
  row('BY-NAME', 'by-name', "'price", 'as a name'),
  row('QUOTED', 'quoted', '(price', 'in a backquote or as data'),
];

describe('a function', () => {
  test('with a new lambda list: calls that no longer fit, cannot be told, or may be none', async () => {
    const why = '2 arguments, at least 3 needed';
    expect(await impact('price', { lambda_list: '(item count currency)' })).toEqual([
      'IMPACT::PRICE [FUNCTION] (ITEM COUNT &KEY CURRENCY)',
      [
        'Calls that no longer fit (6 of 6 calls; names in IMPACT):',
        row('BY-FUNCALL', 'by-funcall', '(funcall', why),
        row('COMPUTED', 'computed', '(price', '4 arguments, at most 3 taken'),
        row('CONDITIONAL', 'conditional', '(price', why),
        row('KEYED', 'keyed', '(price', '4 arguments, at most 3 taken'),
        row('TWO', 'two ()', '(price', why),
        row('*FIRST* (initial value)', '*first*', '(price', why),
      ].join('\n'),
      ['Uses that cannot be checked (6; names in IMPACT):', ...UNKNOWN].join('\n'),
      NO_TESTS,
    ]);
  });

  test('without a change: who is concerned', async () => {
    expect(await impact('price')).toEqual([
      'IMPACT::PRICE [FUNCTION] (ITEM COUNT &KEY CURRENCY)',
      [
        'Calls that its removal would break (6; names in IMPACT):',
        row('BY-FUNCALL', 'by-funcall', '(funcall'),
        row('COMPUTED', 'computed', '(price'),
        row('CONDITIONAL', 'conditional', '(price'),
        row('KEYED', 'keyed', '(price'),
        row('TWO', 'two ()', '(price'),
        row('*FIRST* (initial value)', '*first*', '(price'),
      ].join('\n'),
      ['Uses that cannot be checked (6; names in IMPACT):', ...UNKNOWN].join('\n'),
      NO_TESTS,
    ]);
  });

  test('that is inline, and a macro: who must be compiled again', async () => {
    expect((await impact('twice'))[2]).toBe('Compile these again, because it is inline (1): IMPACT::DOUBLED');
    const why = '1 argument, at least 2 needed';
    expect((await impact('twice', { lambda_list: '(x factor)' }))[1]).toBe(
      [
        'Calls that no longer fit (2 of 2 calls):',
        row('IMPACT::DOUBLED', 'doubled', '(twice (', why),
        row('IMPACT::DOUBLED', 'doubled', '(twice 4', why),
      ].join('\n'),
    );
    const [, , fits, again] = [
      '',
      ...(await impact('with-price', { lambda_list: '((name item) first &body body)' })),
    ];
    expect(fits).toBe('1 call with known arguments: all fit.');
    expect(again).toBe('Compile these again, because it is a macro (1): IMPACT::IN-EXPANSION');
  });

  test('that FORMAT calls by a name in its control string', async () => {
    folder.put(
      'fmt.lisp',
      `(defpackage fmt (:use :cl))
(in-package fmt)
(defun money (stream item &rest more) (declare (ignore more)) (princ item stream))
(defvar *control* "Costs ~6,2:@/fmt::money/.")
(defvar *other* "~/money/ and ~/cl-user:money/ and a/money/b")
`,
    );
    await other.text('load_file', { path: 'fmt.lisp' });
    const text = await other.text('impact_of_change', { name: 'fmt::money', lambda_list: '(x)' });
    expect(text.split('\n\n')[1]).toBe(
      `Uses that cannot be checked (1):\n  FMT::*CONTROL* (initial value)  fmt.lisp:4:26  (defvar *control* "Costs ~6,2:@/fmt::money/.")  [called by FORMAT]`,
    );
  });

  test('with more calls than an answer has room for: each list tells how many more it has', async () => {
    const calls = (operator: string, count: number, more: string) =>
      Array.from(
        { length: count },
        (_, n) => `(defun ${operator}-${n} () (${operator} '(only-${n} ${more})))`,
      );
    const long = 'a '.repeat(90);
    folder.put(
      'room.lisp',
      [
        '(in-package :cl-user) (defun many (x) x)',
        ...calls('many', 400, long),
        "(defun passed () (mapcar #'many '(1)))",
        ...Array.from(
          { length: 400 },
          (_, n) => `(defun as-function-${n} () (mapcar #'many '(only-${n} ${long})))`,
        ),
      ].join('\n'),
    );
    await other.text('load_file', { path: 'room.lisp' });
    const text = await other.text('impact_of_change', { name: 'many', lambda_list: '()', limit: 1000 });
    const [, unfit = '', unknown = '', tests] = text.split('\n\n');
    const shown = (list: string) => list.split('\n').length - 2;
    expect(text).not.toContain('characters left out');
    expect(unfit).toMatch(
      new RegExp(
        `^Calls that no longer fit \\(400 of 400 calls; names in COMMON-LISP-USER; each: 1 argument, at most 0 taken\\):\n[^]*\n  \\.\\.\\. ${400 - shown(unfit)} more$`,
      ),
    );
    expect(unknown).toMatch(
      new RegExp(
        `^Uses that cannot be checked \\(401; names in COMMON-LISP-USER; each: as a function\\):\n[^]*\n  \\.\\.\\. ${401 - shown(unknown)} more$`,
      ),
    );
    expect(tests).toBe(NO_TESTS);
  });

  test('names where it is among data from which it can be called, and not where a class names its accessor', async () => {
    folder.put(
      'a.lisp',
      "(defun served (a) a)\n(defvar *table* '((:one . served)))\n(defun run (name) (apply (cdr (assoc name *table*)) '(1)))\n(defclass item () ((price :accessor item-price)))\n",
    );
    await other.text('load_file', { path: 'a.lisp' });
    expect(await other.text('impact_of_change', { name: 'served' })).toContain(
      "\n\nUses that cannot be checked (1):\n  COMMON-LISP-USER::*TABLE*  a.lisp:2:27  (defvar *table* '((:one . served)))  [named in data, which code may use to call the function]\n",
    );
    expect(await other.text('impact_of_change', { name: 'item-price' })).toContain('\n\nNo calls are known.');
    expect(await other.text('impact_of_change', { name: 'price' })).toBe(
      "COMMON-LISP-USER::PRICE is not defined as a function. It is a slot of COMMON-LISP-USER::ITEM. Give that class as 'name', and the form of the class without the slot as 'definition'.",
    );
  });

  test('in a file that changed since it was loaded is told by what the file has now', async () => {
    const write = (text: string) => folder.put('changing.lisp', text);
    write('(defun changing (a) a)\n(defun user () (changing 1))\n');
    await other.text('load_file', { path: 'changing.lisp' });
    write('(defun changing (a) a)\n\n\n(defun user () (changing 1 2))\n');
    utimesSync(join(folder.path, 'changing.lisp'), 2_000_000_000, 2_000_000_000);
    expect(
      (await other.text('impact_of_change', { name: 'changing', lambda_list: '(a)' }))
        .split('\n\n')
        .slice(1, 3),
    ).toEqual([
      'Uses that cannot be checked (1):\n  COMMON-LISP-USER::USER  changing.lisp  [the file changed since it was loaded]',
      "Possible calls that would not fit, not in SBCL's cross references (1):\n  COMMON-LISP-USER::USER  changing.lisp:4:16  (defun user () (changing 1 2))  [2 arguments, at most 1 taken]",
    ]);
  });
});

describe('a generic function', () => {
  test('with a new lambda list: methods that would not agree', async () => {
    const [, , methods] = await impact('area', {
      definition: '(defgeneric area (shape &key exact precise rough))',
    });
    expect(methods).toBe(
      [
        'Methods that would not be congruent with the generic function (2):',
        row('(COMMON-LISP::STRING)', '(shape string)', '(defmethod', 'does not take :ROUGH', false),
        row(
          '(COMMON-LISP::INTEGER)',
          '(shape integer)',
          '(defmethod',
          'does not take :PRECISE, :ROUGH',
          false,
        ),
      ].join('\n'),
    );
  });

  test.each([
    ['(shape unit &key exact)', '1 required parameters, the generic function has 2'],
    ['(shape &optional unit &key exact)', '0 optional parameters, the generic function has 1'],
    ['(shape)', 'takes &rest or &key, but the generic function does not'],
  ])('with the lambda list %s: why', async (list, why) => {
    expect((await impact('area', { lambda_list: list })).at(-2)).toContain(`[${why}]`);
  });

  test('with a new method: whether that agrees', async () => {
    expect((await impact('area', { definition: '(defmethod area ((shape symbol)) 1)' })).slice(1, 3)).toEqual(
      [
        'The lambda list of the generic function does not change, and calls must fit it (2 calls).',
        'Methods that would not be congruent with the generic function (1):\n  the new definition  [takes neither &rest nor &key]',
      ],
    );
    expect(
      await impact('area', { definition: '(defmethod area :around ((shape symbol) &key exact) exact)' }),
    ).toHaveLength(3);
  });
});

describe('a class', () => {
  test('with accessors that go', async () => {
    await prepare(
      session,
      "(defvar cl-user::*shops* (list (make-instance 'impact::shop) (make-instance 'impact::big-shop)))",
    );
    expect(
      await impact('shop', {
        definition: '(defclass shop () ((items :initarg :items :accessor shop-items)))',
      }),
    ).toEqual([
      'IMPACT::SHOP [CLASS]',
      expect.stringMatching(/^IMPACT::SHOP-OWNER would be gone\. Its uses \(1\):\n {2}IMPACT::OWNERS {2}/),
      'Direct slots: ITEMS, OWNER\nInstances, with those of subclasses: 2',
      `Subclasses (1):\n${row('IMPACT::BIG-SHOP', 'big-shop', '(defclass')}`,
    ]);
  });
});

describe('what it cannot do says why', () => {
  test.each([
    [
      { name: '*first*', lambda_list: '(x)' },
      'IMPACT::*FIRST* is a variable, not a function. who_references lists the functions that read, set or bind it.',
    ],
    [
      { name: 'price', definition: '(defun cost (x) x)' },
      'The given definition defines COST, not IMPACT::PRICE. A new name breaks all uses of the old one: who_calls lists them.',
    ],
    [
      { name: 'price', definition: '(defun price' },
      "The definition cannot be read. Give one whole form, such as (defun name (arguments) ...), or give 'lambda_list'.",
    ],
    [
      { name: 'price', lambda_list: '(item' },
      'The lambda_list (item cannot be read. Give a list such as (item &optional count &key currency), or () for no parameters.',
    ],
    [
      { name: 'price', lambda_list: '(x)', definition: '(defun price (x))' },
      "Give 'lambda_list' or 'definition', not both.",
    ],
  ])('%j', async (args, text) => {
    expect(await session.call('impact_of_change', { package: 'impact', ...args })).toEqual({
      text,
      notices: [],
      isError: true,
    });
  });

  test('C9 a name that is not there', async () => {
    const args = { name: 'nope', package: 'impact' };
    expect(await session.text('impact_of_change', args)).toBe(
      'Symbol NOPE not found in package impact (status: NIL)',
    );
    expect(await session.text('impact_of_change', { ...args, package: 'No Where' })).toBe(
      'Package No Where not found',
    );
  });
});

test('tests are what is in the files of a system that tests another', async () => {
  const write = (name: string, text: string) => folder.put(name, text);
  write(
    'tried.asd',
    '(defsystem "tried" :components ((:file "code")) :in-order-to ((test-op (test-op "tried/checks"))))\n(defsystem "tried/checks" :depends-on ("tried") :components ((:file "checks")))\n',
  );
  write(
    'code.lisp',
    '(defun tried-inner (x) x)\n(defun tried-outer (x) (tried-inner x))\n(defun tried-alone (x) x)\n',
  );
  write(
    'checks.lisp',
    '(defvar *checks* nil)\n(push (lambda () (tried-outer 1)) *checks*)\n(defun check-outer () (tried-outer 2))\n(defun check-printed () (print-object *checks* *standard-output*))\n',
  );
  await other.text('load_system', { system: 'tried/checks' });
  const last = async (name: string, more: object = {}) =>
    (await other.text('impact_of_change', { name, ...more })).split('\n\n').slice(-2);
  expect(await last('tried-inner')).toEqual([
    'Tests that reach it (2):\n  checks.lisp:2:1  (push (lambda () (tried-outer 1)) *checks*)\n  checks.lisp:3:1  (defun check-outer () (tried-outer 2))',
    'code.lisp:1  COMMON-LISP-USER::TRIED-INNER [FUNCTION]\n(defun tried-inner (x) x)',
  ]);
  expect((await last('tried-inner', { limit: 1 }))[0]).toBe(
    'Tests that reach it (2):\n  checks.lisp:2:1  (push (lambda () (tried-outer 1)) *checks*)\n  ... 1 more; limit shows them',
  );
  expect((await last('tried-alone'))[0]).toBe('No test is known to reach it.');
  await other.text('eval_form', {
    form: '(progn (defclass shown () ()) (defmethod print-object ((x shown) stream) (princ (tried-alone 1) stream)))',
  });
  expect((await last('tried-alone'))[0]).toBe('No test is known to reach it.');
});
