// What a call may not harm: what user code prints, other threads, loads at the same time, the errors of later calls.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession, withSession } from '../shared.ts';

const root = sharedFolder();
const session = sharedSession({ args: ['--root', root.path, '--heap', '1GB'] });

describe('the bounds of answers', () => {
  test('do not cut what user code prints', async () => {
    const file = join(root.path, 'printed');
    await session.eval(
      `(with-open-file (s ${JSON.stringify(file)} :direction :output) (prin1 (loop for i below 1500 collect i) s))`,
    );
    expect(readFileSync(file, 'utf8')).toContain('1499)');
    expect(await session.eval('(let ((x (list 1))) (princ-to-string (list x x)))')).toBe('"((1) (1))"');
    expect(await session.eval('(list *print-length* *print-level* *print-circle*)')).toBe('(NIL NIL NIL)');
  });

  test('leave room for settings that the user makes', async () => {
    expect(await session.eval('(setf *print-length* 2) (list 1 2 3)')).toContain('(1 2 ...)');
    await session.eval('(setf *print-length* nil)');
  });
});

describe('settings that would lock every later call out', () => {
  test('a debugger that is switched off', async () => {
    await session.eval('(sb-ext:disable-debugger)');
    expect(await session.eval('(error "still told")')).toMatch(/^Error: still told\n/);
  });

  test('a deleted CL-USER', async () => {
    await withSession({}, async (other) => {
      await other.eval('(delete-package :cl-user)');
      expect(await other.eval('(cl:+ 1 2)')).toBe('3');
      expect(await other.eval('(cl:error "told")')).toMatch(/^Error: told\n/);
    });
  });
});

test('a form that cannot be read takes back no symbol of another call', async () => {
  const [unreadable] = await Promise.all([
    session.eval('(list :kk #.(sleep 0.5) (1 . 2 3))'),
    session.eval(
      '(sleep 0.2) (defclass race-class () ()) (defparameter *race-key* (intern "RACE-KEY" :keyword))',
    ),
  ]);
  expect(unreadable).toContain('cannot be read');
  expect(await session.eval("(list (and (find-class 'race-class nil) t) (eq *race-key* :race-key))")).toBe(
    '(T T)',
  );
  expect(await session.eval('(find-symbol "K" :keyword) (find-symbol "KK" :keyword)')).toContain('[2] NIL');
});

test('systems that are loaded at once do not disturb each other', async () => {
  await withSession({}, async (other) => {
    const names = libraries('alexandria', 'cl-ppcre', 'flexi-streams');
    const texts = await Promise.all(names.map((system) => other.text('load_system', { system })));
    for (const text of texts) expect(text).toMatch(/^(?:Loaded system|System \S+ was loaded already)/);
  });
});

test('a dependency that was written after the first load is found', async () => {
  const write = (name: string, text: string) => root.put(name, text);
  write('main-part.lisp', '(defvar cl-user::*main-part* 1)');
  write('main-part.asd', '(defsystem "main-part" :components ((:file "main-part")))');
  expect(await session.text('load_system', { system: 'main-part' })).toBe('Loaded system main-part');
  write('new-part.asd', '(defsystem "new-part" :components ((:file "new-part")))');
  write('new-part.lisp', '(defvar cl-user::*new-part* 2)');
  write(
    'main-part.asd',
    '(defsystem "main-part" :depends-on ("new-part") :components ((:file "main-part")))',
  );
  const { isError } = await session.call('load_system', { system: 'main-part', force: true });
  expect(isError).toBe(false);
  expect(await session.eval('*new-part*')).toBe('2');
});

test('a garbage collection that takes longer than a call has to end does not cost the image', async () => {
  await session.eval('(defvar *here* :kept)');
  const { text } = await session.call('eval_form', {
    form: '(let ((big (loop repeat 12000000 collect nil))) (loop (sb-ext:gc :full t) (length big)))',
    timeout: 0.5,
  });
  expect(text).toMatch(/the image (?:and what was done so far are|is) kept/);
  expect(await session.eval('*here*')).toBe(':KEPT');
});

test('what a thread writes to the stream of a call that has ended comes with the next answer', async () => {
  await session.eval(
    `(defvar *late* nil) (defvar *writer* (let ((out *standard-output*))
       (sb-thread:make-thread (lambda () (loop until *late* do (sleep 0.01)) (format out "late words")))))`,
  );
  const form = '(progn (setf *late* t) (sb-thread:join-thread *writer*))';
  const { notices } = await session.call('eval_form', { form });
  expect(notices).toEqual(['Written by other threads since the last answer:\nlate words']);
});

test('ending all threads leaves those alone that answer, and says so', async () => {
  await session.eval('(defvar *still-here* :kept)');
  const text = await session.eval(
    // The thread of an answered call can end by itself before it is ended.
    '(dolist (thread (remove sb-thread:*current-thread* (sb-thread:list-all-threads))) (handler-case (sb-thread:terminate-thread thread) (sb-thread:interrupt-thread-error () nil)))',
  );
  expect(text.replace(/live-lisp reader|main thread/g, 'X')).toBe(
    'NIL\n\nWarnings (2):\n' +
      '  WARNING (form 1): The thread X answers the server, so it is left alone.\n'.repeat(2).trimEnd(),
  );
  expect(await session.eval('*still-here*')).toBe(':KEPT');
});

test('ending all threads with the first call of an image costs nothing either', async () => {
  await withSession({ args: ['--allow', 'restart_image'] }, async (other) => {
    for (let image = 1; image <= 2; image++) {
      const text = await other.eval(
        '(dolist (thread (remove sb-thread:*current-thread* (sb-thread:list-all-threads))) (ignore-errors (sb-thread:terminate-thread thread)))',
      );
      expect(text).toContain('answers the server, so it is left alone.');
      expect(await other.eval('(+ 1 2)')).toBe('3');
      await other.call('restart_image', {});
    }
  });
});
