// What works in the sandbox as without one: a person who did not ask for one must not notice it.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Session } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { until } from '../server/processes.ts';
import { Listener, lispString, outsideFolder, shell, startSandboxed, workspace } from './cell.ts';
import { sandboxTest as test } from './namespaces.ts';

libraries('alexandria', 'fiveam');

const place = workspace();
const outside = outsideFolder();
const shared = join(tmpdir(), `live-lisp-shared-${process.pid}`);
let session: Session;

beforeAll(async () => {
  session = await startSandboxed(place.root, { args: [], env: { XDG_CACHE_HOME: place.cache } });
});
afterAll(async () => {
  const { pid } = session;
  await session.close();
  rmSync(shared, { recursive: true, force: true });
  // The last test puts links in the place of temporary folders, so the server does not remove what they were.
  for (const name of readdirSync(tmpdir()))
    if (name.startsWith(`live-lisp-${pid}-`)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  outside.remove();
  place.remove();
});

test('files go to a shell and back through the folder for temporary files', async () => {
  writeFileSync(shared, 'from the shell');
  const read = `(with-open-file (in ${lispString(shared)}) (read-line in))`;
  expect(await session.eval(read)).toMatch(/^"from the shell"/);
  await session.eval(
    `(with-open-file (out ${lispString(shared)} :direction :output :if-exists :supersede) (write-string "from the image" out))`,
  );
  expect(readFileSync(shared, 'utf8')).toBe('from the image');
});

test('files of the workspace are made, changed, renamed and removed, hidden ones too', async () => {
  expect(
    await shell(
      session,
      'mkdir -p new/in && echo a > new/in/file && mv new other && echo b > .hidden && cat other/in/file && rm -r other',
    ),
  ).toBe('0 a');
  expect(readFileSync(join(place.root, '.hidden'), 'utf8')).toBe('b\n');
});

test('a server on loopback is reached from outside, and one outside from it', async () => {
  const listener = await Listener.open();
  await session.eval('(require :sb-bsd-sockets)');
  const form = `(progn
    (defvar *server* (make-instance 'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp))
    (sb-bsd-sockets:socket-bind *server* #(127 0 0 1) 0)
    (sb-bsd-sockets:socket-listen *server* 5)
    (sb-thread:make-thread (lambda ()
      (let* ((client (sb-bsd-sockets:socket-accept *server*))
             (stream (sb-bsd-sockets:socket-make-stream client :input t :output t)))
        (read-line stream)
        (format stream "HTTP/1.0 200 OK~C~C~C~CServed" #\\Return #\\Newline #\\Return #\\Newline)
        (close stream))))
    (let ((other (make-instance 'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp)))
      (sb-bsd-sockets:socket-connect other #(127 0 0 1) ${listener.port}))
    (values (nth-value 1 (sb-bsd-sockets:socket-name *server*))))`;
  const port = Number.parseInt(await session.eval(form), 10);
  const served = new Promise<string>((resolve, reject) => {
    get({ port, host: '127.0.0.1' }, (response) => {
      response.setEncoding('utf8').on('data', resolve);
    }).on('error', reject);
  });
  expect(await served).toBe('Served');
  await until('a visit', 5000, () => listener.visits === 1);
  listener.close();
});

test('names of the user and of hosts are found as outside', async () => {
  // A bare system does not know the name localhost.
  const command = 'whoami && getent hosts localhost';
  const { status, stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
  expect(await shell(session, command)).toBe(`${status} ${stdout.trimEnd()}`);
});

test('a system is compiled, loaded and tested, and its library too', async () => {
  writeFileSync(
    join(place.root, 'boxed.asd'),
    '(defsystem "boxed" :depends-on ("alexandria" "fiveam") :components ((:file "boxed")))',
  );
  writeFileSync(
    join(place.root, 'boxed.lisp'),
    '(defpackage boxed (:use :cl :fiveam)) (in-package boxed)\n(defun two () 2)\n(def-suite* all)\n(test one (is (= 2 (two))))\n',
  );
  expect(await session.text('load_system', { system: 'boxed' })).toMatch(/^Loaded system boxed/);
  expect(await session.text('run_tests', { package: 'boxed' })).toMatch(/1 test passes/);
  expect(await session.text('who_calls', { name: 'boxed::two' })).toContain('BOXED::ONE (test)');
});

test('data from elsewhere is read, also the sources of libraries by the file tools', async () => {
  writeFileSync(join(outside.path, 'data'), 'data from elsewhere');
  const read = `(with-open-file (in ${lispString(join(outside.path, 'data'))}) (read-line in))`;
  expect(await session.eval(read)).toMatch(/^"data from elsewhere"/);
  const file = (
    await session.eval('(namestring (asdf:system-relative-pathname "alexandria" "alexandria.asd"))')
  ).replaceAll('"', '');
  expect(await session.text('read_file', { path: file })).toContain('alexandria');
});

test('git outside does not see the names that are taken', () => {
  const git = (...words: string[]) => execFileSync('git', ['-C', place.root, ...words], { encoding: 'utf8' });
  git('init', '-q');
  git('add', '--all');
  expect(git('status', '--porcelain').match(/\.(?:claude|codex|envrc|npmrc|idea|vscode)/g)).toBe(null);
});

test('Quicklisp puts libraries where it keeps them, and code changes nothing else of it', async () => {
  const home = join(outside.path, 'home');
  const quicklisp = join(home, 'quicklisp');
  mkdirSync(join(quicklisp, 'dists'), { recursive: true });
  writeFileSync(join(quicklisp, 'setup.lisp'), '(defpackage ql (:use :cl))\n');
  const { root, cache, remove } = workspace();
  const other = await startSandboxed(root, { args: [], env: { HOME: home, XDG_CACHE_HOME: cache } });
  try {
    expect(
      await shell(
        other,
        'cd ~/quicklisp && echo x > dists/new && mkdir tmp/a && echo x > local-projects/y && echo ok',
      ),
    ).toBe('0 ok');
    for (const command of [
      'echo x > ~/quicklisp/setup.lisp',
      'mkdir ~/quicklisp/local-init',
      'mv ~/quicklisp ~/taken',
    ])
      expect(await shell(other, command)).toMatch(/Read-only file system/);
    expect(existsSync(join(quicklisp, 'dists', 'new'))).toBe(true);
  } finally {
    await other.close();
    remove();
  }
});

test('what code puts in the place of a temporary folder of the server leads it nowhere', async () => {
  symlinkSync(outside.path, join(place.root, 'elsewhere'));
  const form = `(progn
    (dolist (folder (directory ${lispString(join(tmpdir(), 'live-lisp-*-*/'))}))
      (let ((name (string-right-trim "/" (namestring folder))))
        (when (search "live-lisp-${session.pid}-" name)
          (sb-ext:run-program "/bin/sh" (list "-c" (format nil "mv ~A ~A.old; ln -s ${outside.path} ~A" name name name))))))
    :done)`;
  writeFileSync(
    join(place.root, 'swap.lisp'),
    `(eval-when (:compile-toplevel :load-toplevel :execute) ${form})\n`,
  );
  await session.call('load_file', { path: 'swap.lisp' });
  expect(existsSync(join(outside.path, 'kept'))).toBe(true);
});
