// An image that a command starts, perhaps on another machine: what is told when the command does not lead to one,
// how it ends, and what nobody can write into. Through a real client.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { shellWords } from '../../src/words.ts';
import {
  bad,
  NO_SYSTEMS,
  type Session,
  type StartOptions,
  startSession,
  type TestFolder,
  temporaryFolder,
  testSbcl,
} from '../harness.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import { until } from '../server/processes.ts';
import { sharedSession } from '../shared.ts';

let folder: TestFolder;
let sessions: Session[];

beforeEach(() => {
  folder = temporaryFolder();
  sessions = [];
});
afterEach(async () => {
  for (const session of sessions) await session.close();
  folder.remove();
});

/** Starts a server whose image COMMAND starts. */
async function start(command: string, more: StartOptions = {}): Promise<Session> {
  const session = await startSession({ args: [...NO_SYSTEMS, '--image', `there=${command}`], ...more });
  sessions.push(session);
  return session;
}

/** Returns the path of an executable script with TEXT. */
function script(text: string): string {
  const path = join(folder.path, 'script');
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o700);
  return path;
}

/** Returns a command that runs another in a root where nothing can be written and the home is empty. */
function otherRoot(): string {
  const home = join(folder.path, 'home');
  mkdirSync(home);
  return `bwrap --ro-bind / / --ro-bind ${home} ${userInfo().homedir} --dev /dev --proc /proc`;
}

/** Sends the signal NAME to the server of SESSION. Without its process it would go to all. */
function signal(session: Session, name: NodeJS.Signals): void {
  process.kill(session.pid, name);
}

const TRY =
  'Run the command in a terminal: it must start SBCL without a prompt, such as for a password or to confirm the host key. Then call again.';

describe('a command that does not lead to an image', () => {
  test('cannot be run', async () => {
    const session = await start('no-such-program -T build sbcl');
    expect(await session.call('eval_form', { form: '1' })).toEqual(
      bad(
        'The image there did not start: no-such-program cannot be run here (spawn no-such-program ENOENT). Install no-such-program, or correct --image there=..., and call again.',
      ),
    );
  });

  test('finds no program there', async () => {
    const path = script('echo "bash: line 1: sbcl: command not found" >&2; exit 127');
    const session = await start(`${path} -T build sbcl`);
    expect(await session.call('eval_form', { form: '1' })).toEqual(
      bad(
        `The image there did not start: its command exited with code 127.\nIts last output:\n  bash: line 1: sbcl: command not found\nThe command: ${path} -T build sbcl\nCode 127 means that a program was not found: install SBCL on the image's machine, or give its path in --image there=... Then call again.`,
      ),
    );
  });

  test('cannot log in', async () => {
    const path = script('printf "one\\ntwo\\nHost key verification failed.\\r\\n" >&2; exit 255');
    const session = await start(`${path} 'a host'`);
    expect(await session.call('eval_form', { form: '1' })).toEqual(
      bad(
        `The image there did not start: its command exited with code 255.\nIts last output:\n  one\n  two\n  Host key verification failed.\nThe command: ${path} "a host"\n${TRY}`,
      ),
    );
  });

  test('writes back what it reads', async () => {
    const session = await start('cat');
    expect(await session.call('eval_form', { form: '1' })).toEqual(
      bad(
        `The image there did not start: its command echoes its input, as a terminal or a program other than SBCL does.\nThe command: cat\nLeave out options that ask for a terminal, such as -t or -it, and make sure that the command starts SBCL. Then call again.`,
      ),
    );
  });

  test('says nothing', async () => {
    const session = await start('sleep 1000', { waits: { image: { start: 500 } } });
    expect(await session.call('eval_form', { form: '1' })).toEqual(
      bad(
        `The image there did not start: its command has written nothing for 0.5 s, and no Lisp answered.\nThe command: sleep 1000\n${TRY}`,
      ),
    );
  });

  test.each([
    ['', ''],
    [' >&2', 'Its last output:\n  y\n  y\n  y\n'],
  ])('says too much, with yes%s', async (where, last) => {
    const path = script(`exec yes${where}`);
    const session = await start(path);
    expect(await session.call('eval_form', { form: '1' })).toEqual(
      bad(
        `The image there did not start: its command wrote 256 kB, and no Lisp answered.\n${last}The command: ${path}\n${TRY}`,
      ),
    );
  });

  test('starts an SBCL that is too old', async () => {
    const path = script(
      'read line; echo LIVE-LISP-SPEAKS; echo "LIVE-LISP-READY 1.4.5 64 none SB-THREAD"; cat >/dev/null',
    );
    const session = await start(path);
    expect(await session.call('eval_form', { form: '1' })).toEqual(
      bad(
        `The image there did not start: its command starts an SBCL that cannot be used.\nThe command: ${path}\nSBCL 1.4.5 is too old: live-lisp needs 2.0.11 or newer. Install another SBCL on the image's machine, or give its path in the command. Then call again.`,
      ),
    );
  });

  sandboxTest('starts an SBCL that has no folder for the backend', async () => {
    const session = await start(`${otherRoot()} --setenv TMPDIR /nowhere --remount-ro /dev ${testSbcl()}`);
    expect((await session.call('eval_form', { form: '1' })).text).toContain(
      'Its last output:\n  live-lisp needs a writable folder for its compiled backend, but none of /nowhere, /tmp, /var/tmp, /dev/shm is writable. Have the command of --image provide one, as docker run --tmpfs /tmp:exec does.\n',
    );
  });
});

