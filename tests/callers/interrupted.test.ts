// Calls that are interrupted while the index of callers is built: the next ones go on there, and none answers from a part.

import { describe, expect, test } from 'vitest';
import { NO_SYSTEMS } from '../harness.ts';
import { ownSession, sharedFolder, sharedSession } from '../shared.ts';

/** Evaluated by the thread that builds the index, in a step that no interrupt can end: waits for the interrupt. */
const AWAIT_INTERRUPT = '(loop until sb-sys:*interrupt-pending* do (sleep 0.01))';

const LEFT =
  /^Interrupted after \d+\.\d s, past the limit of this call; the image and what was done so far are kept\.\n\nThe image was finding out which code uses which names \(names left: (\d+)\)\. Call again: the next call continues this work\.$/;

test('a limit shorter than the index takes: calls go on, and see what was redefined between them', async () => {
  const session = await ownSession({ args: [...NO_SYSTEMS, '--eval-timeout', '0.5'] });
  const run = async (form: string) => {
    const { text, isError } = await session.call('eval_form', { form, timeout: 600 });
    expect(isError, text).toBe(false);
  };
  // Names are read in their order, so those with ! are read before the first call is ended, and those with Z later.
  await run(`(defpackage :cut (:use :cl))`);
  await run('(defun cut::f (x) x)');
  for (const name of ['!kept', '!gone', 'zz-kept', 'zz-gone'])
    await run(`(defun cut::${name} () (cut::f 1))`);
  await run(
    `(let ((steps 0))
       (sb-int:encapsulate 'live-lisp.look::add-pending 'cut
         (lambda (function index)
           (when (= 500 (incf steps)) ${AWAIT_INTERRUPT})
           (funcall function index))))`,
  );
  const left: number[] = [];
  const ended = async () => {
    const { text, isError } = await session.call('who_calls', { name: 'cut::f' });
    const [, count] = LEFT.exec(text) ?? [];
    if (count !== undefined) left.push(Number(count));
    return isError ? undefined : text;
  };
  while (left.length === 0) expect(await ended()).toBeUndefined();
  for (const name of ['!gone', 'zz-gone']) await run(`(defun cut::${name} () 1)`);
  for (const name of ['!new', 'zz-new']) await run(`(defun cut::${name} () (cut::f 2))`);
  let text: string | undefined;
  while (text === undefined) text = await ended();
  expect(text).toBe(
    'Functions that call CUT::F:\n\n  CUT::!KEPT\n  CUT::!NEW\n  CUT::ZZ-KEPT\n  CUT::ZZ-NEW',
  );
  expect(left).toEqual([...left].sort((one, other) => other - one));
});

