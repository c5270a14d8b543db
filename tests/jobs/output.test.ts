// What evaluated code writes, and where it can read from.

import { describe, expect, test } from 'vitest';
import type { Answer } from '../harness.ts';
import { good } from '../harness.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession();

function answer(form: string): Promise<Answer> {
  return session.call('eval_form', { form });
}

describe('output', () => {
  test.each([
    '*standard-output*',
    '*error-output*',
    '*trace-output*',
    '*terminal-io*',
    '*debug-io*',
    '*query-io*',
  ])('to %s is shown under the values', async (stream) => {
    expect(await answer(`(progn (format ${stream} "one~%two") :value)`)).toEqual(
      good(':VALUE\n\nOutput:\none\ntwo'),
    );
  });

  test('without a letter or digit is told by its beginning, and equal lines by one of them', async () => {
    const dots = '(dotimes (i 50) (format t "~A~%" (subseq "..." 0 (1+ (mod i 3)))))';
    expect((await answer(`(progn (format t "begin~%") ${dots} (format t "end") 1)`)).text).toBe(
      '1\n\nOutput:\nbegin\n.\n..\n...\n[... 47 more lines without a letter or digit ...]\nend',
    );
    expect((await answer('(dotimes (i 5) (format t "again~%"))')).text).toBe(
      'NIL\n\nOutput:\nagain\n[... 4 more lines like it ...]',
    );
  });

  test('that draws with marks, as a board does, is told whole', async () => {
    const board = Array.from({ length: 20 }, (_, row) => '#'.padStart(row, '.').padEnd(20, '.')).join('\n');
    expect((await answer(`(progn (write-string "${board}") 1)`)).text).toBe(`1\n\nOutput:\n${board}`);
  });

  test('before an error is shown too', async () => {
    const { text } = await answer('(progn (princ "so far") (error "stopped"))');
    expect(text).toMatch(/^Error: stopped\n[\s\S]*\n\nOutput:\nso far$/);
  });

  test('of a million characters is bounded: its head, how many are left out, its tail', async () => {
    const { text, isError } = await answer(
      '(progn (write-string "begin") (dotimes (i 100000) (write-string "0123456789")) (write-string "end") nil)',
    );
    expect(isError).toBe(false);
    const [head = '', omitted = '', tail = ''] = text.split(
      /\n\[\.\.\. (\d+) characters left out \.\.\.\]\n/,
    );
    expect(head).toMatch(/^NIL\n\nOutput:\nbegin(0123456789)+\d*$/);
    expect(tail).toMatch(/^\d*(0123456789)+end$/);
    const shown = head.length - 'NIL\n\nOutput:\n'.length + tail.length;
    expect(shown + Number(omitted)).toBe(1_000_008);
    expect(text.length).toBeLessThan(20_000);
  });

  // A string that is being filled holds what was in memory before, and can be an argument of a frame.
  test.each([
    [0x110000, '\ufffd'],
    [0xffffffff, '\ufffd'],
  ])('of a string that holds %d is an answer', async (code, shown) => {
    const text = await session.eval(
      `(let ((string (make-string 2)))
         (setf (sb-kernel:%vector-raw-bits string 0) (dpb ${code} (byte 32 0) (ash 97 32)))
         string)`,
    );
    expect(text).toBe(`"${shown}a"`);
  });

  test('of a trace is shown', async () => {
    await answer('(defun traced (n) (* 2 n)) (trace traced)');
    const { text } = await answer('(traced 21)');
    await answer('(untrace)');
    expect(text).toMatch(/^42\n\nOutput:\n\s*0: \(TRACED 21\)\n\s*0: TRACED returned 42$/);
  });
});

describe('output to a stream that an earlier call had', () => {
  test('is that of the call that writes it, with its lines begun anew', async () => {
    await answer('(defvar *kept* *standard-output*)');
    expect(await answer('(progn (format *kept* "~&one") (format *kept* "~&two") 1)')).toEqual(
      good('1\n\nOutput:\none\ntwo'),
    );
  });
});

