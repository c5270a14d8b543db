// How values cross between code in the image and tools, with a tool that gives back what it got.

import { afterAll, describe, expect, test } from 'vitest';
import { SbclImage } from '../../src/image/own/sbcl-image.ts';
import type { ToolAnswer } from '../../src/image/wire/operations.ts';
import { cacheFolder } from '../../src/paths.ts';
import { PROJECT } from '../harness.ts';

/** What the tools were called with. */
const got: [string, object][] = [];
let answer: (args: object) => ToolAnswer = (args) => ({ value: args });

const image = new SbclImage({
  sbcl: undefined,
  lispFolder: `${PROJECT}/lisp`,
  cacheFolder: cacheFolder(),
  root: PROJECT,
  heapMb: 4096,
  limitMs: 600_000,
  trees: [],
  startFiles: () => [],
  callTool: async (tool, args) => {
    got.push([tool, args]);
    return answer(args);
  },
});
afterAll(() => image.close());

/** Evaluates FORM and returns its value as printed, or the text of what it signalled. */
async function evaluate(form: string): Promise<string | undefined> {
  got.length = 0;
  const { ending, data } = await image.call('evaluate', { code: form });
  if (ending.kind === 'condition') return ending.condition.text;
  return ending.kind === 'done' ? data.values?.at(-1)?.[0]?.text : JSON.stringify(ending);
}

/** Returns what the tool gets for the argument FORM. */
async function sent(form: string): Promise<unknown> {
  answer = () => ({ value: true });
  expect(await evaluate(`(live-lisp:call-tool "echo" :value ${form})`)).toBe('T');
  return Object.values(got[0]?.[1] ?? {})[0];
}

/** Returns how VALUE prints in the image when it is the data of a tool. */
async function received(value: unknown): Promise<string | undefined> {
  answer = () => ({ value });
  return evaluate('(let ((*print-pretty* nil)) (prin1-to-string (live-lisp:call-tool "give")))');
}

const TAKES =
  'A tool takes strings, symbols, numbers, T, NIL, proper lists and vectors of these, and hash tables with strings as keys.';

describe('from Lisp', () => {
  test.each([
    ['"a \\"b\\" \\\\ λ 🙂"', 'a "b" \\ λ 🙂'],
    ['(make-array 3 :element-type \'character :initial-contents "abc" :fill-pointer 2)', 'ab'],
    ['-9007199254740991', -9007199254740991],
    ['(- (expt 2 1023))', -(2 ** 1023)],
    ['0.1', 0.10000000149011612],
    ['least-positive-double-float', 5e-324],
    ['1/4', 0.25],
    ['t', true],
    ['nil', null],
    ['\'(1 "two" (3))', [1, 'two', [3]]],
    ['(vector 1 2 nil t)', [1, 2, null, true]],
    [':function', 'function'],
    ['(make-symbol "LOOSE")', 'loose'],
    [
      '(let ((h (make-hash-table :test (quote equal)))) (setf (gethash "Key" h) (list 1) (gethash "" h) nil) h)',
      { Key: [1], '': null },
    ],
  ])('S2.21 %s crosses', async (form, value) => {
    expect(await sent(form)).toEqual(value);
  });

  test.each([
    ['#p"/tmp"', 'a value of type COMMON-LISP::PATHNAME'],
    [
      '(progn (defstruct crossing-point x) (make-crossing-point))',
      'a value of type COMMON-LISP-USER::CROSSING-POINT',
    ],
    ['(let ((l (list 1 2))) (setf (cddr l) l))', 'a circular or dotted list'],
    ["'(1 . 2)", 'a circular or dotted list'],
    ['(let ((l (list 1))) (setf (car l) l))', 'a value that is nested more than 100 levels deep'],
    ['9007199254740993', 'an integer of more than 53 bits'],
    ['(/ (expt 10 400) 3)', 'a ratio that no double can hold'],
    ['sb-ext:double-float-positive-infinity', 'a float that is infinite or not a number'],
    [
      '(sb-int:with-float-traps-masked (:invalid) (- sb-ext:double-float-positive-infinity sb-ext:double-float-positive-infinity))',
      'a float that is infinite or not a number',
    ],
    [
      '(let ((h (make-hash-table))) (setf (gethash :a h) 1) h)',
      'a hash table with a key that is not a string',
    ],
  ])('S2.21 %s cannot cross, which is an error of the code', async (form, what) => {
    const call = `(live-lisp:call-tool "echo" :first 1 :the-value ${form})`;
    const text = `Tool echo failed: Parameter 'the-value' cannot hold ${what}. ${TAKES}`;
    expect(await evaluate(call)).toBe(text);
    expect(got).toEqual([]);
    expect(await evaluate(`(handler-case ${call} (live-lisp:tool-error () :caught))`)).toBe(':CAUGHT');
  });

  test('what shares parts without end is refused when it is too large', async () => {
    const form =
      '(let ((x (list 1))) (dotimes (i 60) (setf x (list x x))) (live-lisp:call-tool "echo" :value x))';
    expect(await evaluate(form)).toBe(
      'Tool echo failed: The arguments are too large: they take more than 67108864 octets, which is the limit.',
    );
    expect(
      await evaluate(
        '(live-lisp:call-tool "echo" :value (make-string 67108850 :element-type (quote base-char) :initial-element #\\a))',
      ),
    ).toMatch(
      /^Tool echo failed: The arguments are too large: they take 671089\d\d octets; the limit is 67108864\.$/,
    );
  });

  test('names of tools and parameters are strings or symbols, the first of a name counts', async () => {
    answer = () => ({ value: true });
    expect(await evaluate('(live-lisp:call-tool :Some-Tool :a-b 1 "A_b" 2 :a-b 3)')).toBe('T');
    expect(got).toEqual([['some_tool', { 'a-b': 1, A_b: 2 }]]);
    expect(await evaluate('(live-lisp:call-tool 5)')).toBe(
      'Tool (no name) failed: The name of a tool must be a string or a symbol, not a value of type COMMON-LISP::FIXNUM.',
    );
    expect(await evaluate('(live-lisp:call-tool "echo" :name)')).toBe(
      'Tool echo failed: Its arguments must alternate names and values, but the last name has no value.',
    );
    expect(await evaluate('(live-lisp:call-tool "echo" 1 2)')).toBe(
      'Tool echo failed: The name of a parameter must be a keyword, not a value of type COMMON-LISP::FIXNUM.',
    );
  });
});

