// Code in the image calls tools: answers, failures, nesting, threads, interruption, losses.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bad, good, type Session, startSession } from '../harness.ts';
import { unknownTool } from '../said.ts';
import { gone, imageOf, until } from '../server/processes.ts';
import { ownSession, sharedFolder, sharedSession, withSession } from '../shared.ts';

const root = sharedFolder();
const session = sharedSession(
  { args: ['--root', root.path, '--heap', '128MB'] },
  `(defvar *n* 0)
    (defun call (form &rest more) (apply #'live-lisp:call-tool "eval_form" :form form more))
    (defun value (table) (values (gethash "text" (first (first (gethash "values" table))))))
    (defun nested (form) (format nil "(value (call ~S))" form))
    (defun in-thread (function) (sb-thread:join-thread (sb-thread:make-thread function)))`,
);

function caught(form: string): string {
  return `(handler-case ${form} (live-lisp:tool-error (e) (princ-to-string e)))`;
}

/** Resolves when no thread counts in *N* any more. */
async function countingEnds(of: Session = session): Promise<void> {
  const counts: string[] = [];
  await until('the end of the counting', 60_000, async () => {
    counts.unshift(await of.eval('*n*'));
    // A busy machine can let a thread that counts stand still between two looks.
    return counts.length >= 5 && new Set(counts.slice(0, 5)).size === 1;
  });
}

const COUNT = '(loop (incf *n*))';

describe('an answer', () => {
  test('S2.21 is the data of the tool', async () => {
    const form = `(let ((data (live-lisp:call-tool :who-calls :name "value" :sites nil :LIMIT 5)))
      (list (hash-table-test data) (gethash "name" data) (gethash "callers" data) (gethash "kept" data)))`;
    expect(await session.eval(form)).toBe('(EQUAL "COMMON-LISP-USER::VALUE" 0 T)');
  });

  test('of a tool that is not there is an error with near names', async () => {
    expect(await session.call('eval_form', { form: '(live-lisp:call-tool :nope)' })).toEqual(
      bad(`Error: Tool nope failed: ${unknownTool('nope')}
Type: LIVE-LISP::TOOL-ERROR

Frames:
  0: (LIVE-LISP:CALL-TOOL :NOPE)`),
    );
    expect(await session.eval(caught('(live-lisp:call-tool "eval-from")'))).toBe(
      '"Tool eval_from failed: Unknown tool: eval_from. Did you mean eval_form?"',
    );
  });

  test.each([
    ['(live-lisp:call-tool :eval-form)', "eval_form failed: Required parameter 'form' missing"],
    [
      '(live-lisp:call-tool :eval-form :form "1" :from nil)',
      "eval_form failed: Unknown parameter 'from'; eval_form takes form, package, on_error, restarts, debug_level, main_thread, timeout, fresh.",
    ],
    ['(call "(error \\"boom\\")")', /^"Tool eval_form failed: Error: boom\nType: COMMON-LISP::SIMPLE-ERROR/],
  ])('of %s is an error that HANDLER-CASE takes', async (form, text) => {
    const answer = await session.eval(caught(form));
    if (typeof text === 'string') expect(answer).toBe(`"Tool ${text}"`);
    else expect(answer).toMatch(text);
  });

  test('keeps the notices for the answer that a model reads', async () => {
    const form = `(progn (in-thread (lambda () (write-line "from afar" sb-sys:*stdout*)))
      (call "1") (live-lisp:call-tool :who-calls :name "car") :done)`;
    expect(await session.call('eval_form', { form })).toEqual({
      text: ':DONE',
      notices: ['Written by other threads since the last answer:\nfrom afar\n'],
      isError: false,
    });
  });
});

describe('nesting', () => {
  test('goes 16 levels deep and not deeper', async () => {
    await session.eval(
      '(defun down (n) (if (zerop n) :bottom (read-from-string (value (call (format nil "(down ~D)" (1- n)))))))',
    );
    expect(await session.eval('(values (down 16))')).toBe(':BOTTOM');
    await session.eval('(defun end () (call "(end)"))');
    expect(await session.eval(caught('(end)'))).toMatch(
      /^"(?:Tool eval_form failed: Error: ){16}Tool eval_form failed: Code can nest tool calls at most 16 levels deep\.\n/,
    );
  });

  test('takes no places, so that all places can be taken by calls that nest', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => session.eval('(sleep 0.2) (value (call (nested "(+ 40 2)")))')),
    );
    for (const answer of answers) expect(answer).toMatch(/^\[1\] NIL\n\[2\] "\\"42\\""/);
  });

  test('works while a macro is expanded, and while files and systems are compiled and loaded', async () => {
    const form = '(defun made () (loop for i below 3 collect i)) (made)';
    expect(await session.eval(`(macrolet ((m () (call "${form}") 7)) (m))`, { timeout: 600 })).toBe('7');
    const call = `(eval-when (:compile-toplevel :load-toplevel) (call "${form}"))`;
    root.put('within.lisp', `(in-package :cl-user) ${call}`);
    root.put(
      'calling.lisp',
      `(in-package :cl-user) ${call}
      (eval-when (:compile-toplevel) (live-lisp:call-tool :load-system :system "within"))`,
    );
    for (const name of ['within', 'calling']) {
      root.put(`${name}.asd`, `(defsystem "${name}" :components ((:file "${name}")))`);
    }
    expect(await session.text('load_file', { path: 'calling.lisp' })).toMatch(/^Loaded calling\.lisp/);
    expect(await session.text('load_system', { system: 'calling' })).toMatch(/^Loaded system calling/);
  });

  test('while code of a system waits for a tool, nobody else loads', async () => {
    await session.eval('(defvar *loads* 0)');
    root.put(
      'slow.lisp',
      `(in-package :cl-user)
      (eval-when (:compile-toplevel) (call "(sleep 0.5)"))
      (incf *loads*)`,
    );
    root.put('slow.asd', '(defsystem "slow" :components ((:file "slow")))');
    await Promise.all([1, 2, 3].map(() => session.text('load_system', { system: 'slow' })));
    expect(await session.eval('*loads*')).toBe('1');
  });
});

