// The command image: a REPL in a terminal, whose image agents use, and which shows and asks what they do.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { good, SERVER, type Session, type StartOptions, testSbcl } from '../harness.ts';
import { servingPlace } from '../image/served.ts';
import { until } from '../server/processes.ts';
import { ownFolder, ownSession } from '../shared.ts';

/** The command image in a pseudo-terminal. */
class Terminal {
  readonly serving = servingPlace();
  readonly root = ownFolder();
  readonly #process: ChildProcess;
  #shown = '';
  /** How much was shown when the last keys were typed. */
  #shownBefore = 0;

  /** Starts it with WORDS. */
  constructor(...words: string[]) {
    const line = [process.execPath, SERVER, 'image', ...words].map((word) => `'${word}'`).join(' ');
    this.#process = spawn('script', ['-qfec', `stty rows 40 cols 200; exec ${line}`, '/dev/null'], {
      cwd: this.root.path,
      env: {
        ...process.env,
        TERM: 'xterm',
        LIVE_LISP_SERVING: this.serving.path,
        LIVE_LISP_SBCL: testSbcl(),
      },
    });
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#shown += text;
    });
    onTestFinished(() => {
      this.#process.kill('SIGKILL');
      this.serving.remove();
    });
  }

  type(keys: string): void {
    this.#shownBefore = this.#shown.length;
    this.#process.stdin?.write(keys);
  }

  /** The lines that were shown. What was shown anew after the terminal was cleared is a line, too. */
  get lines(): string[] {
    const cleared = this.#shown.replaceAll('\x1b[0J', '\n');
    return stripVTControlCharacters(cleared)
      .split(/[\r\n]+/)
      .map((line) => line.trim());
  }

  /** Resolves once a line with the text LINE, or that LINE matches, was shown. */
  async shows(line: string | RegExp): Promise<void> {
    await until(`the line ${line}`, 60_000, () =>
      this.lines.some((each) => (typeof line === 'string' ? each.includes(line) : line.test(each))),
    );
  }

  /** Resolves once the debugger of SBCL asks, after the last keys. Before that it drops what was typed. */
  async debugs(): Promise<void> {
    await until('the prompt of the debugger', 60_000, () =>
      /\d\] /.test(this.#shown.slice(this.#shownBefore)),
    );
  }

  /** Resolves with the exit code. */
  async ended(): Promise<number | null> {
    await until('its end', 60_000, () => this.#process.exitCode !== null);
    return this.#process.exitCode;
  }

  /** Starts a server in the folder of the image, whose client cannot ask. */
  async session(options: StartOptions = {}): Promise<Session> {
    await this.shows(/live-lisp serves this image as/);
    return ownSession({
      clientName: 'a client',
      ...options,
      args: ['--root', this.root.path],
      env: { LIVE_LISP_SERVING: this.serving.path },
    });
  }
}

const WRITE = { path: 'a.lisp', content: '(a)\n' };

test('is a REPL, with its debugger, Ctrl-C and Ctrl-D', async () => {
  const terminal = new Terminal('--', '--noinform', '--no-userinit', '--eval', '(defvar *from-option* 41)');
  await terminal.shows('*');
  terminal.type('(1+ *from-option*)\n');
  await terminal.shows('42');
  terminal.type('(car 5)\n');
  await terminal.shows(/debugger invoked on a TYPE-ERROR/);
  await terminal.debugs();
  terminal.type('0\n(list (read-line))\nhello\n');
  await terminal.shows('("hello")');
  terminal.type('(loop)\n');
  await until('the line', 10_000, () => terminal.lines.some((line) => line.includes('(loop)')));
  terminal.type('\x03');
  await terminal.shows(/Interactive interrupt at/);
  await terminal.debugs();
  terminal.type(':abort\n\x04');
  expect(await terminal.ended()).toBe(0);
});

test('gives the exit code of its SBCL, and says what is wrong without one', async () => {
  const terminal = new Terminal();
  await terminal.shows('*');
  terminal.type('(sb-ext:exit :code 7)\n');
  expect(await terminal.ended()).toBe(7);
  const none = new Terminal('--sbcl', '/nowhere/sbcl');
  expect(await none.ended()).toBe(1);
  await none.shows(
    'live-lisp: There is no executable SBCL at /nowhere/sbcl. Correct --sbcl or LIVE_LISP_SBCL, or leave both out to use the sbcl on PATH.',
  );
});

test('is the image of agents, whose calls it shows, and keeps what the person types meanwhile', async () => {
  const terminal = new Terminal();
  const session = await terminal.session();
  terminal.type('(defvar *mine* 1)\n(list :begun ');
  await until('the variable', 20_000, async () => (await session.eval('*mine*')).startsWith('1'));
  await session.eval('(list *mine*\n 2)');
  const folder = terminal.root.path.split('/').at(-1);
  await terminal.shows(new RegExp(`^;; \\d\\d:\\d\\d:\\d\\d ${folder} a client eval_form$`));
  await terminal.shows(';;   > form: (list *mine*');
  await terminal.shows(/^;; +=> eval_form: \(1 2\) \(\d+\.\d s\)$/);
  terminal.type(':ended)\n');
  await terminal.shows('(:BEGUN :ENDED)');
});

test('asks the person what needs an approval, by number', async () => {
  const terminal = new Terminal();
  const session = await terminal.session();
  await session.eval('1');
  await terminal.shows(/=> eval_form: 1 /);
  const first = session.call('write_file', WRITE);
  await terminal.shows(';; Question 1: Approve write_file (dangerous)? new file, +1 −0, in a.lisp');
  await terminal.shows(';; +(a)');
  await terminal.shows(
    ';; Enter :approve 1 to approve it once, or :deny 1 and, if you like, a message to the agent.',
  );
  terminal.type(':approve\n');
  await terminal.shows(';; Say which question you answer: :approve 1. :questions shows them again.');
  expect(existsSync(join(terminal.root.path, 'a.lisp'))).toBe(false);
  terminal.type(':approve 1\n');
  await terminal.shows(';; Question 1 is closed: approved in the terminal.');
  expect(await first).toEqual(good('Wrote 4 bytes to a.lisp'));
  const second = session.call('write_file', { ...WRITE, path: 'b.lisp' });
  await terminal.shows(/^;; Question 2: /);
  terminal.type(':deny 2 Not here.\n');
  expect(await second).toMatchObject({
    notices: ['Nothing was done. The user denied the call in the terminal. The user says: Not here.'],
  });
  terminal.type(':approve 2\n');
  await terminal.shows(':APPROVE');
});

test('is for a terminal only', async () => {
  const folder = ownFolder();
  const child = spawn(process.execPath, [SERVER, 'image'], { cwd: folder.path });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  await once(child, 'close');
  expect(stderr).toBe(
    'live-lisp: live-lisp image works only in a terminal. Elsewhere start sbcl yourself, and enter the line that live-lisp attach prints.\n',
  );
  expect(child.exitCode).toBe(2);
});