describe('to Lisp', () => {
  test.each([
    ['a "b" \n λ 🙂', '"a \\"b\\" \n λ 🙂"'],
    [2 ** 60, '1152921504606846976'],
    [1.5, '1.5d0'],
    [5e-324, '4.9406564584124654d-324'],
    [null, 'NIL'],
    [[], 'NIL'],
    [[1, ['two', null], false], '(1 ("two" NIL) NIL)'],
  ])('S2.21 %j crosses', async (value, printed) => {
    expect(await received(value)).toBe(JSON.stringify(printed).replaceAll('\\n', '\n'));
  });

  test('S2.21 an object is an EQUAL hash table with strings as keys, where absent members are absent', async () => {
    answer = () => ({ value: { Name: 'x', list: [{}], no: null, gone: undefined } });
    const form = `(let ((h (live-lisp:call-tool "give")))
      (list (hash-table-test h) (gethash "Name" h) (hash-table-count (first (gethash "list" h)))
            (multiple-value-list (gethash "no" h)) (multiple-value-list (gethash "gone" h))))`;
    expect(await evaluate(form)).toBe('(EQUAL "x" 0 (NIL T) (NIL NIL))');
  });

  test('data that cannot cross are a failure, and the image is kept', async () => {
    const circular: unknown[] = [];
    circular.push(circular);
    const deep =
      'Tool give failed: Its result cannot be passed to the image: it is nested more than 100 levels deep.';
    const form = '(live-lisp:call-tool "give")';
    for (const [value, text] of [
      [circular, deep],
      [JSON.parse('['.repeat(5000) + ']'.repeat(5000)), deep],
      [1n, /^Tool give failed: Its result cannot be passed to the image: .*BigInt/],
      [
        'x'.repeat(67_108_864),
        'Tool give failed: Its result cannot be passed to the image: it takes more than 67108864 octets on the wire.',
      ],
    ] as const) {
      answer = () => ({ value });
      if (typeof text === 'string') expect(await evaluate(form)).toBe(text);
      else expect(await evaluate(form)).toMatch(text);
    }
  });

  test('a failure, also one that is thrown, is a TOOL-ERROR with the name of the tool and a message', async () => {
    const form = `(handler-case (live-lisp:call-tool "Some-tool")
      (live-lisp:tool-error (e) (list (typep e 'error) (live-lisp:tool-error-tool e) (live-lisp:tool-error-message e) (princ-to-string e))))`;
    answer = () => ({ failure: 'It said ~A.' });
    expect(await evaluate(form)).toBe('(T "some_tool" "It said ~A." "Tool some_tool failed: It said ~A.")');
    answer = () => {
      throw new Error('thrown');
    };
    expect(await evaluate('(live-lisp:call-tool "x")')).toBe('Tool x failed: thrown');
  });
});

test('settings of printer and reader change nothing', async () => {
  answer = (args) => ({ value: args });
  const form = `(let ((*print-base* 2) (*print-radix* t) (*print-readably* t) (*print-pretty* t) (*read-base* 16)
        (*print-case* :capitalize) (*print-length* 1) (*print-level* 1) (*read-default-float-format* 'single-float)
        (*print-pprint-dispatch* (copy-pprint-dispatch)))
    (set-pprint-dispatch 'integer (lambda (s x) (declare (ignore x)) (write-string "no" s)))
    (let ((h (live-lisp:call-tool "echo" :n 10. :x 1d10 :y '(1.5 2.5) :z :Some-Thing :e 1d-7)))
      (with-standard-io-syntax
        (prin1-to-string (list (gethash "n" h) (gethash "x" h) (gethash "y" h) (gethash "z" h) (gethash "e" h))))))`;
  expect(await evaluate(form)).toBe('"(10 10000000000 (1.5d0 2.5d0) \\"some-thing\\" 1.0d-7)"');
  await evaluate(
    "(setf (sb-ext:symbol-global-value '*read-base*) 16. (sb-ext:symbol-global-value '*read-default-float-format*) 'double-float)",
  );
  expect(await received(1e-7)).toBe('"1.0d-7"');
});