describe('threads', () => {
  test('can call, many at once', async () => {
    const form = `(let ((threads (loop for i below 150 collect
        (let ((i i)) (sb-thread:make-thread (lambda ()
          (list (parse-integer (value (call (format nil "(* 2 ~D)" i))))
                (gethash "callers" (live-lisp:call-tool :who-calls :name "call"))))))))) 
      (loop for thread in threads for i from 0 for (double callers) = (sb-thread:join-thread thread)
            always (and (= double (* 2 i)) (integerp callers))))`;
    // A notice says why a thread was ended, if one was.
    expect(await session.call('eval_form', { form })).toEqual(good('T'));
  });

  test('can call while packages come and go', async () => {
    const form = `(let* ((end nil)
        (other (sb-thread:make-thread (lambda ()
          (loop until end do (delete-package (make-package "GONE" :nicknames '("GONE-TOO"))))))))
      (unwind-protect
           (loop repeat 20 always (gethash "callers" (live-lisp:call-tool :who-calls :name "call" :sites t)))
        (setf end t)
        (sb-thread:join-thread other)))`;
    expect(await session.call('eval_form', { form })).toEqual(good('T'));
  });

  test('do not keep the image from reading while they send', async () => {
    await session.eval('(defvar *read* nil)');
    const sending =
      session.eval(`(sb-thread:with-mutex ((live-lisp.base::channel-lock live-lisp.base::*channel*))
      (loop repeat 1000 until *read* do (sleep 0.01))
      *read*)`);
    await until('a request whose answer cannot be sent yet', 60_000, async () =>
      (await session.text('image_status')).includes('has not reacted for'),
    );
    const reading = session.eval('(setf *read* :read)');
    expect(await sending).toBe(':READ');
    expect(await reading).toBe(':READ');
  });

  test('that nest without end are refused, and leave everything usable', async () => {
    await session.eval(`(defvar *refusal* nil)
      (defun fork () (in-thread (lambda ()
        (handler-case (call "(fork)")
          (error (e) (let ((text (princ-to-string e))) (when (search "at most" text) (setf *refusal* text))))))))`);
    await session.eval('(fork)', { timeout: 600 });
    expect(await session.eval('*refusal*')).toBe(
      '"Tool eval_form failed: Background threads can run at most 256 tool calls at a time."',
    );
    const threads =
      '(count "live-lisp evaluate" (sb-thread:list-all-threads) :key #\'sb-thread:thread-name :test #\'equal)';
    await until('the end of the threads', 60_000, async () => (await session.eval(threads)) === '1');
  });
});

