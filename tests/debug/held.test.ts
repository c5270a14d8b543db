// debug: an error that is held, what is seen of it, and how it goes on.

import { beforeEach, describe, expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';
import { SHOP } from './shop.ts';

const root = sharedFolder();
root.put('shop.lisp', SHOP);
const session = sharedSession({ args: ['--root', root.path], cwd: root.path });

// Each test has the file's own definitions.
beforeEach(() => session.call('load_file', { path: 'shop.lisp' }));

const debug = (args: Record<string, unknown> = {}) => session.text('debug', args);

/** Holds the error of FORM and returns its number. */
async function hold(form: string, more: Record<string, unknown> = {}): Promise<number> {
  const text = await session.eval(form, { on_error: 'hold', ...more });
  const [, number] = /^Held as error (\d+)/m.exec(text) ?? [];
  if (number === undefined) throw new Error(`Nothing was held: ${text}`);
  return Number(number);
}

describe('a held error', () => {
  test('is told with its frames and places, and the image goes on meanwhile', async () => {
    const text = await session.eval(`(app::total '("a" "b"))`, { on_error: 'hold' });
    const [, number] = /error (\d+)/.exec(text) ?? [];
    expect(text).toBe(
      `Error: The value NIL is not of type NUMBER\nType: COMMON-LISP::TYPE-ERROR\nHeld as error ${number}, until 60 s pass without a use of debug.\n\n` +
        'Frames:\n  0: (SB-KERNEL:TWO-ARG-+ NIL 0)\n  1: (APP::PRICE "b")  shop.lisp:5:3\n  2: (APP::TOTAL ("a" "b"))  shop.lisp:9:17',
    );
    expect(await session.eval('(+ 1 1)')).toBe('2');
    expect(await debug()).toBe(
      `Held errors (1):\n  ${number}: COMMON-LISP::TYPE-ERROR, held until 60 s pass without a use`,
    );
    expect(await debug({ error: Number(number) })).toBe(
      `${text}\n\n  4  (defun price (name)\n> 5    (+ 0 (cdr (assoc name *prices* :test #'string=))))`,
    );
    expect(await debug({ error: Number(number), end: true })).toBe(
      `Ended error ${number} and the call that it stopped.`,
    );
    expect(await debug()).toBe('This session holds no error. A call with on_error: "hold" holds its error.');
    expect(await debug({ error: Number(number) })).toBe(
      `Error ${number} is not held: it was ended. This session holds no error.`,
    );
  });

  test('in what TIME measures says, once it goes on, how long it was held', async () => {
    const note = /\n\nNote: the report of TIME includes the [\d.]+ (ms|s) that the call was held\.$/;
    const error = await hold('(time (progn (cerror "Go on." "stop") 7))');
    expect(await debug({ error, restart: 'continue' })).toMatch(note);
    const untimed = await hold('(progn (time 1) (cerror "Go on." "stop") 7)');
    expect(await debug({ error: untimed, restart: 'continue' })).not.toMatch(note);
  });

  test('tells its slots and what restarts take', async () => {
    const error = await hold('(list (app::fetch 5))');
    expect(await debug({ error })).toMatch(
      /\nType: APP::NO-STOCK\n {2}ITEM = 5\nHeld [\s\S]*\n\nRestarts:\n {2}0 USE-VALUE \(value\): Use another\.\n\n {2}12 {2}\(defun fetch \(n\)\n> 13 /,
    );
    await debug({ error, end: true });
  });

  test('shows the variables of a frame with its source, and evaluates with them', async () => {
    const error = await hold(`(app::total '("a" "b"))`);
    expect(await debug({ error, frame: 2 })).toMatch(
      /^2: \(APP::TOTAL \("a" "b"\)\) {2}shop\.lisp:9:17\n\nLocals:\n {2}NAMES = \("a" "b"\) {2}@\d+\n {2}SUM = 3\n\n {2}6 {2}\(defun total[\s\S]*\n> 9 {8}\(incf sum \(price name\)\)\)\n/,
    );
    expect(await debug({ error, frame: 2, eval: '(list sum names)' })).toBe('(3 ("a" "b"))');
    expect(await debug({ error, frame: 1, eval: 'name' })).toBe('"b"');
    expect(await debug({ error, frame: 9, eval: 'name' })).toBe(
      `There is no frame 9 of error ${error}: it has the frames 0 to 2. Nothing was done; error ${error} is still held.`,
    );
    await debug({ error, end: true });
  });

  test('has the output of what goes on, and of that alone', async () => {
    const error = await hold('(progn (princ "before") (list (app::fetch 1) (princ "after")))');
    expect(await debug({ error, restart: 'USE-VALUE', values: ['7'] })).toBe('(7 "after")\n\nOutput:\nafter');
  });

  test('tells the locks that its thread has', async () => {
    const error = await hold('(sb-thread:with-mutex ((sb-thread:make-mutex :name "till")) (error "No."))');
    expect(await debug({ error })).toContain('Its thread holds the lock "till": threads that need it wait.');
    await debug({ error, end: true });
  });
});

describe('what an answer does not show', () => {
  test('is how many frames; each can be asked for, evaluated in and left', async () => {
    await session.eval(
      '(defun app::deep (n) (declare (optimize (debug 3))) (if (zerop n) (app::fetch n) (1+ (app::deep (1- n)))))',
    );
    const text = await session.eval('(app::deep 30)', { on_error: 'hold' });
    const error = Number(/^Held as error (\d+)/m.exec(text)?.[1]);
    const frames =
      text
        .split('\n\n')
        .find((section) => section.startsWith('Frames:'))
        ?.split('\n') ?? [];
    const more = /^ {2}\.\.\. (\d+) more frames, (\d+) to (\d+); debug with frame shows one$/.exec(
      frames.at(-1) ?? '',
    );
    const [count, next, last] = (more ?? []).slice(1).map(Number);
    expect([frames.length, next]).toEqual([17, 15]);
    expect(count).toBe((last ?? 0) - 14);
    expect(await debug({ error, frame: last })).toMatch(/^\d+: \(APP::DEEP 30\)/);
    expect(await debug({ error, frame: last, eval: '(list cl-user::n)' })).toBe('(30)');
    expect(await debug({ error, frame: (last ?? 0) + 1 })).toContain(`: it has the frames 0 to ${last}. `);
    expect(await debug({ error, frame: last, return: '7' })).toBe('7');
  });

  test('is how many restarts; each can be taken by its name', async () => {
    await session.eval(
      '(defun app::choices (n) (if (zerop n) (error "Choose.") (eval `(restart-case (app::choices ,(1- n)) (,(intern (format nil "CHOICE-~D" n)) () ,n)))))',
    );
    const text = await session.eval('(app::choices 30)', { on_error: 'hold' });
    const error = Number(/^Held as error (\d+)/m.exec(text)?.[1]);
    expect(text).toContain('\n  19 CHOICE-20: ');
    expect(text).toContain('\n  ... 10 more restarts; (compute-restarts) in eval gives them');
    expect(await debug({ error, restart: 'choice-30' })).toBe('30');
  });
});

describe('going on', () => {
  test('by a restart, which is told what it takes', async () => {
    const error = await hold('(list (app::fetch 5) 6)');
    expect(await debug({ error, restart: 'skip' })).toBe(
      `Error ${error} has no restart skip: it has USE-VALUE. Nothing was done; error ${error} is still held.`,
    );
    expect(await debug({ error, restart: 'use-value' })).toBe(
      `The restart USE-VALUE takes the arguments (value). Give a form for each in 'values'. Nothing was done; error ${error} is still held.`,
    );
    expect(await debug({ error, restart: '0', values: ['(+ n 1)'] })).toBe('(6 6)');
  });

  test('by a value that a frame returns', async () => {
    const error = await hold(`(app::total '("a" "b"))`);
    expect(await debug({ error, frame: 1, return: '(length name)' })).toBe('(:TOTAL 4)');
  });

  test('by a frame that is run again with a fixed function; the file with the old text is told', async () => {
    const error = await hold(`(app::total '("a" "b"))`);
    const fix = "(defun price (name) (or (cdr (assoc name *prices* :test #'string=)) 7))";
    expect(await debug({ error, frame: 1, fix, retry: true })).toBe(
      'Fixed: PRICE\n\nshop.lisp:4:1 still has the old text of APP::PRICE.\n\n(:TOTAL 10)',
    );
    expect(await session.eval(`(app::price "b")`)).toBe('7');
  });

  test('by the form that is evaluated again', async () => {
    const error = await hold(`(list 1 (app::total '("b")))`);
    expect(await debug({ error, fix: '(defun price (name) (length name))', retry: true })).toMatch(
      /\n\n\(1 \(:TOTAL 1\)\)$/,
    );
  });

  test('meets the next error, which is held too', async () => {
    const error = await hold(`(app::total '("b" "c"))`);
    const next = await debug({ error, frame: 1, return: '1' });
    expect(next).toMatch(new RegExp(`Held as error ${error + 1}, [\\s\\S]*\\(APP::PRICE "c"\\)`));
    expect(await debug({ error: error + 1, frame: 1, return: '2' })).toBe('(:TOTAL 3)');
  });

  test('from a load, whose file is loaded to its end', async () => {
    root.put('start.lisp', '(defvar app::*one* (app::fetch 1))\n(defvar app::*two* 2)\n');
    const text = await session.text('load_file', { path: 'start.lisp', on_error: 'hold' });
    const error = Number(/Held as error (\d+)/.exec(text)?.[1]);
    expect(text).toContain('(#<top-level form>)  start.lisp:1:20');
    expect(await debug({ error, restart: 'use-value', values: ['11'] })).toMatch(/^Loaded start\.lisp/);
    expect(await session.eval('(list app::*one* app::*two*)')).toBe('(11 2)');
  });

  test('from the compilation of a file, and of a form, whose files are there until then', async () => {
    root.put(
      'asks.lisp',
      '(eval-when (:compile-toplevel) (cerror "Go on." "Asks."))\n(defun app::asked () 3)\n',
    );
    const text = await session.text('load_file', { path: 'asks.lisp', on_error: 'hold' });
    const error = Number(/Held as error (\d+)/.exec(text)?.[1]);
    expect(await debug({ error, restart: 'continue' })).toMatch(/^Loaded asks\.lisp/);
    expect(await session.eval('(app::asked)')).toBe('3');
    const form = '(eval-when (:compile-toplevel) (error "No."))';
    const other = await session.text('compile_form', { form, on_error: 'hold' });
    expect(await debug({ error: Number(/Held as error (\d+)/.exec(other)?.[1]), end: true })).toMatch(
      /^Ended error \d+ and the call that it stopped\.$/,
    );
  });

  test('from BREAK and INVOKE-DEBUGGER', async () => {
    const error = await hold('(progn (break "Here.") 5)');
    expect(await debug({ error, restart: 'continue' })).toBe('5');
    const other = await hold(
      '(with-simple-restart (go-on "Go on.") (invoke-debugger (make-condition \'app::no-stock)))',
    );
    expect(await debug({ error: other, restart: 'go-on' })).toBe('NIL\nT');
  });

  test('is refused after a fix with what was done', async () => {
    const error = await hold(`(app::total '("b"))`);
    const fix = '(defun price (name) (declare (ignore name)) 8)';
    const text = await debug({ error, frame: 0, fix, retry: true, package: 'app' });
    expect(text.split('\n\n').slice(0, 1)).toEqual(['Fixed: PRICE']);
    expect(text.split('\n\n').at(-1)).toBe(
      `Frame 0 cannot be left that way: its code was compiled at too low a debug level. The nearest frame with which this works is 1. Nothing else was done; error ${error} is still held.`,
    );
    await debug({ error, end: true });
  });

  test('counts for the journal: what was fixed is built again', async () => {
    const error = await hold(`(app::total '("b"))`);
    await debug({ error, frame: 1, fix: '(defun price (name) (declare (ignore name)) 8)', retry: true });
    await session.eval('(sb-ext:exit :abort t)');
    expect(await session.eval('(app::price "b")')).toBe('8');
  });
});

describe('restarts that are chosen before', () => {
  test('are taken where they are offered, once for errors that are alike', async () => {
    expect(
      await session.eval('(progn (cerror "Go on." "One.") 1)', { restarts: ['RETRY', 'continue'] }),
    ).toBe('Took the restart CONTINUE: One.\n\n1');
    expect(await session.eval('(loop (cerror "Go on." "Again."))', { restarts: ['continue'] })).toMatch(
      /^Error: Again\.[\s\S]*\n\nTook the restart CONTINUE: Again\.$/,
    );
  });

  test('are told when they need values, and so were not taken', async () => {
    expect(
      await session.eval('(list (symbol-value (quote app::nowhere)))', { restarts: ['use-value'] }),
    ).toMatch(
      /^Error: The variable APP::NOWHERE is unbound\.[\s\S]*\n\nNote: the restart USE-VALUE needs values, so it was not taken\. With on_error: hold, debug can take it with values\.$/,
    );
  });
});

test('debug_level keeps the variables of one form, and of no other', async () => {
  const form = (name: string) =>
    `(defun ${name} (x) (let ((y (* x x))) (setf y (list y)) (when (consp y) (cerror "Go." "No.")) x)) (${name} 3)`;
  const error = await hold(form('app::kept'), { debug_level: 3 });
  expect(await debug({ error, frame: 0 })).toContain('  Y = (9)');
  await debug({ error, end: true });
  const other = await hold(form('app::lost'));
  expect(await debug({ error: other, frame: 0 })).toContain(
    '\n\nLocals:\n  X = 3\n  not kept: Y (debug_level: 3 of eval_form or load_file keeps all)',
  );
  await debug({ error: other, end: true });
});
