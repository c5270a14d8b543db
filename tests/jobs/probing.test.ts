// An image that lives but is of no use is found out and replaced, a session likewise; one that works is left alone.

import { beforeEach, describe, expect, test } from 'vitest';
import { imageOf, killChild, until } from '../server/processes.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const workspace = sharedFolder();
const state = sharedFolder();
/** A limit in seconds, in which a call comes to what never ends, also on a busy machine: one that has not begun says
 *  nothing of its image. */
const REACHED = 3;
const session = sharedSession({
  args: ['--root', workspace.path, '--eval-timeout', String(REACHED)],
  env: { XDG_STATE_HOME: state.path },
  waits: { image: { alive: 500 } },
});
beforeEach(async () => {
  await session.eval('(defun keep () 7)', { timeout: 60 });
});

const NEW_IMAGE = 'This is a new Lisp image; the one before was lost: ';
const BROKEN = `${NEW_IMAGE}it was broken: it could not read, evaluate and print a constant form any more.`;
const RENEWED =
  "Note: the session's readtable and its reader and printer variables were replaced by fresh ones, because with the old ones forms could no longer be read, evaluated and printed. The image and its definitions are kept.";

/** Evaluates FORM with time enough, and returns what the answer says with its notices. */
async function evaluated(form: string, timeout = 60): Promise<{ text: string; notices: string[] }> {
  const { text, notices } = await session.call('eval_form', { form, timeout });
  return { text, notices };
}

describe('an image that cannot evaluate any more', () => {
  test('is replaced when what EVAL needs loops, and restart_image asks nobody', async () => {
    await session.eval(
      "(sb-ext:without-package-locks (setf (fdefinition 'cl:macroexpand-1) (lambda (&rest all) (declare (ignore all)) (loop))))",
      { timeout: 60 },
    );
    expect((await session.call('eval_form', { form: '(keep)' })).isError).toBe(true);
    const restarted = await session.call('restart_image');
    expect(restarted.isError).toBe(false);
    expect([restarted.text, ...restarted.notices].join('\n')).toContain('Rebuilt');
    expect((await evaluated('(keep)')).text).toBe('7');
    const again = await session.call('restart_image', { rebuild: 'none' });
    expect(again.text).toMatch(/approval/i);
  });

  test('is replaced before the next call, which is told', async () => {
    await session.eval(
      "(sb-ext:without-package-locks (setf (fdefinition 'cl:macroexpand-1) (lambda (&rest all) (declare (ignore all)) (loop))))",
      { timeout: 60 },
    );
    await session.eval('(keep)');
    const { text, notices } = await evaluated('(keep)');
    expect(text).toBe('7');
    expect(notices[0]).toContain(BROKEN);
    expect(await session.text('image_status')).toMatch(
      /\nThe image was probed \d+\.\d s ago, because calls had failed: it did not work, and was replaced\./,
    );
  });
});

/** Returns a form that sets VARIABLE to the value of FORM without a look at its type. */
function unchecked(variable: string, form: string): string {
  return `(funcall (compile nil '(lambda (value) (declare (optimize (safety 0))) (setq ${variable} value))) ${form})`;
}

