// Nothing that an agent does, or that a person does to the backend, harms the image of that person or opens its
// debugger.

import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { AttachedImage } from '../../src/image/attached/attached-image.ts';
import { isStopped } from '../../src/image/process/process-state.ts';
import { wholeText } from '../../src/image/wire/endings.ts';
import { TIMES } from '../../src/image/wire/times.ts';
import { PROJECT, temporaryFolder } from '../harness.ts';
import { until } from '../server/processes.ts';
import { PERSON, type Person, personAt, REPL, startSbcl, toolCaller } from './attached-sbcl.ts';
import { described } from './served.ts';

const folder = temporaryFolder();
const LINE = `(cl:load "${join(PROJECT, 'lisp', 'attach.lisp')}")`;
/** A form for a list of the names of our threads, without those of the call that asks. */
const THREADS = `(sort (remove-if-not (lambda (name) (search "live-lisp" name)) (mapcar #'sb-thread:thread-name (remove sb-thread:*current-thread* (sb-thread:list-all-threads)))) #'string<)`;

let sbcl: ChildProcess;
let person: Person;
let images: AttachedImage[] = [];

beforeAll(async () => {
  ({ sbcl } = await startSbcl(folder.path, {
    before: [PERSON],
    after: REPL,
    cwd: folder.path,
    silent: true,
  }));
  person = personAt(sbcl);
});
afterEach(() => {
  for (const image of images) image.close();
  images = [];
});
afterAll(() => {
  sbcl.kill('SIGKILL');
  folder.remove();
});

/** Returns a server for the image with TREES, which does not wait long for an image that does not react, and GREETING
 *  milliseconds for a greeting. */
function server(trees: string[] = [], greeting: number = TIMES.greeting): AttachedImage {
  const socket = join(folder.path, `sbcl-${sbcl.pid}.socket`);
  const served = described(folder.path, `sbcl-${sbcl.pid}`, { socket, pid: sbcl.pid ?? -1 });
  const times = { ...TIMES, greeting, frozenElsewhere: 2000 };
  const image = new AttachedImage({
    find: async () => served,
    attachLine: LINE,
    limitMs: 60_000,
    times,
    trees,
    isStopped,
  });
  images.push(image);
  return image;
}

/** Resolves with the printed value of CODE in a call of IMAGE, or the text of its condition. */
async function value(image: AttachedImage, code: string): Promise<string | undefined> {
  const { ending, data } = await image.call('evaluate', { code });
  return ending.kind === 'condition' ? ending.condition.text : data.values?.[0]?.[0]?.text;
}

test('an image whose open files are used up serves again when there are some', async () => {
  await person.say(
    '(progn (defvar *files* nil) (ignore-errors (loop (push (sb-posix:open "/dev/null" 0) *files*))) (length *files*))',
  );
  expect(await value(server([], 3000), '1').catch(() => 'refused')).not.toBe('1');
  await person.say("(mapc #'sb-posix:close *files*)");
  expect(await value(server(), '(+ 1 2)')).toBe('3');
  expect(person.printed()).not.toContain('DEBUGGER');
});

test('systems of the workspace are found in a call of which one form loads ASDF', async () => {
  writeFileSync(join(folder.path, 'in-tree.asd'), '(defsystem "in-tree")');
  const image = server([folder.path]);
  expect(await value(image, '(find-package "ASDF")')).toBe('NIL');
  const { data } = await image.call('evaluate', {
    code: '(require "ASDF") (asdf:component-name (asdf:find-system "in-tree"))',
  });
  expect(data.values?.at(-1)).toEqual([{ text: '"in-tree"' }]);
});

test.each(['live-lisp.backend::serve-connection', 'live-lisp.jobs::debugger-hook'])(
  'a person who redefines %s gets no error of ours, and the line mends it',
  async (name) => {
    await person.say(
      `(sb-ext:without-package-locks (setf (fdefinition '${name}) (lambda (&rest x) (declare (ignore x)) (error "broken"))))`,
    );
    const broken = server();
    await Promise.race([
      value(broken, '(error "mine")').catch(() => {}),
      new Promise((resolve) => setTimeout(resolve, 1500)),
    ]);
    broken.close();
    await person.say(LINE);
    expect(await value(server(), '(+ 1 2)')).toBe('3');
    expect(person.printed()).not.toContain('DEBUGGER');
  },
);

