// Which methods of a generic function run: what describe_symbol tells with arguments, and what real calls enter.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { FIXTURES, temporaryFolder } from '../harness.ts';
import { LONG, PATIENCE_MS } from '../long.ts';
import { sharedSession } from '../shared.ts';
import { prepare } from './looks.ts';

const session = sharedSession();
beforeAll(async () => {
  for (const name of ['dispatch', 'random-dispatch']) {
    const text = await session.text('load_file', { path: `fixtures/${name}.lisp` });
    expect(text).toBe(`Loaded fixtures/${name}.lisp`);
  }
});

const SOURCE = readFileSync(join(FIXTURES, 'dispatch.lisp'), 'utf8').split('\n');
const at = (name: string) =>
  `fixtures/dispatch.lisp:${SOURCE.findIndex((line) => line.startsWith(`(defgeneric ${name} `)) + 1}:1`;

const order = (symbol: string, ...args: string[]) =>
  session.text('describe_symbol', { symbol, package: 'dispatch', arguments: args });

describe('the order of methods', () => {
  test('of the standard combination has around, before, primary and after methods, and who calls whom', async () => {
    const place = at('draw');
    expect(await order('draw', 'circle', '3')).toBe(
      `DISPATCH::DRAW (SHAPE TARGET) with DISPATCH::CIRCLE, (EQL 3)

Methods in the order in which they are entered (7):
  1. :AROUND (DISPATCH::CIRCLE COMMON-LISP::INTEGER)  ${place}
  2. :BEFORE (DISPATCH::SHAPE COMMON-LISP::T)  ${place}  (next method of 1)
  3. (DISPATCH::CIRCLE COMMON-LISP::T)  ${place}  (next method of 1)
  4. (DISPATCH::SHAPE COMMON-LISP::T)  ${place}  (next method of 3)
  5. (DISPATCH::ROUND-THING (EQL 3))  ${place}  (not entered: 4 has no CALL-NEXT-METHOD before it)
  6. :AFTER (DISPATCH::SHAPE COMMON-LISP::T)  ${place}  (next method of 1)
  7. :AFTER (DISPATCH::CIRCLE COMMON-LISP::T)  ${place}  (next method of 1)`,
    );
  });

  test('with a class tells which methods depend on the value, or on the class below', async () => {
    const dependentMethods = async (...args: string[]) => (await order('draw', ...args)).split('\n\n')[2];
    expect(await dependentMethods('circle', 'integer')).toBe(
      `Applicable only on a condition (1):\n  (DISPATCH::ROUND-THING (EQL 3))  ${at('draw')}  if argument 2 is eql to 3`,
    );
    expect(await dependentMethods('circle', 'number')).toBe(
      `Applicable only on a condition (2):
  (DISPATCH::ROUND-THING (EQL 3))  ${at('draw')}  if argument 2 is eql to 3
  :AROUND (DISPATCH::CIRCLE COMMON-LISP::INTEGER)  ${at('draw')}  if argument 2 is of class COMMON-LISP::INTEGER`,
    );
    expect(await dependentMethods('circle', '4')).toBeUndefined();
  });

  test('takes the precedence of arguments into account', async () => {
    expect(await order('draw-after', 'circle', '7')).toBe(
      `DISPATCH::DRAW-AFTER (SHAPE TARGET) with DISPATCH::CIRCLE, (EQL 7)
Argument precedence: TARGET, SHAPE

Methods in the order in which they are entered (2):
  1. (DISPATCH::SHAPE COMMON-LISP::INTEGER)  ${at('draw-after')}
  2. (DISPATCH::CIRCLE COMMON-LISP::NUMBER)  ${at('draw-after')}  (next method of 1)`,
    );
  });

  test('of a combination with an operator tells its form', async () => {
    expect(await order('total', 'circle')).toBe(
      `DISPATCH::TOTAL (SHAPE) with DISPATCH::CIRCLE
Method combination: COMMON-LISP::+ (:MOST-SPECIFIC-LAST)
Effective method: (1 (+ 2 3))

Methods in the order in which they are entered (3):
  1. :AROUND (DISPATCH::CIRCLE)  ${at('total')}
  2. + (DISPATCH::SHAPE)  ${at('total')}  (next method of 1)
  3. + (DISPATCH::CIRCLE)  ${at('total')}  (next method of 1)`,
    );
    expect(await order('parts', 'circle')).toContain('\nEffective method: 1\n');
  });

  test('of a long combination tells its form, when making it can change nothing', async () => {
    expect(await order('run', 'circle')).toBe(
      `DISPATCH::RUN (SHAPE) with DISPATCH::CIRCLE
Method combination: DISPATCH::GUARDED
Effective method: (UNWIND-PROTECT (PROGN 1 2) 4)

Methods in the order in which they are entered (4):
  1. :CHECK (DISPATCH::CIRCLE)  ${at('run')}
  2. (DISPATCH::CIRCLE)  ${at('run')}
  3. (DISPATCH::SHAPE)  ${at('run')}  (next method of 2)
  4. :CLEAN (DISPATCH::SHAPE)  ${at('run')}`,
    );
  });

  test('of a long combination that could change something is not told, and it is not run', async () => {
    expect(await order('count-up', 'circle')).toBe(
      `DISPATCH::COUNT-UP (SHAPE) with DISPATCH::CIRCLE
Method combination: DISPATCH::COUNTED

The method combination orders the methods by code that may have side effects (DISPATCH::*EXPANDED*), so that code was not run. The applicable methods (1), most specific first:
  1. (DISPATCH::SHAPE)  ${at('count-up')}

To run that code, evaluate this with eval_form. Its value is the effective method, as a form:
  (let ((f #'DISPATCH::COUNT-UP)) (sb-mop:compute-effective-method f (sb-mop:generic-function-method-combination f) (compute-applicable-methods f (list (allocate-instance (find-class 'DISPATCH::CIRCLE))))))`,
    );
    expect(await session.eval('dispatch::*expanded*')).toBe('0');
    const [form = ''] = (await order('count-up', 'circle')).split('\n').slice(-1);
    expect(await session.eval(form)).toMatch(/\(CALL-METHOD\s+#<STANDARD-METHOD DISPATCH::COUNT-UP/);
    await session.eval(
      `(defgeneric dispatch::count-all (a b c d e) (:method-combination dispatch::counted) (:method ((a dispatch::circle) (b integer) c d e) 1))
       (intern "odd name" :dispatch)
       (defvar dispatch::*a-circle* (make-instance 'dispatch::circle))`,
    );
    const given = ['*a-circle*', 'integer', '"te\\"xt"', "'|odd name|", '#\\a'];
    const [each = ''] = (await order('count-all', ...given)).split('\n').slice(-1);
    expect(each).toContain(
      '(list DISPATCH::*A-CIRCLE* (sb-mop:class-prototype (find-class \'COMMON-LISP::INTEGER)) "te\\"xt" \'DISPATCH::|odd name| #\\a)',
    );
    expect(await session.eval(each)).toMatch(/\(CALL-METHOD\s+#<STANDARD-METHOD DISPATCH::COUNT-ALL/);
    await session.eval('(setf dispatch::*expanded* 0)');
  });

  test('can be read in parts', async () => {
    const args = { symbol: 'dispatch::draw', arguments: ['dispatch::circle', '3'], offset: 2, limit: 1 };
    expect((await session.text('describe_symbol', args)).split('\n').slice(-4)).toEqual([
      'Methods in the order in which they are entered (7):',
      `  3. (DISPATCH::CIRCLE COMMON-LISP::T)  ${at('draw')}  (next method of 1)`,
      '  ...',
      'Note: 7 methods; limit and offset reach the rest.',
    ]);
  });
});

describe('a call that signals an error is told', () => {
  const last = async (...call: [string, ...string[]]) => (await order(...call)).split('\n\n')[1];

  test('without an applicable method', async () => {
    expect(await last('draw', '3', '3')).toBe(
      'No applicable method: a call of DISPATCH::DRAW signals an error.',
    );
  });

  test('without a primary method', async () => {
    expect(await last('only-before', 'circle')).toBe(
      `No primary method: a call of DISPATCH::ONLY-BEFORE signals an error. The applicable methods (1), most specific first:\n  1. :BEFORE (DISPATCH::SHAPE)  ${at('only-before')}`,
    );
  });

  test('with qualifiers that the combination does not take', async () => {
    expect(await last('strays', 'circle')).toMatch(
      /^The method \(DISPATCH::CIRCLE\) has qualifiers that the combination does not take: a call signals an error. The applicable methods \(2\), most specific first:\n/,
    );
  });

  test('by a long combination', async () => {
    await prepare(session, '(defmethod dispatch::run :check ((shape dispatch::shape)) 1)');
    await prepare(
      session,
      '(remove-method (function dispatch::run) (find-method (function dispatch::run) nil (list (find-class (quote dispatch::shape)))))',
    );
    expect(await last('run', 'shape')).toMatch(
      /^The method combination signals an error, and so does a call: \(ERROR .*"No ~S methods\.".*\nThe applicable methods \(2\), most specific first:\n/,
    );
  });
});

describe('what cannot be told says why', () => {
  test.each([
    [
      ['decided', 'circle'],
      'The program defines a method of SB-MOP::COMPUTE-EFFECTIVE-METHOD that decides which methods of DISPATCH::DECIDED run, and describe_symbol runs no code. To see which, trace the methods and call DISPATCH::DECIDED with eval_form.',
    ],
    [
      ['draw', 'unfinished', 't'],
      'The class DISPATCH::NOT-THERE is not defined yet, so there is no order of methods. Define it, then ask again.',
    ],
    [
      ['draw', 'circle'],
      "DISPATCH::DRAW (SHAPE TARGET) has 2 required arguments, but parameter 'arguments' has 1: give one for each, in order.",
    ],
    [
      ['draw', 'circle', '(f 1)'],
      'Argument 2, (f 1), would have to be evaluated, which describe_symbol never does. Give the name of its class, a literal such as 3, "text" or \'name, or a variable.',
    ],
    [
      ['draw', 'call-all', '1'],
      "Argument 1, call-all, names no class and no variable with a value. Give a class, a literal, or 'NAME for the symbol itself.",
    ],
    [
      ['call-all', '1'],
      "DISPATCH::CALL-ALL is a function, not a generic function: leave out 'arguments' to describe it.",
    ],
  ] as [[string, ...string[]], string][])('S2.15 of %j', async (call, text) => {
    expect(await order(...call)).toBe(text);
  });
});

test('an ordinary setf function is no generic function', async () => {
  await session.eval('(defun (setf dispatch::place) (new x) (list new x))');
  expect(await order('(setf place)', '1', '2')).toBe(
    "DISPATCH::(SETF PLACE) is a function, not a generic function: leave out 'arguments' to describe it.",
  );
});

test('an argument can be a class, a literal or a variable, and nothing is evaluated or interned', async () => {
  const given = async (argument: string) =>
    /with DISPATCH::CIRCLE, (.*)/.exec(await order('draw', 'circle', argument))?.[1];
  expect(await given('*default*')).toBe('(EQL 3)');
  await session.eval('(defvar dispatch::*held* (list 1))');
  expect(await given('*held*')).toBe('(EQL DISPATCH::*HELD*)');
  expect(await given('(quote dispatch::circle)')).toBe('(EQL DISPATCH::CIRCLE)');
  expect(await given('"a \\"b\\""')).toBe('(EQL "a \\"b\\"")');
  expect(await given('-1/2')).toBe('(EQL -1/2)');
  expect(await given('t')).toBe('COMMON-LISP::T');
  expect(await given('1+x')).toBeUndefined();
  expect(await session.eval('(find-symbol "1+X" :dispatch)')).toBe('NIL\nNIL');
});

const GENERICS = LONG ? 300 : 24;

test(
  `C15 in ${GENERICS * 8} random calls the methods are entered in the order that is told`,
  async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'cases');
    await prepare(
      session,
      `(random-dispatch::write-cases ${JSON.stringify(file)} ${GENERICS} 8 ${LONG ? 5 : 3})`,
    );
    const cases = readFileSync(file, 'utf8').trimEnd().split('\n');
    folder.remove();
    expect(cases.filter((line) => line.includes(', ')).length).toBeGreaterThan(GENERICS * 4.25);
    for (const line of cases) {
      const [symbol = '', args = '', entered] = line.split('\t');
      const text = await session.text('describe_symbol', {
        symbol,
        package: 'random-dispatch',
        arguments: args.split(' '),
      });
      expect(reportedOrder(text), `${line}\n${text}`).toBe(entered);
    }
  },
  PATIENCE_MS,
);

/** Returns the methods that TEXT tells are entered, or ERROR. */
function reportedOrder(text: string): string {
  if (/signals an error/.test(text)) return 'ERROR';
  return [...text.matchAll(/^ {2}\d+\. (.*?) {2}(?:no source|evaluated)(.*)/gm)]
    .filter(([, , link = '']) => !link.includes('not entered'))
    .map(([, method]) => method)
    .join(', ');
}