describe('within an image', () => {
  const folder = sharedFolder();
  const session = sharedSession({ args: ['--root', folder.path] });

  test('an index that was interrupted often is the same as one that was not', async () => {
    const form = `
      (flet ((uses ()
               (with-index (index)
                 (let ((table (make-hash-table :test 'equal)))
                   (maphash (lambda (name uses)
                              (let ((named (loop for use in (if (integerp uses)
                                                                (list uses)
                                                                (coerce (subseq uses 1 (1+ (aref uses 0))) 'list))
                                                 for user = (aref (use-index-users index) (use-user use))
                                                 when (user-name user)
                                                   collect (list (user-name user) (user-kind user) (use-kind use)))))
                                (when named (setf (gethash name table) named))))
                            (use-index-uses index))
                   table))))
        (let ((steps 0) (cuts 0) (thread sb-thread:*current-thread*))
          (setf **index** nil)
          (sb-int:encapsulate 'add-pending 'cut
            (lambda (function index)
              (when (zerop (mod (incf steps) 3000))
                (incf cuts)
                (sb-thread:make-thread
                  (lambda () (sb-thread:interrupt-thread thread (lambda () (throw 'cut nil)))))
                ${AWAIT_INTERRUPT})
              (funcall function index)))
          (let ((cut (unwind-protect (loop (catch 'cut (return (uses))))
                       (sb-int:unencapsulate 'add-pending 'cut))))
            (setf **index** nil)
            (list (> cuts 3) (> (hash-table-count cut) 1000) (equalp cut (uses))))))`;
    expect(await session.text('eval_form', { form, package: 'LIVE-LISP.LOOK', timeout: 600 })).toBe(
      '(T T T)',
    );
  });

  test('a package that is renamed meanwhile has the index built anew, in the order of the new names', async () => {
    for (const name of ['one', 'two']) await session.eval(`(defpackage :${name} (:use :cl))`);
    await session.eval(
      '(progn (defun one::f (x) x) (defun one::same () (one::f 1)) (defun two::same () (one::f 2)))',
    );
    const form = `
      (let ((thread sb-thread:*current-thread*) (left 2000))
        (setf live-lisp.look::**index** nil)
        (sb-int:encapsulate 'live-lisp.look::add-pending 'cut
          (lambda (function index)
            (when (zerop (decf left))
              (sb-thread:make-thread
                (lambda () (sb-thread:interrupt-thread thread (lambda () (throw 'cut nil)))))
              ${AWAIT_INTERRUPT})
            (funcall function index)))
        (unwind-protect (catch 'cut (live-lisp.look::with-index (index) index))
          (sb-int:unencapsulate 'live-lisp.look::add-pending 'cut))
        (rename-package :one :zero '(:one))
        (rename-package :two :after '(:two)))`;
    await session.text('eval_form', { form, timeout: 600 });
    expect(await session.text('who_calls', { name: 'one::f' })).toBe(
      'Functions that call ZERO::F:\n\n  AFTER::SAME\n  ZERO::SAME',
    );
  });

  /** A macro that calls F. While the backend reads forms again, it ends its call *CUTS* times; the call began BEGAN. */
  const cutting = (began: string) => `
    (defvar *cuts* 1)
    (defmacro cutting (form)
      (when (and live-lisp.look::*began* (plusp *cuts*))
        (decf *cuts*)
        (setf live-lisp.look::*began* (+ (get-internal-real-time) (* ${began} internal-time-units-per-second)))
        (live-lisp.jobs::leave-job live-lisp.jobs::*job* "interrupt"))
      form)`;
  const HOUR_AGO = '-3600';
  const JUST_NOW = '10';
  const FILES_LEFT =
    /^Interrupted after \d+\.\d s by the tool interrupt; the image and what was done so far are kept\.\n\nThe image was rereading loaded files to find the names that their top-level forms use \(files left: 1\)\. Call again: the next call continues this work\.\n\nIt was at:\n/;

  test.each([
    [
      'read again by the next call',
      HOUR_AGO,
      'Other places that call OFTEN::F:\n\n  top-level form at often.lisp:11',
    ],
    [
      'given up when its reading took most of the time of a call',
      JUST_NOW,
      'Possible callers:\n\n  top-level form at often.lisp:11\nNote: not all top-level forms of often.lisp could be read (it was interrupted); search_in_buffer finds names in that file.',
    ],
  ])('a file is %s', async (_what, began, answer) => {
    await session.eval(
      '(progn (when (find-package :often) (delete-package :often)) (defpackage :often (:use :cl)))',
    );
    folder.put('often.lisp', `(in-package :often)\n(defun f (x) x)${cutting(began)}\n\n(cutting (f 1))\n`);
    await session.call('who_calls', { name: 'car' });
    expect((await session.call('load_file', { path: 'often.lisp' })).isError).toBe(false);
    const ended = await session.call('who_calls', { name: 'often::f' });
    expect(ended.text).toMatch(FILES_LEFT);
    expect(ended.isError).toBe(true);
    expect(await session.text('who_calls', { name: 'often::f' })).toBe(answer);
  });

  test('a definition without a file is read again by the next call', async () => {
    await session.eval('(defpackage :once (:use :cl))');
    await session.eval(`(progn (in-package :once) (eval '(defun once::f (x) x)))`);
    await session.eval(cutting(HOUR_AGO));
    await session.eval('(defvar once::*v* (once::cutting (once::f 1)))');
    expect((await session.call('who_calls', { name: 'once::f' })).isError).toBe(true);
    expect(await session.text('who_calls', { name: 'once::f' })).toBe(
      'Other places that call ONCE::F:\n\n  ONCE::*V* (initial value)',
    );
  });
});
