// The verbs of the command line: what each prints, where, and with which exit code.

import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inVerbs } from '../../src/command/verbs.ts';
import { until } from '../server/processes.ts';
import { sharedFolder } from '../shared.ts';
import { Shell } from './shell.ts';

const folder = sharedFolder();
const shell = new Shell(folder.path);
const file = (name: string) => join(shell.workspace, name);

beforeAll(async () => {
  writeFileSync(
    file('shop.lisp'),
    ['(defun price (x) (* 2 x))', '(defun total (x y) (+ (price x) (price y)))', ''].join('\n'),
  );
  await shell.session();
});
afterAll(() => shell.end());

describe('a verb', () => {
  test('works in the image of the session, which keeps its state between commands', async () => {
    expect(await shell.run(['eval', '(defvar *x* 40)'])).toEqual({ code: 0, stdout: '*X*\n', stderr: '' });
    expect(await shell.run(['eval', '(+ *x* 2)'])).toEqual({ code: 0, stdout: '42\n', stderr: '' });
  });

  test('eval takes several forms, as operands or as - on standard input, where - is else a function', async () => {
    expect((await shell.run(['eval', '(+ 1 2)', '(values 3 4)'])).stdout).toBe('[1] 3\n[2] 3\n    4\n');
    const input = '(defun twice (x)\n  (* 2 x))\n(twice 21)\n';
    expect((await shell.run(['eval'], { input })).stdout).toBe('[1] TWICE\n[2] 42\n');
    expect((await shell.run(['describe', '-'])).stdout).toMatch(/COMMON-LISP:-|NUMBER/);
    expect((await shell.run(['eval', '(twice 1)', '-'], { input: '(twice 2)' })).stdout).toBe(
      '[1] 2\n[2] 4\n',
    );
  });

  test('load takes files, relative to where the command runs, and systems; callers and describe take names', async () => {
    const session = (await shell.run(['sessions'])).stdout.split(' ')[0] ?? '';
    const elsewhere = { cwd: join(shell.workspace, '..') };
    expect(await shell.run(['load', 'ws/shop.lisp', '--session', session], elsewhere)).toEqual({
      code: 0,
      stdout: 'Loaded shop.lisp\n',
      stderr: '',
    });
    expect((await shell.run(['callers', 'price'])).stdout).toMatch(/TOTAL/);
    expect((await shell.run(['describe', 'total'])).stdout).toMatch(/\(X Y\)/);
    expect((await shell.run(['read', 'price'])).stdout).toMatch(/\(defun price \(x\) \(\* 2 x\)\)/);
    expect((await shell.run(['outline', 'shop.lisp'])).stdout).toMatch(/price(?:.|\n)*total/);
    const missing = await shell.run(['load', 'shop.lisp', 'no-such-system', 'shop.lisp']);
    expect([missing.code, missing.stdout.match(/Loaded shop\.lisp/g)?.length]).toEqual([1, 1]);
  });

  test('load ends a long answer with its headline, for a reader with tail', async () => {
    const lines = Array.from({ length: 6 }, (_, n) => `(defun warned-${n} (x${n}) ${n})\n`);
    writeFileSync(file('warned.lisp'), lines.join(''));
    expect((await shell.run(['load', 'warned.lisp'])).stdout).toMatch(
      /^Loaded warned\.lisp\n\nWarnings \(6\):\n[\s\S]*\n\nLoaded warned\.lisp\n$/,
    );
  });

  test('takes the parameters of its tool as options, --json prints the data, and callers --unused takes no name', async () => {
    expect((await shell.run(['eval', '--package', 'sb-ext', '(symbol-name (quote quit))'])).stdout).toBe(
      '"QUIT"\n',
    );
    const { stdout } = await shell.run(['callers', 'price', '--sites', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ callers: 1 });
    expect((await shell.run(['callers', '--unused', '--package', 'cl-user'])).stdout).toMatch(/TOTAL/);
  });

  test('--fresh needs no value, and takes one behind =', async () => {
    const { stdout } = await shell.run(['eval', '--fresh', '(list 1 *x*)']);
    expect(stdout).toMatch(/^In a fresh image[^\n]*:\nError: The variable \*X\* is unbound/);
    expect((await shell.run(['eval', '--fresh=HEAD', '1'])).code).toBe(1);
    expect((await shell.run(['test', '--fresh=no'])).code).toBe(2);
  });

  test('prints what a form writes while it runs, and not again with its answer', async () => {
    const read = file('read');
    const form = `(progn (princ "one") (terpri) (finish-output)
      (loop until (probe-file "${read}") do (sleep 0.01)) (princ "two") :done)`;
    const child = shell.start(['eval', form]);
    const ended = once(child, 'close');
    let stdout = '';
    child.stdout?.on('data', (text) => {
      stdout += text;
    });
    await until('the first line', 60_000, () => stdout === 'Output:\none\n');
    writeFileSync(read, '');
    await ended;
    expect(stdout).toBe('Output:\none\ntwo\n\n:DONE\n');
    expect(JSON.parse((await shell.run(['eval', '--json', form])).stdout)).toMatchObject({
      output: { text: 'one\ntwo' },
    });
  });

  test('prints all that a form writes, however much and however slowly it is read', async () => {
    const form = '(progn (dotimes (i 300000) (format t "~D~%" i)) :done)';
    await shell.line(`live-lisp eval '${form}' | (sleep 1; cat) > printed`);
    const lines = Array.from({ length: 300_000 }, (_, n) => `${n}\n`).join('');
    expect(readFileSync(file('printed'), 'utf8')).toBe(`Output:\n${lines}\n:DONE\n`);
  });

  test('prints all that a held form writes when it goes on by debug', async () => {
    const write = '(dotimes (i 3) (write-line (make-string 50000 :initial-element #\\x)))';
    await shell.run(['eval', `(defun held-writer () (cerror "go" "x") ${write} (sleep 1) :done)`]);
    const held = await shell.run(['eval', '--hold', '(held-writer)']);
    const [, error = ''] = /Held as error (\d+)/.exec(held.stdout) ?? [];
    const { stdout } = await shell.run(['debug', '--restart', 'continue', '--error', error]);
    expect(stdout).toMatch(/^Output:\n(?:x{50000}\n){3}\n(?:.|\n)*:DONE\n$/);
  });

  test('a form that writes to a reader that never reads is ended at its limit', async () => {
    const form = '(loop (write-line "0123456789"))';
    const line = `live-lisp eval '${form}' --timeout 1 | (sleep 3; tail -n 1)`;
    expect((await shell.line(line)).stdout).toMatch(/timeout|longer/);
    expect((await shell.run(['eval', '1'])).stdout).toBe('1\n');
  });

  test('keeps an answer that is too long in a file for a day', async () => {
    const lines = Array.from({ length: 60 }, (_, n) => `(defun long-${n} ()\n  "${'x'.repeat(800)}")\n`);
    writeFileSync(file('long.lisp'), lines.join(''));
    await shell.run(['load', 'long.lisp']);
    const { stdout } = await shell.run(['read', ...lines.map((_, n) => `long-${n}`)]);
    const [, count, path = ''] =
      /The whole answer, (\d+) characters, is kept in (\S+) for a day\.\n$/.exec(stdout) ?? [];
    expect(stdout.length).toBeLessThan(41_000);
    expect(readFileSync(path, 'utf8').length).toBe(Number(count) + 1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('the advice in an answer is a command', async () => {
    writeFileSync(file('gone.lisp'), '(defun gone () 1)\n(defun kept () 2)\n');
    await shell.run(['load', 'gone.lisp']);
    writeFileSync(file('gone.lisp'), '(defun kept () 2)\n');
    const { stdout } = await shell.run(['load', 'gone.lisp']);
    expect(stdout).toContain('\nlive-lisp load --forget removes what its file no longer has.');
    expect((await shell.run(['load', 'gone.lisp', '--forget'])).stdout).toMatch(/gone/i);
    expect(inVerbs('debug with error: 1; run_tests with system: "a/b".')).toBe(
      'live-lisp debug --error 1; live-lisp test --system a/b.',
    );
    expect(inVerbs('run_tests with reset: ["SHOP::*RATE*","x"]; read_definition with name: "it\'s".')).toBe(
      "live-lisp test --reset 'SHOP::*RATE*' --reset x; live-lisp read --name 'it'\\''s'.",
    );
    expect(inVerbs('load_system with force: true, load_file, f with x: 1')).toBe(
      'load_system with force: true, load_file, f with x: 1',
    );
  });

  test('call calls every tool, also one that is written in Lisp, with pairs or JSON', async () => {
    const form = `(live-lisp:register-tool live-lisp:*agent-q-registry*
      (live-lisp:define-tool "greet" "Greets." '((:name "name" :type :string)) :required '("name") :safety-level :safe
        :handler (lambda (arguments) (format nil "Hello, ~A" (gethash "name" arguments)))))`;
    expect((await shell.run(['call', 'eval_form', JSON.stringify({ form })])).code).toBe(0);
    expect((await shell.run(['call', 'greet', 'name=Ada'])).stdout).toBe('Hello, Ada\n');
    expect((await shell.run(['call', 'list-package-symbols', 'package=CL-USER', 'limit=1'])).code).toBe(0);
  });
});

describe('before output is passed on for the first time', () => {
  const folder = sharedFolder();
  const slow = new Shell(folder.path, {}, { image: { progress: 600_000 } });
  beforeAll(() => slow.session());
  afterAll(() => slow.end());

  test('what a form has written is printed behind its answer, without the middle when it could not wait', async () => {
    const form = '(sb-sys:without-interrupts (dotimes (i 50000) (write-char #\\x)))';
    expect((await slow.run(['eval', form])).stdout).toMatch(
      /^NIL\n\nOutput:\nx{32000}\n\[\.\.\. 12000 characters left out \.\.\.\]\nx{6000}\n$/,
    );
  });
});

describe('input and output', () => {
  test('standard input that is not UTF-8 is refused, not repaired', async () => {
    expect(await shell.run(['eval'], { input: Buffer.from('"caf\xe9"', 'latin1') })).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'live-lisp: Standard input is not UTF-8, so nothing was done. Convert it, for example with iconv -t UTF-8.\n',
    });
    expect((await shell.run(['eval'], { input: '(length "caf\u00e9\0")' })).stdout).toBe('5\n');
  });

  test('an answer that cannot be written is a failure, and one that nobody reads is none', async () => {
    const full = await shell.line('live-lisp eval 1 > /dev/full');
    expect(full).toMatchObject({ code: 1, stdout: '' });
    expect(full.stderr).toMatch(
      /^live-lisp: The call has run, but its output could not be written \(ENOSPC: .*\)\.\n$/,
    );
    const head = await shell.line("set -o pipefail; live-lisp eval '(make-list 9999)' | head -c 4");
    expect(head).toEqual({ code: 0, stdout: '(NIL', stderr: '' });
  });

  test('a folder that was removed is named as that', async () => {
    expect(await shell.line('mkdir gone && cd gone && rmdir ../gone && live-lisp eval 1')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'live-lisp: The current directory no longer exists. Change to another one.\n',
    });
  });
});