test('what a call does to the packages of live-lisp is an error, and it can be stopped', async () => {
  const image = server();
  const locked = /Lock on package LIVE-LISP[.A-Z]* violated/;
  for (const code of [
    '(delete-package "LIVE-LISP.BACKEND")',
    '(rename-package "LIVE-LISP.JOBS" "X")',
    '(defun live-lisp:stop () 1)',
    '(defun live-lisp.backend::serve-connection () 1)',
    "(fmakunbound 'live-lisp:stop)",
    "(setf (fdefinition 'live-lisp.base::send) #'list)",
    '(unintern (find-symbol "STOP" "LIVE-LISP") "LIVE-LISP")',
    '(defstruct live-lisp.jobs::job)',
  ])
    expect(await value(image, code)).toMatch(locked);
  await value(
    image,
    '(dolist (p (list-all-packages)) (when (search "LIVE-LISP" (package-name p)) (ignore-errors (delete-package p))))',
  );
  expect(await person.say('(live-lisp:stop)')).toBe('T');
  expect(await person.say(`(list ${THREADS} (find-package "LIVE-LISP"))`)).toBe('(NIL NIL)');
  await person.say(LINE);
});

test('the line that two threads give at once serves once', async () => {
  await person.say('(live-lisp:stop)');
  const both = `(mapcar #'sb-thread:join-thread (loop repeat 2 collect (sb-thread:make-thread (lambda () ${LINE}))))`;
  expect(await person.say(both)).toBe('(T T)');
  expect(await person.say(THREADS)).toBe('("live-lisp server")');
  expect(await value(server(), '(+ 1 2)')).toBe('3');
  expect(await person.say('(progn (live-lisp:stop) (symbol-plist :live-lisp-line))')).toBe('NIL');
  expect(readdirSync(folder.path).filter((file) => file.includes(`${sbcl.pid}`))).toEqual([]);
  await person.say(LINE);
  expect(person.printed()).not.toContain('DEBUGGER');
});

test('code of a call that runs in a thread of the person opens no debugger, and takes no input', async () => {
  const image = server();
  await person.say(
    '(progn (defvar *theirs* (progn (defun their-work () (loop (sleep 0.01))) (sb-thread:make-thread (function their-work) :name "theirs"))) t)',
  );
  await value(image, '(sb-thread:interrupt-thread *theirs* (lambda () (print "in theirs") (error "mine")))');
  await value(image, '(sb-thread:interrupt-thread (sb-thread:main-thread) (lambda () (error "mine")))');
  let written = '';
  const ended = (thread: string) =>
    `What ran in the thread ${thread} was ended by an unhandled SIMPLE-ERROR: mine\n`;
  await until('what both threads tell', 60_000, async () => {
    await value(image, '1');
    for (const notice of image.takeNotices())
      if (notice.kind === 'background') written += wholeText(notice.output);
    return ['theirs', 'main thread'].every((thread) => written.includes(ended(thread)));
  });
  expect(await value(image, '(read-line sb-sys:*stdin* nil :end)')).toBe(':END');
  expect(await value(image, '(read-line sb-sys:*tty* nil :end)')).toBe(':END');
  await value(image, '(progn (format sb-sys:*stdout* "to stdout~%") (finish-output sb-sys:*stdout*))');
  const { data } = await image.call('debug-thread', { name: 'theirs' });
  expect(data.value?.frames?.map((frame) => JSON.stringify(frame)).join()).toMatch(/their-work/i);
  expect(data.value?.frames?.map((frame) => JSON.stringify(frame)).join()).not.toMatch(/live-lisp/i);
  expect(await person.say('(sb-thread:thread-alive-p *theirs*)')).toBe('T');
  expect(await person.say('(+ 1 2)')).toBe('3');
  expect(person.printed()).not.toMatch(/DEBUGGER|in theirs|to stdout/);
});

/** Returns the error of a call that begins while the image is stopped. */
function stoppedText(): string {
  return `The image sbcl-${sbcl.pid} (SBCL 2.2.9, pid ${sbcl.pid}) does not react, so nothing was run: its process is stopped, for example by Ctrl-Z. Ask the user to resume it: kill -CONT ${sbcl.pid}. Then call again. With the flag --image own this server works in an image of its own.`;
}