describe('an image that a command starts', () => {
  const session = sharedSession({ args: [...NO_SYSTEMS, '--image', `there=${testSbcl()}`] });

  test('says where it is, and what cannot be known of it', async () => {
    await session.eval('1');
    const text = await session.text('image_status');
    expect(text).toContain(
      `The image there is started by this command: ${testSbcl()}. live-lisp does not put it in a sandbox, so its code can do all that the command can.`,
    );
    expect(text).not.toContain('pid');
    expect(text).not.toContain('Libraries');
  });

  test('a system of the workspace is not found there without --map', async () => {
    expect(await session.call('load_system', { system: 'no-such-system' })).toMatchObject({
      text: expect.stringMatching(
        /^System no-such-system not found by ASDF\. .*\. The image there runs elsewhere, so ASDF looks there: in the distribution's Lisp libraries and the user's source registry\. To load a system of the workspace, ask the user to start the server with --map there:LOCAL=REMOTE\. LOCAL is a folder here, REMOTE the same folder there\. /,
      ),
      isError: true,
    });
  });

  test('the end of its command is told with what it wrote last, and the next call or restart_image starts it again', async () => {
    await session.eval('(defun kept () 7)');
    const form =
      '(progn (format *error-output* "unseen") (sb-ext:run-program "/bin/sh" (list "-c" "echo Connection to build closed. >&2") :error t) (sleep 0.2) (sb-ext:exit :code 3 :abort t))';
    expect(await session.eval(form)).toContain(
      'The Lisp image was lost during this call: its command exited with code 3; its last output was: Connection to build closed.',
    );
    expect(await session.eval('(kept)')).toBe('7');
    expect((await session.call('restart_image', { rebuild: 'session' })).isError).toBe(false);
    expect(await session.eval('(kept)')).toBe('7');
  });

  test('nothing that code or a child process writes gets into messages, and nothing is there to read', async () => {
    const form = `(progn
      (sb-ext:run-program "/bin/sh" '("-c" "echo child; cat") :output nil :input t)
      (let ((out (sb-sys:make-fd-stream 1 :output t))) (write-line "code" out) (finish-output out))
      (values (read-line (sb-sys:make-fd-stream 0 :input t) nil :end)))`;
    expect(await session.eval(form)).toBe(':END');
    expect(await session.eval('(+ 1 2)')).toBe('3');
  });

  test('its init file is loaded, and settings of the reader there do not reach the wire', async () => {
    const init = join(folder.path, 'init.lisp');
    writeFileSync(
      init,
      '(defvar cl-user::*loaded* 5) (setf *print-base* 2 *read-base* 16 *print-length* 1 (readtable-case *readtable*) :invert)',
    );
    const session = await start(`${testSbcl()} --userinit ${init}`);
    expect(await session.eval('(list *loaded* 10 11)')).toBe('(5 10 11)');
  });

  test('it ends with the server, and so do the processes that it has started', async () => {
    const session = await start(testSbcl());
    const pids = await session.eval(
      '(list (sb-posix:getpid) (sb-ext:process-pid (sb-ext:run-program "/bin/sleep" (list "1000") :wait nil)))',
    );
    const alive = () =>
      pids.match(/\d+/g)?.filter((pid) => {
        try {
          process.kill(Number(pid), 0);
          return true;
        } catch {
          return false;
        }
      }).length;
    expect(alive()).toBe(2);
    signal(session, 'SIGKILL');
    await until('the end of both', 60_000, () => alive() === 0);
  });

  test('it ends when the server says nothing any more', async () => {
    const waits = { image: { silence: 6000, idle: 200, beat: 50 } };
    const session = await start(testSbcl(), { waits });
    const pid = Number(await session.eval('(sb-posix:getpid)'));
    await session.eval('(sleep 7)');
    expect(await session.eval('(sb-posix:getpid)')).toBe(String(pid));
    signal(session, 'SIGSTOP');
    // The stopped server leaves it a zombie.
    const ended = () => /^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
    await until('its end', 60_000, ended);
    signal(session, 'SIGCONT');
  });
});

describe('the flag', () => {
  test('words are those of a shell, and no shell runs', () => {
    expect(shellWords(`ssh  -T 'my host' "a \\"b\\" \\n" c\\ d '' x"y"'z' $HOME | *`)).toEqual([
      'ssh',
      '-T',
      'my host',
      'a "b" \\n',
      'c d',
      '',
      'xyz',
      '$HOME',
      '|',
      '*',
    ]);
    expect(shellWords(' ')).toEqual([]);
    for (const line of ["a 'b", 'a "b', 'a\\']) expect(shellWords(line)).toBe(undefined);
  });

  test.each([
    [
      ['own=sbcl'],
      '--image NAME=COMMAND needs a name of letters and digits, such as build, other than auto and own; it has own.',
    ],
    [["b=ssh 'x"], "--image b=COMMAND has an unclosed quote, or ends in a backslash: ssh 'x"],
    [['b='], "--image b= needs a command that starts SBCL, such as b='ssh -T b sbcl'."],
    [
      ['b=sbcl', '--heap', '1GB'],
      '--heap applies only to an SBCL on this machine, so it cannot be combined with --image b=COMMAND; leave it out, or give SBCL options in the command.',
    ],
    [
      ['b=sbcl', '--sandbox', 'on'],
      '--image b is an image outside any sandbox, so it cannot be combined with --sandbox on; leave one of them out.',
    ],
  ])('%j is refused', (args, message) => {
    expect(() => readConfig(['--image', ...args], {})).toThrow(message);
  });
});