describe('exit codes', () => {
  test.each([
    ['1: the form failed', ['eval', '(error "boom")'], 1, /^Error: boom\n/, /^$/],
    ['2: no form', ['eval', ''], 2, /^$/, /^live-lisp: Usage: live-lisp eval '\(FORM\)' \.\.\.\n$/],
    [
      '2: an unknown option',
      ['status', '--deep'],
      2,
      /^$/,
      /^live-lisp: The command status has no option --deep; it takes --image, --json, --root, --session\.\n$/,
    ],
    [
      '2: a name that objects of JavaScript have',
      ['status', '--constructor', '1'],
      2,
      /^$/,
      /^live-lisp: The command status has no option --constructor; it takes --image, --json, --root, --session\.\n$/,
    ],
    [
      '2: one letter',
      ['status', '-v'],
      2,
      /^$/,
      /^live-lisp: The command status has no option -v; it takes --image, --json, --root, --session\.\n$/,
    ],
    [
      '2: no value',
      ['eval', '1', '--package'],
      2,
      /^$/,
      /^live-lisp: The option --package needs a value\.\n$/,
    ],
    [
      '2: twice',
      ['eval', '1', '--package', 'a', '--package', 'b'],
      2,
      /^$/,
      /^live-lisp: The option --package is given twice; give it once\.\n$/,
    ],
    [
      '2: no number',
      ['eval', '1', '--timeout', 'soon'],
      2,
      /^$/,
      /^live-lisp: The option --timeout must be a number, not a string\.\n$/,
    ],
    [
      '2: wrong arguments',
      ['call', 'eval_form', '{"fom":"1"}'],
      2,
      /^$/,
      /^live-lisp: Required parameter 'form' missing\n$/,
    ],
    [
      '2: out of bounds',
      ['eval', '1', '--timeout', '0'],
      2,
      /^$/,
      /^live-lisp: The option --timeout must be at least 0\.1, not 0\.\n$/,
    ],
    [
      '2: none of the choices',
      ['observe', '1', '--mode', 'all'],
      2,
      /^$/,
      /^live-lisp: The option --mode must be one of calls, types, cpu, alloc, time, heap\.\n$/,
    ],
    [
      '2: an operand and its option',
      ['callers', 'f', '--name', 'g'],
      2,
      /^$/,
      /^live-lisp: The option --name is given twice; give it once\.\n$/,
    ],
    [
      '2: a value of none',
      ['eval', '1', '--hold=1'],
      2,
      /^$/,
      /^live-lisp: The option --hold takes no value\.\n$/,
    ],
    [
      '2: no JSON',
      ['call', 'eval_form', '{bad'],
      2,
      /^$/,
      /^live-lisp: The command call takes NAME=VALUE or one JSON object after the tool, not \{bad\.\n$/,
    ],
    [
      '2: no pair',
      ['call', 'eval_form', 'form'],
      2,
      /^$/,
      /^live-lisp: The command call takes NAME=VALUE or one JSON object after the tool, not form\.\n$/,
    ],
    [
      '2: an unknown tool',
      ['call', 'no_such', 'a=1'],
      2,
      /^$/,
      /^live-lisp: Unknown tool: no_such; live-lisp tools lists them\.\n$/,
    ],
    [
      '2: no such session',
      ['eval', '1', '--session', '1'],
      2,
      /^$/,
      /^live-lisp: No session has the process id 1; live-lisp sessions lists them\.\n$/,
    ],
    [
      '3: a human is needed',
      ['edit', 'shop.lisp'],
      3,
      /^Tool edit_definitions is dangerous and needs a human's approval, and here nobody can be asked\. Nothing was done\. A person can approve it: run this command in a terminal, or watch the session in Emacs or in a browser \(live-lisp page\)\.\n$/,
      /^$/,
    ],
  ])('%s', async (_, words, code, stdout, stderr) => {
    const ran = await shell.run(words, { input: '(defun price (x) x)' });
    expect(ran.code).toBe(code);
    expect(ran.stdout).toMatch(stdout);
    expect(ran.stderr).toMatch(stderr);
  });

  test('1: a symbol that is not there, however often it is named', async () => {
    expect(await shell.run(['describe', 'none-such', 'none-such'])).toEqual({
      code: 1,
      stdout: 'Symbol NONE-SUCH not found in package CL-USER (status: NIL)\n',
      stderr: '',
    });
  });

  test('5: Ctrl-C interrupts the form and keeps the image', async () => {
    await shell.run(['eval', '(defvar *ticks* 0)']);
    const child = shell.start(['eval', '(loop (incf *ticks*) (sleep 0.01))']);
    let stdout = '';
    child.stdout?.on('data', (text) => {
      stdout += text;
    });
    await until('the form runs', 30_000, async () => (await shell.run(['eval', '*ticks*'])).stdout !== '0\n');
    const ended = new Promise((resolve) => child.on('close', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(5);
    expect(stdout).toMatch(
      /^Error: Interrupted after \d+\.\d s because the client cancelled it; the image is kept\.\n/,
    );
    expect(await shell.run(['eval', '(let ((n *ticks*)) (sleep 0.1) (= n *ticks*))'])).toEqual({
      code: 0,
      stdout: 'T\n',
      stderr: '',
    });
  });
});

test('the audit log says that a command called', async () => {
  await shell.run(['eval', '(list :audited)']);
  expect((await shell.run(['call', 'get_audit_log', 'limit=1'])).stdout).toMatch(
    /eval_form.*, called by a command/,
  );
});

test('4: the image was lost; what it was is told to each other command once', async () => {
  const lost = await shell.run(['eval', '(sb-ext:exit :abort t :code 3)']);
  expect(lost.code).toBe(4);
  expect(lost.stdout).toMatch(/^Error: The Lisp image was lost during this call: /);
  const next = await shell.run(['eval', '1']);
  expect(next).toMatchObject({ code: 0, stdout: '1\n' });
  expect(next.stderr).toMatch(/^live-lisp: This is a new Lisp image; the one before was lost: /);
  expect(await shell.run(['eval', '1'])).toEqual({ code: 0, stdout: '1\n', stderr: '' });
});

test('a form of a command that is killed is interrupted', async () => {
  await shell.run(['eval', '(defvar *tocks* 0)']);
  const child = shell.start(['eval', '(loop (incf *tocks*) (sleep 0.01))']);
  await until('the form runs', 30_000, async () => (await shell.run(['eval', '*tocks*'])).stdout !== '0\n');
  child.kill('SIGKILL');
  await until('the form is interrupted', 30_000, async () => {
    const { stdout } = await shell.run(['eval', '(let ((n *tocks*)) (sleep 0.1) (= n *tocks*))']);
    return stdout === 'T\n';
  });
});
