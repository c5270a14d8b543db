// What tools that are written in Lisp answer to a client, and that they are called like any other.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT } from '../harness.ts';
import { until } from '../server/processes.ts';
import { ownSession, sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
const audit = join(root.path, 'records', 'audit.jsonl');
const ADD = `(in-package :live-lisp-user) (setf *print-pretty* nil)
    (defmacro add (name level parameters &body body)
      \`(register-tool *agent-q-registry*
         (define-tool ,name ,(format nil "Test ~A. It has a second sentence." name) ',parameters
           :safety-level ,level
           :handler (lambda (args) (declare (ignorable args)) ,@body))))`;
// Long limits, so that what goes on after it was cancelled does not end by itself.
const session = sharedSession(
  { args: ['--root', root.path, '--audit', audit, '--eval-timeout', '600'] },
  ADD,
);

/** Registers a tool with BODY and returns what a call of it gives, without whether it is an error when it is none. */
async function answer(body: string, parameters = '()', args: Record<string, unknown> = {}): Promise<unknown> {
  const { isError, text } = await session.call('eval_form', {
    form: `(add "probe" :safe ${parameters} ${body})`,
  });
  expect([isError, text]).toEqual([false, '#<TOOL probe>']);
  const called = await session.call('probe', args);
  expect(called.notices).toEqual([]);
  return called.isError ? { error: called.text } : called.text;
}

/** The lines of the audit log for TOOL. */
function recorded(tool: string): { [key: string]: unknown }[] {
  const lines = existsSync(audit) ? readFileSync(audit, 'utf8').trim().split('\n') : [];
  return lines
    .map((line) => JSON.parse(line) as { [key: string]: unknown })
    .filter((each) => each['tool'] === tool);
}

describe('a result', () => {
  test.each([
    ['"as it is\nλ"', 'as it is\nλ'],
    ['nil', 'nil'],
    ['(values)', 'nil'],
    ['(list 1 "a" nil :key)', '(1 "a" NIL :KEY)'],
    ['42', '42'],
    ['1.5d0', '1.5'],
    ['(list 1.5d0 1/3)', '(1.5 1/3)'],
    ['t', 'T'],
    [
      '(let ((h (make-hash-table :test (quote equal)))) (setf (gethash "a" h) (list 1 t)) h)',
      '{"a":[1,true]}',
    ],
    [
      '(let ((h (make-hash-table :test (quote equal)))) (setf (gethash "text" h) 5 (gethash "data" h) nil) h)',
      '{"text":5,"data":null}',
    ],
    [
      '(let ((l (list 1))) (setf (cdr l) l) (setf *print-length* 3) (prog1 l (setf *print-length* 3)))',
      '(1 1 1 ...)',
    ],
    ['(setf *print-length* nil)', 'nil'],
    ['(values 1 2)', '1'],
  ])('S2.8 C22 C17 of %s reads as the contract says', async (body, text) => {
    expect(await answer(body)).toBe(text);
  });

  test('S2.10 C17 a text that only looks like an error is a success', async () => {
    expect(await answer('"Error: Invalid input"')).toBe('Error: Invalid input');
  });

  test.each([
    ['(values 1 "not so")', 'not so'],
    [
      '(values nil (make-condition (quote simple-error) :format-control "No ~A." :format-arguments (list 1)))',
      'No 1.',
    ],
  ])('C17 S2.8 the second value of %s makes it a failure', async (body, error) => {
    expect(await answer(body)).toEqual({ error });
  });

  test.each([
    ['(error "Invalid input")', 'Tool error: Invalid input'],
    ['(error (quote tool-error) :tool "x" :message "y")', 'Tool error: Tool x failed: y'],
  ])('C17 S2.9 what %s signals makes it a failure', async (body, error) => {
    expect(await answer(body)).toEqual({ error });
    expect(await session.text('get_last_error')).toContain('the handler of the tool probe');
  });

  test('S2.8 what the handler wrote follows its result', async () => {
    expect(await answer('(print :hi) "done"')).toBe('done\n\nOutput:\n:HI');
  });

  test('a string that is too long for an answer is cut there, and is whole for code', async () => {
    const text = String(await answer('(make-string 100000 :initial-element #\\a)'));
    expect(text).toMatch(/^a{20000}\n\[\.\.\. 60000 characters left out \.\.\.\]\na{20000}$/);
    expect(await session.eval('(length (call-tool "probe"))')).toBe('100000');
  });

  test('a result that cannot cross is its text for code', async () => {
    await answer('(list #p"/tmp/" 1)');
    expect(await session.eval('(call-tool "probe")')).toBe('"(#P\\"/tmp/\\" 1)"');
  });

  test('a string that cannot pass the wire is a failure, and the image is kept', async () => {
    const { text } = await session.call('eval_form', {
      form: '(defvar cl-user::*large* (make-string 7000000 :initial-element (code-char 955)))',
      timeout: 60,
    });
    expect(text).toBe('COMMON-LISP-USER::*LARGE*');
    expect(await answer('cl-user::*large*')).toEqual({
      error: 'Its result, a string of 7000000 characters, cannot be sent to the server: it is too large.',
    });
    expect(await answer('1')).toBe('1');
  });
});

describe('arguments', () => {
  const PARAMETERS =
    '((:name "a" :type :string :enum ("x" "y")) (:name "flag" :type :boolean) (:name "n" :type :integer :minimum 1))';

  test('S2.7 C24 come as an EQUAL hash table with string keys, without those that are absent', async () => {
    const body = `(list (hash-table-test args) (sort (loop for key being the hash-keys of args using (hash-value value)
      collect (list key value)) #'string< :key #'first))`;
    expect(await answer(body, PARAMETERS, { flag: false, n: 3, a: null })).toBe(
      '(EQUAL (("flag" NIL) ("n" 3)))',
    );
    expect(await answer(body, PARAMETERS)).toBe('(EQUAL NIL)');
  });

  test.each([
    [{ b: 1 }, "Unknown parameter 'b'; probe takes a, flag, n."],
    [{ a: 'z' }, "Parameter 'a' must be one of x, y."],
  ])('S2.18 %j is refused before the handler runs', async (args, error) => {
    expect(await answer('(error "It ran.")', PARAMETERS, args)).toEqual({ error });
  });

  test('S2.18 a required one that is missing is refused', async () => {
    const form = `(register-tool *agent-q-registry* (define-tool "wants" "W." '((:name "a" :type :string)) :required '("a") :handler 'list))`;
    await session.eval(form);
    expect(await session.text('wants')).toBe("Required parameter 'a' missing");
  });
});

describe('limits', () => {
  test('a handler that loops is interrupted at the limit of evaluations, and the image is kept', async () => {
    const limited = await ownSession({ args: ['--root', root.path, '--eval-timeout', '2'] });
    // The limit holds for the handler alone: it ends nothing that is only slow.
    const evaluated = (form: string) => limited.eval(form, { timeout: 600 });
    await evaluated(ADD);
    await evaluated('(defvar *kept* 1) (add "loops" :safe () (loop))');
    const { text, isError } = await limited.call('loops');
    expect(isError).toBe(true);
    const [, seconds] = /^Interrupted after (\d+\.\d) s, /.exec(text) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(2);
    expect(text).toMatch(
      /^Interrupted after \S+ s, past the limit of this call; the image and what was done so far are kept\.\n\nIt was at:\n {2}0: .*\n\nThe user can raise this limit when starting the server: --eval-timeout SECONDS$/,
    );
    expect(await evaluated('*kept*')).toBe('1');
  });

  test('a call that the client cancels is interrupted', async () => {
    await session.eval('(defvar *n* 0) (add "counts" :safe () (loop (incf *n*)))');
    const cancel = new AbortController();
    const call = session.call('counts', {}, { signal: cancel.signal });
    const rejected = expect(call).rejects.toThrow();
    await until('its counting', 60_000, async () => (await session.eval('*n*')) !== '0');
    cancel.abort();
    await rejected;
    const counts: string[] = [];
    await until('the end of the counting', 60_000, async () => {
      counts.unshift(await session.eval('*n*'));
      // A busy machine can let a thread that counts stand still between two looks.
      return counts.length >= 5 && new Set(counts.slice(0, 5)).size === 1;
    });
  });

  test('code that ends its own thread or the image is told as such', async () => {
    await session.eval('(add "ends" :safe () (sb-thread:abort-thread))');
    expect(await session.text('ends')).toContain('Its thread was ended by the code that ran in it');
  });
});

describe('the gate', () => {
  test('S2.11 C3 a tool that an evaluation registers is recorded as cautious, whatever it says', async () => {
    await session.eval('(add "recorded" :safe ((:name "a" :type :string)) "done")');
    await session.call('recorded', { a: 'b' });
    expect(recorded('recorded')).toEqual([
      expect.objectContaining({
        event: 'begin',
        level: 'cautious',
        caller: 'client',
        authority: 'level',
        arguments: { a: 'b' },
      }),
    ]);
    expect(await session.eval('(tool-safety-level (get-tool "recorded"))')).toBe(':SAFE');
  });

  test('S2.11 C20 a dangerous one does not run when nobody can be asked', async () => {
    await session.eval('(defvar *ran* nil) (add "risky" :dangerous () (setf *ran* t))');
    const { text, isError } = await session.call('risky');
    expect([isError, text]).toEqual([
      true,
      "Tool risky is dangerous and needs a human's approval, and here nobody can be asked. Nothing was done. A person can allow it when they start the server: --init FILE --allow risky, where FILE defines the tool.",
    ]);
    expect(await session.eval('*ran*')).toBe('NIL');
    expect(
      await session.eval('(handler-case (call-tool "risky") (tool-error (e) (tool-error-message e)))'),
    ).toMatch(/^"Tool risky is dangerous and needs a human's approval, which code cannot request\./);
  });
});

describe('execute-tool-call', () => {
  const RESULT =
    '((lambda (r) (list (tool-result-id r) (tool-result-success r) (tool-result-result r) (tool-result-error r))) ';
  const execute = (tool: string, call: string) =>
    session.eval(`${RESULT} (execute-tool-call ${tool} ${call}))`);

  test('S2.20 S2.9 returns a result in any case', async () => {
    await session.eval('(add "adds" :safe ((:name "x" :type :number)) (+ 1 (gethash "x" args)))');
    expect(await execute('(get-tool "adds")', `'(:id 7 :name "adds" :arguments (:x 2))`)).toBe(
      '(7 T "3" NIL)',
    );
    expect(await execute('(get-tool "adds")', "'(:arguments nil)")).toMatch(/^\(NIL NIL NIL "Tool error: /);
    expect(await execute('(get-tool "describe_symbol")', `'(:id "a" :arguments (:symbol "nope"))`)).toBe(
      '("a" T "Symbol NOPE not found in package LIVE-LISP-USER (status: NIL)" NIL)',
    );
    expect(await execute('(get-tool "describe_symbol")', `'(:id 1)`)).toBe(
      `(1 NIL NIL "Required parameter 'symbol' missing")`,
    );
  });

  test('S2.20 S2.14 S4.13 what is not registered does not run', async () => {
    expect(await execute('nil', `'(:id 1 :name "nope")`)).toBe('(1 NIL NIL "Unknown tool: nope")');
    const loose = `(define-tool "loose" "L." '() :handler (lambda (a) (error "It ran: ~A" a)))`;
    expect(await execute(loose, `'(:id 1 :name "loose")`)).toBe('(1 NIL NIL "Unknown tool: loose")');
  });

  test('S2.20 S2.11 a dangerous tool does not run', async () => {
    expect(await execute('(get-tool "write_file")', `'(:id 1 :arguments (:path "x" :content "y"))`)).toMatch(
      /^\(1 NIL NIL "Tool write_file is dangerous and needs a human's approval, which code cannot request\./,
    );
  });
});

test('C23 S2.20 the three examples of the contract run as they stand', async () => {
  const text = readFileSync(join(PROJECT, 'fixtures', 'contract-tools.lisp'), 'utf8');
  const forms = text.split(/^(?=\(let )/m).filter((form) => form.startsWith('('));
  expect(forms.length).toBe(3);
  for (const form of forms) expect(await session.eval(form)).toMatch(/^#<TOOL \w+>$/);
  expect(await session.text('lisp_describe_symbol', { symbol: 'car' })).toContain(
    'CAR names a compiled function',
  );
  expect(await session.text('lisp_describe_symbol', { symbol: 'nope' })).toBe('Symbol nope not found');
  expect(await session.text('lisp_eval_form', { form: '(list 1 "a")' })).toBe('(1 "a")');
  expect(await session.call('lisp_eval_form', { form: '(error "x")' })).toMatchObject({
    text: 'Error: x',
    isError: false,
  });
  expect((await session.call('lisp_write_file', { path: 'x', content: 'y' })).text).toMatch(/approval/i);
  // In the image they are what their names mean now; at the client the names stay the server's.
  expect(
    await session.eval(`(let ((args (make-hash-table :test 'equal)))
      (setf (gethash "symbol" args) "nope")
      (list (funcall (tool-handler (get-tool "describe_symbol")) args) (call-tool "eval_form" :form "1")))`),
  ).toMatch(/^\("Symbol nope not found" #<HASH-TABLE /);
  expect(
    await session.eval(`(let ((lisp (get-tool "write_file")))
      (register-agent-q-tools)
      (list (eq lisp (get-tool "write_file")) (length (tool-required (get-tool "write_file")))
            (tool-result-success (execute-tool-call (get-tool "describe_symbol") '(:arguments (:symbol "car"))))))`),
  ).toBe('(NIL 2 T)');
  expect(await session.text('describe_symbol', { symbol: 'nope' })).toBe(
    'Symbol NOPE not found in package LIVE-LISP-USER (status: NIL)',
  );
});
