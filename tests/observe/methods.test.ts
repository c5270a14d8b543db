// observe: the methods that a call of a generic function enters are recorded, in the order in which they run.

import { beforeAll, describe, expect, test } from 'vitest';
import { NO_SYSTEMS } from '../harness.ts';
import { LONG } from '../long.ts';
import { randomFrom } from '../random.ts';
import { SEED } from '../seed.ts';
import { until } from '../server/processes.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const PROGRAM = `(defpackage :entered (:use :cl))
(in-package :entered)
(defvar *log* (make-hash-table))
(defvar *token* 0)
(defvar *fuel* 0)
(defclass thing () ((part :initform 1 :accessor part)))
(defclass round-thing (thing) ())
(defclass circle (round-thing) ())
(defmethod print-object ((thing thing) stream) (write-string "thing" stream))
(defun note (token text) (push text (gethash token *log*)))
(defun fueled () (plusp (decf *fuel*)))
(define-method-combination in-turn (&optional (order :most-specific-first))
  ((around (:around)) (twice (:twice)) (primary () :order order :required t))
  (let ((form \`(prog1 (progn ,@(mapcar (lambda (m) \`(call-method ,m)) twice) (call-method ,(first primary) ,(rest primary)))
                 ,@(mapcar (lambda (m) \`(call-method ,m)) (reverse twice)))))
    (if around \`(call-method ,(first around) (,@(rest around) (make-method ,form))) form)))
`;

/** What a parameter can be specialized on, as it is written in a method and as an answer prints it. */
const SPECIALIZERS = [
  ['t', ''],
  ['t', ''],
  ['t', ''],
  ['thing', 'THING'],
  ['thing', 'THING'],
  ['round-thing', 'ROUND-THING'],
  ['circle', 'CIRCLE'],
  ['number', 'COMMON-LISP::NUMBER'],
  ['integer', 'COMMON-LISP::INTEGER'],
  ['(eql 3)', '(EQL 3)'],
  ['symbol', 'COMMON-LISP::SYMBOL'],
] as const;
const ARGUMENTS = [
  ...Array(4).fill("(make-instance 'circle)"),
  "(make-instance 'thing)",
  '3',
  '3',
  '4',
  '2.5',
  "'a",
] as const;
const COMBINATIONS = [
  { option: '', qualifiers: ['', '', ':around', ':before', ':after'] },
  { option: '(:method-combination list)', qualifiers: ['list', 'list', ':around'] },
  { option: '(:method-combination progn :most-specific-last)', qualifiers: ['progn', 'progn', ':around'] },
  { option: '(:method-combination in-turn)', qualifiers: ['', '', ':twice', ':around'] },
  { option: '(:method-combination in-turn :most-specific-last)', qualifiers: ['', ':twice', ':around'] },
];
const LAMBDA_LISTS = [
  '(x y token)',
  '(x y token &optional z)',
  '(x y token &key z)',
  '(x y token &rest z)',
] as const;
const FUNCTIONS = 8;

/** Returns definitions of generic functions at random, each of whose methods notes its text for the token of its call, and
 *  forms that call them. */
function randomProgram(seed: number): { definitions: string; forms: string[] } {
  const below = randomFrom(seed);
  const among = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const call = (number = below(FUNCTIONS)) =>
    `(gf-${number} ${among(ARGUMENTS)} ${among(ARGUMENTS)} (incf *token*))`;
  const definitions = Array.from({ length: FUNCTIONS }, (_, number) => {
    const lambdaList = among(LAMBDA_LISTS);
    const combination = among(COMBINATIONS);
    const seen = new Set<string>();
    const methods: string[] = [];
    const more = lambdaList.slice('(x y token'.length, -1);
    const method = (
      qualifier: string,
      x: (typeof SPECIALIZERS)[number],
      y: (typeof SPECIALIZERS)[number],
    ) => {
      const parameter = (name: string, [, text]: (typeof SPECIALIZERS)[number]) =>
        text === '' ? name : `(${name} ${text})`;
      const said = `${qualifier === '' ? '' : `${qualifier.toUpperCase()} `}(${parameter('X', x)} ${parameter('Y', y)} TOKEN${more.toUpperCase()})`;
      if (seen.has(said)) return;
      seen.add(said);
      const nextAllowed = qualifier === '' || qualifier === ':around';
      const bodies = [
        '1',
        '(list x y)',
        "(when (typep x 'thing) (slot-value x 'part))",
        `(when (fueled) ${call()})`,
        `(when (fueled) (ignore-errors ${call(number)}))`,
        ...(nextAllowed
          ? [
              '(when (next-method-p) (call-next-method))',
              '(list (when (next-method-p) (call-next-method)) (when (next-method-p) (call-next-method)))',
              '(when (next-method-p) (call-next-method x y token))',
              `(progn (when (fueled) ${call(number)}) (when (next-method-p) (call-next-method)))`,
              "(progn (when (typep x 'thing) (incf (slot-value x 'part))) (when (next-method-p) (call-next-method)))",
            ]
          : []),
        among(['(error "odd")', '(throw :out 1)']),
      ];
      const declared = more === '' ? '' : ' (declare (ignorable z))';
      const definition = `(defmethod gf-${number} ${qualifier} ((x ${x[0]}) (y ${y[0]}) token${more})${declared} (note token "${said.replaceAll('"', '\\"')}") BODY)`;
      methods.push(definition.replace('BODY', among(bodies)));
      // The same method, defined anew while it is recorded.
      if (below(6) === 0)
        methods.push(
          definition.replace(
            'BODY',
            `(when (fueled) (handler-bind ((warning #'muffle-warning)) (eval '${definition.replace('BODY', '2')})))`,
          ),
        );
    };
    for (let left = 6 + below(9); left > 0; left--)
      method(among(combination.qualifiers), among(SPECIALIZERS), among(SPECIALIZERS));
    method(combination.qualifiers[0] ?? '', SPECIALIZERS[0], SPECIALIZERS[0]);
    return `(defgeneric gf-${number} ${lambdaList} ${combination.option})\n${methods.join('\n')}`;
  });
  const forms = Array.from(
    { length: 12 },
    () => `(progn (clrhash *log*) (setf *token* 0 *fuel* 8)
      (dotimes (i 2) (catch :out (handler-case ${call()} (error () nil))))
      (maphash (lambda (token texts) (format t "~D: ~{~A~^ ~}~%" token (reverse texts))) *log*))`,
  );
  return { definitions: definitions.join('\n'), forms };
}

const folder = sharedFolder();
beforeAll(() => {
  folder.put('entered.lisp', PROGRAM);
});
const session = sharedSession({ args: ['--root', folder.path, ...NO_SYSTEMS] });
beforeAll(async () => {
  await session.call('load_file', { path: 'entered.lisp' });
  await session.eval('(in-package :entered)');
});

async function observe(args: Record<string, unknown>): Promise<string> {
  const { text } = await session.call('observe', { limit: 100, ...args });
  return text.replace(/\b\d+(\.\d+)? (ns|µs|ms|s)\b/g, 'N').replace(/ENTERED::/g, '');
}

/** Returns what observing has left at the generic functions NAMES, and at SBCL's function that TRACE uses too. */
const left = (...names: string[]) =>
  session.eval(
    `(list (sb-impl::encapsulation-info (sb-kernel:%coerce-name-to-fun 'sb-pcl::maybe-trace-method)) ${names.map((name) => `(sb-pcl::generic-function-encapsulations ${name})`).join(' ')})`,
  );

/** Returns a text for each row of TEXT: what it says of methods. */
const methodsIn = (text: string) =>
  text
    .split('\n')
    .filter((line) => /^ +\(/.test(line))
    .map((line) => line.replace(/^.*?(?:methods |$)|, in live-lisp .*$/g, ''));

test('each method notes its entries as they are recorded, in random programs', async () => {
  let compared = 0;
  for (let number = 0; number < (LONG ? 60 : 2); number++) {
    const { definitions, forms } = randomProgram(SEED + number);
    folder.put('random.lisp', `(in-package :entered)\n${definitions}\n`);
    await session.eval(`(dotimes (i ${FUNCTIONS}) (fmakunbound (intern (format nil "GF-~D" i) :entered)))`);
    expect(await session.text('load_file', { path: 'random.lisp' })).toMatch(/^Loaded random\.lisp/);
    const functions = Array.from({ length: FUNCTIONS }, (_, i) => `gf-${i}`);
    for (const form of forms) {
      const text = await observe({ form, functions });
      const noted = new Map(
        [...text.matchAll(/^(\d+): (.*)$/gm)].map(([, token, said]) => [token, said] as const),
      );
      const rows = [...text.matchAll(/^ +\(GF-\d+ .* (\d+)\) (?:=>|left|has|ended).*?(?:methods (.*))?$/gm)];
      expect(rows.length, text).toBeGreaterThan(0);
      for (const [, token, methods] of rows)
        expect({ number, form, token, methods }).toEqual({ number, form, token, methods: noted.get(token) });
      compared += rows.length;
    }
  }
  expect(compared).toBeGreaterThan(40);
  expect(await left()).toBe('(NIL)');
});

describe('the methods of a call', () => {
  beforeAll(async () => {
    await session.eval(`(defgeneric down (n) (:method (n) :end)
        (:method ((n integer)) (when (plusp n) (down (1- n))) (call-next-method)) (:method :after ((n integer)) nil))
      (defgeneric fixed (x) (:method (x) 5))
      (defgeneric many (n) (:method ((n integer)) n)
        (:method :around ((n integer)) (dotimes (i 200 n) (call-next-method))))
      (defvar *stuck* nil)
      (defgeneric stuck (x) (:method (x) (setf *stuck* t) (loop (sleep 0.01))) (:method :before (x) (list x)))
      (defgeneric gone (x) (:method (x) (list x)) (:method ((x integer)) (list (call-next-method))))
      (defun call-all (n) (down n))`);
  });

  test.each([
    [
      'read or set a slot, or return a constant, are told though SBCL does that in line',
      {
        form: "(let ((thing (make-instance 'thing))) (setf (part thing) (fixed 1)) (part thing))",
        functions: ['part', '(setf part)', 'fixed'],
      },
      ['(X)', '(NEW-VALUE (THING THING))', '((THING THING))'],
    ],
    [
      'are told for each call of a recursion',
      { form: '(down 1)', functions: ['down'] },
      [
        '((N COMMON-LISP::INTEGER)) (N) :AFTER ((N COMMON-LISP::INTEGER))',
        '((N COMMON-LISP::INTEGER)) (N) :AFTER ((N COMMON-LISP::INTEGER))',
      ],
    ],
    [
      'are told up to an inner call that is not recorded',
      {
        form: '(down 1)',
        functions: ['down'],
        where: '(= n 1)',
      },
      ['((N COMMON-LISP::INTEGER)) ...'],
    ],
    [
      'are told when it calls functions that are not generic',
      {
        form: '(call-all 0)',
        functions: ['down', 'call-all'],
      },
      ['', '((N COMMON-LISP::INTEGER)) (N) :AFTER ((N COMMON-LISP::INTEGER))'],
    ],
  ])('%s', async (_, args, methods) => {
    expect(methodsIn(await observe(args))).toEqual(methods);
  });

  test('are none if code of the program calls none', async () => {
    await session.eval(`(defclass own-function (standard-generic-function) () (:metaclass sb-mop:funcallable-standard-class))
      (defmethod sb-mop:compute-discriminating-function ((function own-function)) (lambda (x) (list :own x)))
      (defgeneric owned (x) (:generic-function-class own-function) (:method (x) x))`);
    expect(await observe({ form: '(owned 1)', functions: ['owned'] })).toBe(
      '1 call in N.\n  (OWNED 1) => (:OWN 1)  N\n\nValue: (:OWN 1)',
    );
  });

  test('are told up to a limit', async () => {
    const text = await observe({ form: '(many 1)', functions: ['many'] });
    expect(text.match(/\(\(N COMMON-LISP::INTEGER\)\)/g)).toHaveLength(100);
    expect(text).toContain(
      ' ...\n\nNote: A list of methods that ends in ... may lack some: the call entered more than 100, or a call of the same function was not recorded.\n',
    );
  });

  test('are recorded for each of two that observe it at once', async () => {
    await session.eval(
      '(defvar *both* (sb-thread:make-semaphore)) (defvar *called* (sb-thread:make-semaphore))',
    );
    const calls =
      '(progn (sb-thread:wait-on-semaphore *both*) (down 0) (sb-thread:signal-semaphore *called*))';
    const waits = '(progn (sb-thread:signal-semaphore *both*) (sb-thread:wait-on-semaphore *called*))';
    const texts = await Promise.all([
      observe({ form: calls, functions: ['down'] }),
      observe({ form: waits, functions: ['down', 'call-all'] }),
    ]);
    for (const text of texts)
      expect(methodsIn(text)).toEqual(['((N COMMON-LISP::INTEGER)) (N) :AFTER ((N COMMON-LISP::INTEGER))']);
    expect(await left("#'down")).toBe('(NIL NIL)');
  });
});

describe('methods are as before', () => {
  test('when the call was ended', async () => {
    const observed = session.call('observe', { form: '(stuck 1)', functions: ['stuck'] });
    await until('the method', 10_000, async () => (await session.eval('*stuck*')) === 'T');
    await session.call('interrupt');
    const { text } = await observed;
    expect(text).toMatch(/^Error: Interrupted after /);
    expect(text).toContain('methods :BEFORE (X) (X)');
    expect(await left("#'stuck")).toBe('(NIL NIL)');
  });

  test('when the function was taken out of its name meanwhile', async () => {
    const form = "(progn (defvar *kept* #'gone) (gone 1) (fmakunbound 'gone) (funcall *kept* 2))";
    expect(await observe({ form, functions: ['gone'] })).toContain('Note: GONE: not a function any more.');
    expect(await left('*kept*')).toBe('(NIL NIL)');
    expect(await session.eval('(funcall *kept* 3)')).toBe('((3))');
  });

  test('while they are recorded, and behind it', async () => {
    const reported = `(loop for method in (sb-mop:generic-function-methods #'down)
      collect (list (sb-mop:method-function method) (function-keywords method) (sb-mop:method-lambda-list method)))`;
    await session.eval(`(defvar *told* ${reported})`);
    expect(
      await observe({ form: `(progn (down 1) (equal *told* ${reported}))`, functions: ['down'] }),
    ).toMatch(/Value: T$/);
    expect(await session.eval(`(equal *told* ${reported})`)).toBe('T');
  });
});