describe('what nobody waits for', () => {
  const form = `(call "${COUNT}")`;

  test('is interrupted when the call around it reaches its limit', async () => {
    const { text, notices } = await session.call('eval_form', {
      form: `(call "(call \\"${COUNT}\\")")`,
      timeout: 5,
    });
    expect(text).toMatch(/^Error: Interrupted after \d+\.\d s, past the limit of this call/);
    expect(text).toContain('\n\nIt was at:\n  0: (LIVE-LISP:CALL-TOOL "eval_form" ');
    await countingEnds();
    expect(notices).toEqual([]);
    expect(await session.call('eval_form', { form: '1' })).toEqual(good('1'));
  });

  test('is interrupted when the client cancels, which is told once', async () => {
    await session.eval('(setf *n* 0)');
    const cancel = new AbortController();
    const call = session.call('eval_form', { form }, { signal: cancel.signal });
    const rejected = expect(call).rejects.toThrow();
    await until('its counting', 60_000, async () => (await session.eval('*n*')) !== '0');
    cancel.abort();
    await rejected;
    const notices: string[] = [];
    await until('the notice', 60_000, async () => {
      notices.push(...(await session.call('eval_form', { form: '1' })).notices);
      return notices.length > 0;
    });
    await countingEnds();
    notices.push(...(await session.call('eval_form', { form: '1' })).notices);
    expect(notices).toEqual([
      expect.stringMatching(/^A call that the client cancelled was interrupted after \d+\.\d s\./),
    ]);
  });

  test('is interrupted when the code leaves it', async () => {
    const left = `(handler-case (sb-ext:with-timeout 0.3 ${form}) (sb-ext:timeout () :left))`;
    expect(await session.eval(left)).toBe(':LEFT');
    await countingEnds();
    const thread = `(let ((thread (sb-thread:make-thread (lambda () ${form}))))
      (sleep 0.3) (sb-thread:terminate-thread thread) (sb-thread:join-thread thread :default :ended) :joined)`;
    expect(await session.eval(thread)).toBe(':JOINED');
    await countingEnds();
    expect(await session.eval('(value (call "(+ 1 1)"))')).toBe('"2"');
  });
});

describe('losses', () => {
  test('an image that dies in a nested call is replaced', async () => {
    await withSession({}, async (other) => {
      const form =
        '(live-lisp:call-tool :eval-form :form "(live-lisp:call-tool :eval-form :form \\"(sb-ext:exit :code 5 :abort t)\\")")';
      expect(await other.eval(form)).toContain(
        'The Lisp image was lost during this call: it exited with code 5.',
      );
      const { text, notices } = await other.call('eval_form', {
        form: '(live-lisp:call-tool :eval-form :form "1") 2',
      });
      expect([text.endsWith('[2] 2'), notices.length]).toEqual([true, 1]);
    });
  });

  test('a server that ends while code calls ends with its image', async () => {
    const other = await startSession();
    const image = await imageOf(other.pid);
    await other.eval(`(dotimes (i 5) (sb-thread:make-thread
      (lambda () (loop (ignore-errors (live-lisp:call-tool :eval-form :form "(+ 1 1)"))))))`);
    await other.close();
    await gone(image, 60_000);
  });

  test('code that runs while the image starts can call', async () => {
    const file = join(root.path, 'init.lisp');
    writeFileSync(file, '(defvar *started* (live-lisp:call-tool :eval-form :form "(defvar *inner* 1)"))');
    const other = await ownSession({ args: ['--init', file] });
    expect(await other.eval('(list *inner* (hash-table-p *started*))', { timeout: 600 })).toBe('(1 T)');
  });

  test('what was compiled calls on when the package is deleted', async () => {
    await withSession({}, async (other) => {
      await other.eval('(defun keep (form) (hash-table-p (live-lisp:call-tool :eval-form :form form)))');
      await other.eval(
        `(sb-ext:unlock-package :live-lisp) (handler-bind ((warning #'muffle-warning)) (delete-package :live-lisp))`,
      );
      expect(await other.eval('(keep "(+ 1 2)")')).toBe('T');
      expect(
        await other.eval('(handler-case (keep "(") (error (e) (subseq (princ-to-string e) 0 21)))'),
      ).toBe('"Tool eval_form failed"');
    });
  });
});