describe('output of others', () => {
  const THREAD =
    '(nth-value 0 (sb-thread:join-thread (sb-thread:make-thread (lambda () FORM)) :default :ended))';

  test('a thread that an evaluation left behind: shown once, with the next answer', async () => {
    await answer('(defvar *go* nil) (defvar *done* nil)');
    await answer(
      '(sb-thread:make-thread (lambda () (loop until *go* do (sleep 0.01)) (princ "from behind") (setf *done* t)))',
    );
    expect((await answer('(+ 1 2)')).notices).toEqual([]);
    const { text, notices } = await answer('(progn (setf *go* t) (loop until *done* do (sleep 0.01)) :next)');
    expect(text).toBe(':NEXT');
    expect(notices).toEqual(['Written by other threads since the last answer:\nfrom behind']);
    expect((await answer('(+ 1 2)')).notices).toEqual([]);
  });

  test('a thread that writes a million characters: bounded', async () => {
    const form = THREAD.replace('FORM', '(dotimes (i 100000) (write-string "0123456789"))');
    const { notices } = await answer(form);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(/\n\[\.\.\. \d+ characters left out \.\.\.\]\n/);
    expect(notices[0]?.length).toBeLessThan(20_000);
  });

  test('an error in a thread of its own is told, and the image lives', async () => {
    const { text, notices } = await answer(THREAD.replace('FORM', '(error "in a thread")'));
    expect(text).toBe(':ENDED');
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(/The thread .* was ended by an unhandled SIMPLE-ERROR: in a thread/);
    expect((await answer('(+ 1 2)')).text).toBe('3');
  });

  test('a child process: shown once', async () => {
    const form = '(sb-ext:run-program "/bin/echo" (list "from a child") :output t)';
    const first = await answer(`(progn ${form} 1)`);
    // It comes through a pipe, so it may be one answer late.
    const second = await answer('2');
    const reported = [...first.notices, ...second.notices];
    expect(reported).toEqual(["Written to the image's own stdout or stderr:\nfrom a child"]);
    expect([first.text, second.text]).toEqual(['1', '2']);
  });

  test('a child process whose output is captured is captured', async () => {
    const form = '(with-output-to-string (s) (sb-ext:run-program "/bin/echo" (list "caught") :output s))';
    expect(await answer(form)).toEqual(good('"caught\n"'));
  });

  test('what goes to a stream of SBCL is shown', async () => {
    const { text, notices } = await answer(
      '(progn (format sb-sys:*stderr* "past the backend") (finish-output sb-sys:*stderr*) 1)',
    );
    const later = await answer('2');
    expect([text, ...notices, ...later.notices].join('\n')).toContain('past the backend');
  });
});

test('what a program writes is shown also through another stream', async () => {
  const form = `(progn (run-program "/bin/echo" '("said") :output (make-broadcast-stream *terminal-io*)) 1)`;
  expect(await answer(form)).toMatchObject({ text: '1\n\nOutput:\nsaid', isError: false });
});

describe('input', () => {
  test.each(['(read)', '(let ((x 1)) (check-type x string) x)'])('%s does not wait', async (form) => {
    const { text, isError } = await session.call('eval_form', { form, timeout: 60 });
    expect(isError).toBe(true);
    expect(text).not.toContain('Interrupted');
    expect(text).toMatch(
      form.includes('check-type') ? /\nType: COMMON-LISP::SIMPLE-TYPE-ERROR\n/ : /^Error: end of file/,
    );
  });

  test.each([
    ['(read-line *standard-input* nil :eof)', ':EOF\nT'],
    ['(read-char-no-hang *standard-input* nil :eof)', ':EOF'],
    ["(mapcar #'stream-element-type (list *standard-input* *terminal-io*))", '(CHARACTER CHARACTER)'],
  ])('%s gives %j', async (form, text) => {
    expect(await answer(form)).toEqual(good(text));
  });
});
