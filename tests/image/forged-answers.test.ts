// Code in the image that writes to the channel of the backend: what it says is bounded, and told as what it is.

import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';
import { FORGING, SAY } from '../say.ts';

const at = sharedWorkspace({ env: FORGING });
beforeAll(async () => {
  at.human = () => APPROVE;
  at.put('code.lisp', '(defclass forged-class () (a))\n(defun forged-one () 1)\n');
  await prepare();
});

/** Gives a new image what these tests use. */
async function prepare(): Promise<void> {
  await at.session.eval(SAY);
  await at.session.eval('(defvar *forging* nil)');
  await at.answer('load_file', { path: 'code.lisp' });
}

/** Returns the megabytes of memory that the server has. */
function megabytes(): number {
  const status = readFileSync(`/proc/${at.session.pid}/status`, 'utf8');
  return Number(/VmRSS:\s*(\d+)/.exec(status)?.[1]) / 1024;
}

describe('a forged answer', () => {
  const ANSWERS = [
    '"value":5',
    '"value":null',
    '"value":{"rows":5,"things":7,"symbol":1}',
    '"value":[null]',
    '"value":{"rows":[null,[1],{"name":null}],"things":[null],"callers":"x","name":{}}',
    '"condition":5,"values":7,"warnings":[null],"formNumber":"x"',
    '"values":[[null]],"warnings":5',
    '"interrupted":[],"value":"x"',
    '"held":5',
    '"tests":5,"value":{"tests":[null]},"parts":7',
  ];
  const CALLS: [string, object][] = [
    ['who_calls', { name: 'forged-one', sites: true }],
    ['describe_symbol', { symbol: 'forged-one' }],
    ['apropos_search', { pattern: 'forged' }],
    ['class_slots', { class_name: 'forged-class' }],
    ['function_arglist', { name: 'forged-one' }],
    ['list_package_symbols', { package: 'cl' }],
    ['read_definition', { names: ['forged-one'] }],
    ['impact_of_change', { name: 'forged-one' }],
    ['eval_form', { form: '(+ 1 2)' }],
    ['compare_image', { path: 'code.lisp' }],
    ['run_tests', { system: 'none' }],
    ['macroexpand_form', { form: '(when 1 2)' }],
    ['get_last_error', {}],
    ['inspect', { what: '*print-base*' }],
    ['image_status', {}],
    ['rename_symbol', { name: 'forged-one', to: 'forged-two', dry_run: true }],
    ['read_file', { path: '/etc/hostname' }],
  ];

  /** Has the image answer the next 60 requests with ANSWERS, one after the other, for as long as the calls of WORK take. */
  async function forging<Value>(answers: readonly string[], work: () => Promise<Value>): Promise<Value> {
    const list = answers.map((answer) => JSON.stringify(answer)).join(' ');
    await at.session.eval(`(progn (setf *forging* t) (let ((first (live-lisp.jobs::job-id live-lisp.jobs::*job*)))
      (sb-thread:make-thread (lambda ()
        (loop for n from 0 while *forging*
              do (loop for id from (1+ first) to (+ first 60)
                       do (say (format nil "{\\"id\\":~D,~A}" id (elt '(${list}) (mod (+ n id) ${answers.length})))))
                 (sleep 0.001))))))`);
    const done = await work();
    await at.answer('restart_image', { rebuild: 'none' });
    await prepare();
    return done;
  }

  test('is no error of JavaScript', async () => {
    const texts = await forging(ANSWERS, () =>
      Promise.all(CALLS.map(([tool, args]) => at.answer(tool, args))),
    );
    for (const text of texts)
      expect(text).not.toMatch(/Cannot read|is not (?:a function|iterable)|Invalid \w+ length/);
  });

  test('is told as that', async () => {
    // The image itself never answers this call.
    const call = () => at.answer('eval_form', { form: '(loop (sleep 1))', timeout: 600 });
    expect(await forging(['"values":5'], call)).toBe(
      'failed: The image sent a malformed answer, so the call failed. Code in the image may have written to the connection to live-lisp. Call again; if that does not help, restart_image makes a new image. If calls still fail like this, live-lisp is at fault: please report it.',
    );
  });
});

describe('what code says without end', () => {
  test('tool calls are refused, and the image stays', async () => {
    await at.session.eval('(defvar *here* :here)');
    const flood = `(loop for n from 1000000 repeat 5000
      do (say (format nil "{\\"call\\":~D,\\"tool\\":\\"image_status\\",\\"args\\":{}}" n)))`;
    await Promise.all([
      at.session.eval(flood, { timeout: 120 }),
      ...Array.from({ length: 20 }, () => at.session.client.ping()),
    ]);
    expect(await at.session.eval('*here*')).toBe(':HERE');
    expect(megabytes()).toBeLessThan(500);
  });

  test('parts of an answer are kept up to a bound', async () => {
    await at.session.eval('(defvar *part* (make-string 1000000 :initial-element #\\x))');
    await at.session.eval(
      `(dotimes (i 120)
         (say (format nil "{\\"id\\":~D,\\"part\\":\\"~A\\"}" (live-lisp.jobs::job-id live-lisp.jobs::*job*) *part*)))`,
      { timeout: 300 },
    );
    expect(await at.session.eval('*here*')).toBe(':HERE');
    expect(megabytes()).toBeLessThan(700);
  });
});

describe('what code says of what it built', () => {
  test('cannot be nested so deeply that what is built after it is lost', async () => {
    const nested =
      '(concatenate (quote string) (make-string 90000 :initial-element #\\[) (make-string 90000 :initial-element #\\]))';
    await at.session.eval(
      `(say (format nil "{\\"job\\":~D,\\"built\\":{\\"text\\":\\"(+ 1 2)\\",\\"policy\\":~A}}" (live-lisp.jobs::job-id live-lisp.jobs::*job*) ${nested}))`,
    );
    await at.session.eval('(defun built-after () :kept)');
    await at.session.eval('(defun built-later () :kept)');
    await at.answer('restart_image', {});
    expect(await at.session.eval('(list (built-after) (built-later))')).toBe('(:KEPT :KEPT)');
  });
});
