// An SBCL that somebody else runs, here the test, is an image: its backend serves the wire on a socket.

import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AttachedImage } from '../../src/image/attached/attached-image.ts';
import type { Served } from '../../src/image/wire/served.ts';
import { occupiedText } from '../../src/tools/execution/evaluation.ts';
import { PROJECT, temporaryFolder, testSbcl } from '../harness.ts';
import { imageContract } from '../image-contract.ts';
import { until } from '../server/processes.ts';
import { PERSON, type Person, personAt, REPL, startSbcl } from './attached-sbcl.ts';

const LINE = `(load "${join(PROJECT, 'lisp', 'attach.lisp')}")`;
const folder = temporaryFolder();
let socket: string;
let sbcl: ChildProcess;
let theirs: Person;

/** What the person has set before the line. */
const SETTINGS = [
  PERSON,
  // As SLIME does.
  '(setf *debugger-hook* sb-ext:*invoke-debugger-hook*)',
  '(setf *print-length* 3 *print-base* 2 *read-base* 16 (readtable-case *readtable*) :invert)',
];

async function start(): Promise<void> {
  ({ sbcl, socket } = await startSbcl(folder.path, { before: SETTINGS, after: REPL }));
  theirs = personAt(sbcl);
}

/** Has the person's image evaluate FORM, read in base 16, and returns what it prints for the value. */
const person = (form: string) => theirs.say(form);

beforeAll(start);
afterAll(() => {
  sbcl.kill('SIGKILL');
  folder.remove();
});

/** The image that is found, as its file would say. */
const served = (): Served => ({
  name: 'sbcl-1',
  pid: sbcl.pid ?? -1,
  workspace: PROJECT,
  socket,
  started: 1_795_000_000,
  lisp: 'SBCL 2.2.9',
});
const options = () => ({ find: async () => served(), attachLine: '(load "attach.lisp")', limitMs: 60_000 });

imageContract(async (connections) => new AttachedImage({ ...options(), ...connections }));