describe('a session that cannot read or print any more', () => {
  test('is renewed when a print variable has no value of its type; the image is kept', async () => {
    const damage = unchecked('*print-base*', ':none');
    const before = [await evaluated(`(progn ${damage} nil)`, REACHED), await evaluated('(keep)')];
    const { text, notices: last } = await evaluated('(list (keep))');
    const notices = [...before.flatMap((answer) => answer.notices), ...last];
    expect(text).toMatch(/^\(7\)/);
    expect(notices.join('\n')).not.toContain(NEW_IMAGE);
    expect(notices).toContain(RENEWED);
  });

  test('gets a readtable when its own is none', async () => {
    await session.eval(unchecked('*readtable*', '(make-hash-table)'));
    const { text, notices } = await evaluated('(keep)');
    // Some values cannot even be printed with it.
    expect([text, ...notices].join('\n\n')).toMatch(
      /^7\n\nNote: (?:the readtable of the session could no longer|the session's readtable and its reader and printer variables were) /,
    );
  });
});

describe('an image that works is left alone', () => {
  test('after a loop and conditions', async () => {
    for (const form of ['(loop)', '(car 1)', '(car 1)', '(car 1)']) await session.call('eval_form', { form });
    const { text, notices } = await evaluated('(keep)');
    expect(text).toBe('7');
    expect(notices).toEqual([]);
    expect(await session.text('image_status')).toMatch(/\nThe image was probed \d+\.\d s ago: it works\./);
  });
});

test('how the session reads and prints is told once when it is not the standard', async () => {
  const note = 'Note: this session now reads or prints differently from a fresh SBCL, because a form set ';
  expect(await session.eval('(setf *read-base* 26)', { timeout: 60 })).toBe(
    `26\n\n${note}*READ-BASE* to 26.`,
  );
  for (const form of ['(keep)', '(progn (setf *read-base* 10) nil)', '(progn (setf *read-base* 10.) nil)']) {
    expect(await session.eval(form, { timeout: 60 })).not.toContain('Note');
  }
});

test('SBCL says that memory is corrupted, and so does image_status', async () => {
  await session.eval(
    '(sb-alien:alien-funcall (sb-alien:extern-alien "corruption_warning_and_maybe_lose" (function sb-alien:void sb-alien:c-string)) "made up")',
    { timeout: 60 },
  );
  expect(await session.text('image_status')).toContain(
    '\nSBCL warned that its memory may be corrupted (made up); restart_image gives a new image.',
  );
});

test('a thread that ends the call of another is named', async () => {
  await session.eval(
    '(defvar *sleeps* nil) (sb-thread:make-thread (lambda () (loop until *sleeps* do (sleep 0.01)) (dolist (thread (remove sb-thread:*current-thread* (sb-thread:list-all-threads))) (handler-case (sb-thread:terminate-thread thread) (sb-thread:interrupt-thread-error ())))) :name "reaper")',
    { timeout: 60 },
  );
  expect(await session.eval('(progn (setf *sleeps* t) (sleep 20))', { timeout: 60 })).toBe(
    'Error: Its thread was ended by another thread (reaper), so the call has no value; the image is kept.',
  );
});

test('a thread that ends without being unwound is noticed soon', async () => {
  const ended = session.eval(
    '(sb-alien:alien-funcall (sb-alien:extern-alien "pthread_exit" (function sb-alien:void sb-alien:long)) 0)',
    { timeout: 600 },
  );
  expect(await ended).toContain(
    'The thread of a call was ended without being unwound, for example by pthread_exit',
  );
  expect((await evaluated('(keep)')).text).toBe('7');
});

describe('a request that had not begun is sent again, once', () => {
  test('when the list of threads is gone', async () => {
    const damage = '(setf sb-thread::*all-threads* nil)';
    // The backend makes the next spare thread meanwhile, so the image can end before this call has its answer, or in
    // one of the next calls.
    const { notices } = await session.call('eval_form', { form: damage, timeout: 60 });
    const seen = [...notices];
    for (let calls = 0; calls < 2 || (calls < 20 && !seen.join().includes(NEW_IMAGE)); calls += 1) {
      const works = await evaluated('(keep)');
      expect(works.text).toBe('7');
      seen.push(...works.notices);
    }
    expect(seen.join('\n')).toContain(NEW_IMAGE);
  });

  test('but not one that had', async () => {
    const runs = session.call('eval_form', { form: '(progn (princ "begun") (sleep 60))', timeout: 60 });
    const pid = await imageOf(session.pid);
    await until('the beginning', 20_000, async () =>
      (await session.text('image_status')).includes('5 characters'),
    );
    await killChild(pid);
    expect((await runs).text).toMatch(
      /^Error: The Lisp image was lost during this call: it was ended by SIGKILL\./,
    );
  });
});