test('a call in an image that is stopped by a signal is left at its limit, that is told, and all goes on after SIGCONT', async () => {
  const image = server();
  const { call, text, eval: evaluate } = toolCaller(image, folder.path);
  await evaluate('(defvar *begun* 0) (defvar *ended* 0)');
  expect(await evaluate('(list 4 2)')).toBe('(4 2)');
  image.takeNotices();
  const stop = '(sb-posix:kill (sb-posix:getpid) sb-posix:sigstop)';
  const form = `(unwind-protect (progn (incf *begun*) ${stop} (sleep 100)) (incf *ended*))`;
  expect(await call('eval_form', { form, timeout: 4 })).toEqual({
    text: expect.stringMatching(
      new RegExp(
        `^Error: Given up at its limit after \\d+\\.\\d s: the process of the image is stopped, for example by Ctrl-Z, so the call is stopped too\\. Ask the user to resume the process: kill -CONT ${sbcl.pid}\\. The call is then interrupted; the image and what was done so far are kept\\.$`,
      ),
    ),
    notices: [],
    isError: true,
  });
  expect(await evaluate('(incf *begun*)')).toContain(stoppedText());
  await expect(server().call('evaluate', { code: '1' })).rejects.toThrow(stoppedText());
  expect(await text('image_status', {})).toMatch(
    new RegExp(
      `^The Lisp image has not reacted for \\d+\\.\\d s: its process is stopped, for example by Ctrl-Z\\. Ask the user to resume it: kill -CONT ${sbcl.pid}\\n`,
    ),
  );
  sbcl.kill('SIGCONT');
  expect(await evaluate('(list *begun* *)')).toBe('(1 (4 2))');
  await until('the interrupt', 60_000, async () => (await evaluate('*ended*')) === '1');
  expect(await evaluate('*begun*')).toBe('1');
  expect(image.takeNotices()).toEqual([]);
});

test('the entry goes when the person ends our threads, and the line serves again', async () => {
  const entry = join(folder.path, `sbcl-${sbcl.pid}.json`);
  const image = server();
  await value(image, '1');
  await person.say(
    // The end of one thread can end others.
    `(dolist (thread (remove (sb-thread:main-thread) (remove "finalizer" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal)))
       (handler-case (sb-thread:terminate-thread thread) (sb-thread:interrupt-thread-error ())))`,
  );
  await until('the end of the entry', 60_000, () => !existsSync(entry));
  await until('the end of the connection', 60_000, () => !image.running);
  await expect(image.call('evaluate', { code: '1' })).rejects.toThrow('cannot be reached: connect ENOENT');
  await person.say(LINE);
  expect(await value(server(), '(+ 1 2)')).toBe('3');
  expect(person.printed()).not.toContain('DEBUGGER');
});

test('the line works under odd settings of the person, and leaves them', async () => {
  await person.say('(live-lisp:stop)');
  await person.say(`(progn
    (defvar *odd* (copy-readtable))
    (defun odd-values () (list *features* *macroexpand-hook* *break-on-signals* *read-base* *print-base* *print-readably*
      *compile-print* *compile-verbose* *load-print* *read-default-float-format* *readtable* *print-case*
      sb-ext:*evaluator-mode* (with-output-to-string (*standard-output*) (sb-ext:describe-compiler-policy))))
    (defun be-odd () (set-macro-character #\\! (lambda (s c) (declare (ignore s c)) (error "!")) nil *odd*)
      (setf *features* nil *macroexpand-hook* 'stopping *break-on-signals* 'condition *read-base* 8 *compile-print* t
        *read-default-float-format* 'double-float *readtable* *odd* sb-ext:*evaluator-mode* :interpret)
      (proclaim '(optimize (safety 0) (speed 3) (debug 0))) nil)
    (defun stopping (&rest x) (declare (ignore x)) (error "The macroexpand hook was called."))
    (defun give-line () (let ((*package* (or (find-package "ODD") (make-package "ODD" :use nil)))) ${LINE}))
    (defvar *before* nil) (defvar *after* nil)
    t)`);
  await person.say('(be-odd)');
  await person.say('(setq *before* (odd-values))');
  expect(await person.say('(give-line)')).toBe('T');
  const image = server();
  expect(await value(image, '(progn (defmacro twice (x) `(* 2 ,x)) (twice 21))')).toBe('42');
  expect(await value(image, '(list 10 1.5)')).toBe('(10 1.5)');
  expect(await value(image, '(error "mine")')).toBe('mine');
  expect((await image.call('who-calls', { name: 'car', offset: 0, limit: 1 })).ending.kind).toBe('done');
  expect(await person.say('(equalp *before* (odd-values))')).toBe('T');
  expect(await person.say('(live-lisp:stop)')).toBe('T');
  expect(await person.say('(equalp *before* (odd-values))')).toBe('T');
  expect(person.printed()).not.toContain('DEBUGGER');
});