describe('besides', () => {
  const attach = () => new AttachedImage(options());

  test('only its user can open the socket', () => {
    expect(statSync(socket).mode & 0o777).toBe(0o600);
  });

  test('its main thread runs no calls, since it is not ours', async () => {
    const image = attach();
    const { data } = await image.call('evaluate', { code: '1', mainThread: true });
    expect(data).toEqual({ mainThread: {} });
    expect(occupiedText({}, image.jobs)).toBe(
      'Error: the main thread belongs to whoever runs this image, so nothing was evaluated. To have it call FUNCTION, evaluate (sb-thread:interrupt-thread (sb-thread:main-thread) FUNCTION).',
    );
    await image.end();
  });

  test('a call that its server leaves is ended', async () => {
    const [first, second] = [attach(), attach()];
    const left = first.call('evaluate', { code: '(loop (sleep 0.01))' });
    await until('its start', 60_000, () => first.jobs.list()[0]?.phase.kind === 'running');
    first.close();
    expect((await left).ending).toEqual({ kind: 'lost', how: 'the server ended', attached: true });
    const gone = async () => (await second.status()).backend?.jobs === undefined;
    await second.call('evaluate', { code: '1' });
    await until('its end', 60_000, gone);
    await second.end();
  });

  test('what a call of the server before still says is no answer to the next server', async () => {
    const [first, second] = [attach(), attach()];
    const goOn = join(folder.path, 'go-on');
    const left = first.call('evaluate', {
      code: `(unwind-protect (loop (sleep 0.01)) (loop until (probe-file "${goOn}") do (sleep 0.01)) (princ :left))`,
    });
    await until('its start', 60_000, () => first.jobs.list()[0]?.phase.kind === 'running');
    first.close();
    await left;
    // The call has the number that the one of the first server had.
    const reply = second.call('evaluate', { code: `(progn (sleep 0.5) (princ :mine) 7)` });
    await until('its start', 60_000, () => second.jobs.list()[0]?.phase.kind === 'running');
    writeFileSync(goOn, '');
    expect(await reply).toMatchObject({
      ending: { kind: 'done' },
      output: { text: 'MINE' },
      data: { values: [[{ text: '7' }]] },
    });
    await second.end();
  });

  test('an image that is closed while it is connected to stays closed', async () => {
    const image = attach();
    image.start();
    image.close();
    await until('the end of the connection', 60_000, () => !image.running);
    await expect(image.call('evaluate', { code: '1' })).rejects.toThrow('The server is ending.');
    const next = attach();
    expect((await next.call('evaluate', { code: '1' })).ending).toEqual({ kind: 'done' });
    await next.end();
  });

  test('the line serves nothing where a package has the name of ours or there is no folder, and says so', async () => {
    await person('(live-lisp:stop)');
    await person('(make-package "THEIRS" :nicknames (list "LIVE-LISP"))');
    expect(
      await person(
        `(let ((*print-length* nil)) (substitute #\\Space #\\Newline (princ-to-string (nth-value 1 (ignore-errors ${LINE})))))`,
      ),
    ).toContain(
      'The package THEIRS of this image has the name or nickname LIVE-LISP, which live-lisp needs, so nothing was loaded. Rename that package, and enter the line again.',
    );
    await person('(delete-package "THEIRS")');
    expect(
      await person(
        `(let ((*default-pathname-defaults* #p"/no/folder/")) (handler-case ${LINE} (error (failure) (format t "~A~%" failure))))`,
      ),
    ).toMatch(/nil/i);
    expect(theirs.printed()).toContain(
      `*DEFAULT-PATHNAME-DEFAULTS* is #P"/no/folder/", which is not a folder. It must be the folder that this image serves, so bind it: (let ((*default-pathname-defaults* #p"/srv/shop/")) ${LINE})`,
    );
    expect(readdirSync(folder.path).filter((name) => name.startsWith('sbcl-'))).toEqual([]);
    await person(LINE);
  });

  test('(live-lisp:stop) leaves the image as it was before the line', async () => {
    const state = `(progn (gc :full t) (list
      (remove-if-not (lambda (name) (search "LIVE-LISP" name)) (mapcar #'package-name (list-all-packages)))
      (mapcar #'sb-thread:thread-name (sb-thread:list-all-threads)) *features* *readtable*
      sb-ext:*after-gc-hooks* sb-ext:*exit-hooks* sb-ext:*init-hooks* sb-ext:*invoke-debugger-hook* *debugger-hook*
      *break-on-signals* *macroexpand-hook* sb-ext:*evaluator-mode* (sb-ext:bytes-consed-between-gcs)
      (mapcar #'fdefinition '(load compile-file error signal sb-thread:make-thread sb-ext:exit export add-method))
      (length (sb-mop:generic-function-methods #'print-object)) (length (sb-mop:class-direct-subclasses (find-class 'structure-object)))
      (sb-mop:class-direct-subclasses (find-class 'error))))`;
    const whole = `(let ((*print-length* nil)) (prin1-to-string ${state}))`;
    await person('(live-lisp:stop)');
    await person(
      '(progn (require :sb-posix) (require :sb-bsd-sockets) (require :sb-introspect) (require :sb-cltl2))',
    );
    const before = await person(whole);
    await person(LINE);
    const image = attach();
    await image.call('evaluate', { code: '(progn (defun used (x) x) (used 1))' });
    await image.call('who-calls', { name: 'car', offset: 0, limit: 5 });
    await image.call('evaluate', { code: '(error "kept")' });
    await image.call('debug-watch', { where: 'all' });
    await image.end();
    await person('(live-lisp:stop)');
    expect(await person(whole)).toBe(before);
    expect(readdirSync(folder.path).filter((name) => name.startsWith('sbcl-'))).toEqual([]);
    await person(LINE);
  });

  test('an image is saved without the backend', async () => {
    const core = join(folder.path, 'saved.core');
    const ended = new Promise((resolve) => sbcl.once('exit', resolve));
    sbcl.stdin?.write(`(sb-ext:save-lisp-and-die "${core}")\n`);
    expect(await ended).toBe(0);
    const form = '(print (list (find-package "LIVE-LISP") sb-ext:*save-hooks* sb-ext:*exit-hooks*))';
    const args = ['--core', core, '--noinform', '--no-sysinit', '--no-userinit', '--eval', form, '--quit'];
    expect(spawnSync(testSbcl(), args, { encoding: 'utf8' }).stdout).toMatch(/\(nil nil nil\)/i);
    await start();
  });

  test('(live-lisp:stop) ends the service, and leaves the image to its user', async () => {
    const image = attach();
    const reported = join(folder.path, 'told');
    const threads = `(with-open-file (out "${reported}~" :direction :output)
      (prin1 (mapcar #'sb-thread:thread-name (remove sb-thread:*current-thread* (sb-thread:list-all-threads))) out))`;
    const code = `(progn (live-lisp:stop) ${threads} (rename-file "${reported}~" "${reported}"))`;
    const { ending } = await image.call('evaluate', { code });
    expect(ending).toEqual({
      kind: 'lost',
      how: '(live-lisp:stop) disconnected live-lisp from it',
      attached: true,
    });
    await until('what it tells', 60_000, () => existsSync(reported));
    expect(readFileSync(reported, 'utf8')).not.toContain('live-lisp');
    await expect(image.call('evaluate', { code: '1' })).rejects.toThrow(
      `The image sbcl-1 (SBCL 2.2.9, pid ${sbcl.pid}) cannot be reached: connect ENOENT ${socket}. Ask the user to enter this line in the image's REPL, then repeat the call. The line: (load "attach.lisp")`,
    );
    expect(sbcl.exitCode).toBe(null);
    await person(LINE);
  });

  test('systems of the workspace are found in calls, and the search of its person is left alone', async () => {
    const tree = join(folder.path, 'tree');
    mkdirSync(join(tree, 'deep'), { recursive: true });
    mkdirSync(join(tree, '.git'));
    for (const [name, text] of [
      ['deep/in-tree.asd', '(defsystem "in-tree" :components ((:file "code")))'],
      ['deep/code.lisp', '(defpackage "IN-TREE" (:use "CL")) (defvar in-tree::*it* :found)'],
      ['.git/hidden.asd', '(defsystem "hidden")'],
    ] as const)
      writeFileSync(join(tree, name), text);
    const image = new AttachedImage({ ...options(), trees: [tree] });
    expect(await person('(find-package "ASDF")')).toMatch(/^nil$/i);
    const loaded = await image.call('load-system', { name: 'in-tree', force: false });
    expect(loaded).toMatchObject({ ending: { kind: 'done' }, data: { value: { loaded: ['in-tree'] } } });
    await person('(asdf:clear-system "in-tree")');
    const finders = await person('(prin1-to-string asdf:*system-definition-search-functions*)');
    const evaluate = async (code: string) =>
      (await image.call('evaluate', { code })).data.values?.[0]?.[0]?.text;
    expect(
      await evaluate('(progn (asdf:load-system "in-tree") (symbol-value (find-symbol "*IT*" "IN-TREE")))'),
    ).toBe(':FOUND');
    expect(await evaluate('(asdf:find-system "hidden" nil)')).toBe('NIL');
    expect(await person('(prin1-to-string asdf:*system-definition-search-functions*)')).toBe(finders);
    await image.end();
  });

  test('what its person and other servers change is told once, and what the server changes is not', async () => {
    const [first, second] = [attach(), attach()];
    const evaluate = async (image: AttachedImage, code: string) => {
      const { ending } = await image.call('evaluate', { code });
      expect(ending.kind).toBe('done');
      return image.takeNotices().flatMap((notice) => (notice.kind === 'changes' ? [notice.changes] : []));
    };
    await evaluate(second, '1');
    expect(await evaluate(first, '(defun own-one () 1)')).toEqual([]);
    const six = join(folder.path, 'six.lisp');
    writeFileSync(six, [1, 2, 3, 4, 5, 6].map((n) => `(defun six${n} () ${n})`).join('\n'));
    await person(
      '(progn (defun theirs () 1) (defun theirs () 2) (defmethod print-object :after ((x (eql :theirs)) s) s) (setf *print-case* :upcase))',
    );
    await person(`(load "${six}")`);
    const said = ['COMMON-LISP-USER::THEIRS', 'COMMON-LISP::PRINT-OBJECT', `6 names in ${six}`];
    expect(await evaluate(second, '(defun seconds () 2)')).toEqual([
      { texts: ['COMMON-LISP-USER::OWN-ONE', ...said], more: 0 },
    ]);
    // Hooks of a watch are no change.
    await first.call('debug-watch', { where: 'all' });
    await first.call('debug-watch', { off: true });
    expect(await evaluate(second, '2')).toEqual([]);
    expect((await evaluate(first, '3'))[0]?.texts).toEqual([...said, 'COMMON-LISP-USER::SECONDS']);
    await person(
      `(progn ${Array.from({ length: 13 }, (_, n) => `(defun many${n.toString(16)} ())`).join(' ')})`,
    );
    const [many] = await evaluate(first, '4');
    expect([many?.texts.length, many?.texts[0], many?.more]).toEqual([10, 'COMMON-LISP-USER::MANY3', 3]);
    await first.end();
    await second.end();
  });

  test('a tool that its person calls without an agent is an error, and no wait', async () => {
    await person(
      `(sb-thread:join-thread (sb-thread:make-thread (lambda () (format t "~A~%" (nth-value 1 (ignore-errors (live-lisp:call-tool "who_calls" :name "car")))))))`,
    );
    expect(theirs.printed()).toContain(
      'This thread cannot call tools: only the calls of agents, and the threads that they start, can.',
    );
  });

  test('what would end the image is refused in calls and their threads, and not to its person', async () => {
    const image = attach();
    const refused = async (code: string) => {
      const { ending } = await image.call('evaluate', { code });
      return ending.kind === 'condition' ? ending.condition.text : ending.kind;
    };
    expect(await refused('(sb-ext:exit)')).toBe(
      'EXIT would end this image, which somebody else runs, so it was refused. To end a thread, call (sb-thread:abort-thread) in that thread.',
    );
    expect(await refused('(sb-ext:exit :abort t)')).toMatch(/^EXIT would end this image/);
    expect(await refused('(sb-ext:save-lisp-and-die "x.core")')).toMatch(/^SAVE-LISP-AND-DIE would end/);
    await image.call('evaluate', {
      code: '(sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-ext:exit))) :default nil)',
    });
    await image.call('evaluate', {
      code: `(let ((ended (sb-thread:make-semaphore)))
        (sb-ext:schedule-timer
          (sb-ext:make-timer (lambda () (unwind-protect (sb-ext:exit) (sb-thread:signal-semaphore ended))) :thread t)
          0.01)
        (sb-thread:wait-on-semaphore ended))`,
    });
    await image.end();
    expect(sbcl.exitCode).toBe(null);
  });

  test('errors of calls and of their threads never reach the debugger of its person', async () => {
    const image = attach();
    const failingTimer = (thread: string) =>
      `(let ((ended (sb-thread:make-semaphore)))
         (sb-ext:schedule-timer
           (sb-ext:make-timer (lambda () (unwind-protect (progn (print "said by a thread") (error "timer"))
                                           (sb-thread:signal-semaphore ended)))
                              :thread ${thread})
           0.01)
         (sb-thread:wait-on-semaphore ended))`;
    const errors = [
      '(error "a call")',
      '(break)',
      '(invoke-debugger (make-condition (quote error)))',
      '(sb-thread:join-thread (sb-thread:make-thread (lambda () (print "said by a thread") (error "a thread"))) :default nil)',
      '(sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-thread:join-thread (sb-thread:make-thread (lambda () (error "deep")))))) :default nil)',
      '(labels ((deep (x) (1+ (deep x)))) (deep 1))',
      failingTimer('t'),
      failingTimer('(sb-thread:main-thread)'),
    ];
    for (const code of errors) await image.call('evaluate', { code });
    await image.end();
    expect(await person('(list 1 2 3 4 5)')).toBe('(1 10 11 ...)');
    expect(theirs.printed()).not.toContain('DEBUGGER');
    expect(theirs.printed()).not.toContain('said by a thread');
    // A thread of the person's program has the person's debugger.
    await person('(sb-thread:join-thread (sb-thread:make-thread (lambda () (error "mine"))) :default nil)');
    expect(theirs.printed()).toContain('DEBUGGER mine');
  });

  test('a call that fills the heap is ended, and the image lives', async () => {
    const image = attach();
    const { ending } = await image.call('evaluate', { code: '(let (l) (loop (push (make-list 1000) l)))' });
    expect(ending).toMatchObject({ kind: 'interrupted', reason: 'heap' });
    expect((await image.call('evaluate', { code: '(+ 1 2)' })).data.values).toEqual([[{ text: '3' }]]);
    await image.end();
    expect(sbcl.exitCode).toBe(null);
  });

  test('a watch sees handled errors of its person, and breaks nothing', async () => {
    const image = attach();
    await image.call('debug-watch', { where: 'all' });
    for (const form of [
      '(handler-case (error "seen ~A" 1) (error () :handled))',
      '(handler-case (car (eval :x)) (error () :handled))',
      '(handler-bind ((error (function continue))) (cerror "Go ~A." "cerror ~A" 1) :handled)',
      '(handler-case (signal \'simple-error :format-control "signal") (error () :handled))',
    ])
      expect(await person(form)).toMatch(/^:handled$/i);
    expect(await person('*break-on-signals*')).toMatch(/^nil$/i);
    const { data } = await image.call('debug-watched', { index: 0 });
    expect(data.value?.seen).toBe(4);
    await image.call('debug-watch', { off: true });
    await person('(handler-case (error "unseen") (error () :handled))');
    expect((await image.call('debug-watched', { index: 0 })).data.value?.seen).toBe(4);
    expect(theirs.printed().split('DEBUGGER')).toHaveLength(2);
    await image.end();
  });

  test('when the image ends the call is lost, and the next says that there is none', async () => {
    const image = attach();
    const call = image.call('evaluate', { code: '(sleep 60)' });
    await until('its start', 60_000, () => image.jobs.list()[0]?.phase.kind === 'running');
    sbcl.kill('SIGKILL');
    expect((await call).ending).toEqual({
      kind: 'lost',
      how: 'the image or its backend closed the connection',
      attached: true,
    });
    expect(await image.status()).toMatchObject({
      state: 'lost',
      why: 'the image or its backend closed the connection',
    });
    await until('the end of the process', 60_000, () => sbcl.signalCode !== null);
    await expect(image.call('evaluate', { code: '1' })).rejects.toThrow(
      `The image sbcl-1 (SBCL 2.2.9, pid ${sbcl.pid}) cannot be reached: connect ECONNREFUSED ${socket}. Ask the user to enter this line in the image's REPL, then repeat the call. The line: (load "attach.lisp")`,
    );
  });
});
