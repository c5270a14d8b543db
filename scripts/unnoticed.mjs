// Runs suites that others wrote in a plain SBCL and in an image of the server, and prints what differs: the ANSI tests
// (ANSI_DIR, github.com/pfdietz/ansi-test), those of SBCL (SBCL_TESTS, the folder tests/ of its source), and those of
// installed libraries (LIBRARIES, names of systems with a comma between). Without these the probes of tests/unnoticed run.
// The .sh files of SBCL's tests are left out: they start an SBCL of their own, which has no backend.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool, inTemporaryFolder, PROJECT, SERVER, withServer } from './session.mjs';

const SBCL = process.env.LIVE_LISP_SBCL || 'sbcl';
const MINUTE_MS = 60_000;

/** Evaluates FORM in a plain SBCL in FOLDER, which gets no input, for at most so many MINUTES. Its heap is as large as that
 *  of an image, since some tests fill it. Its debugger is not disabled: tests look for it. */
function inPlain(folder, form, minutes) {
  const options = ['--dynamic-space-size', '12288MB', '--noinform', '--no-sysinit', '--no-userinit'];
  spawnSync(SBCL, [...options, '--eval', form, '--eval', '(sb-ext:exit :abort t)'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: minutes * MINUTE_MS,
  });
}

/** Evaluates FORM in the main thread of the image of a server in FOLDER, for at most so many MINUTES. */
async function inOurs(folder, form, minutes) {
  const args = [SERVER, '--root', '.', '--no-sandbox'];
  await withServer({ command: process.execPath, args, folder }, (client) =>
    callTool(
      client,
      'eval_form',
      { form, main_thread: true, timeout: 60 * minutes },
      (minutes + 1) * MINUTE_MS,
    ),
  );
}

/** Copies SOURCE twice, and resolves with what RUN leaves in the file outcome.txt of each copy, and the seconds it took:
 *  first in a plain SBCL, then in ours. RUN is a function that returns a form, which gets so many MINUTES. */
async function both(source, run, { minutes, prepare = () => undefined }) {
  const outcomes = [];
  for (const evaluate of [inPlain, inOurs]) {
    await inTemporaryFolder(async (temporary) => {
      const folder = join(temporary, 'suite');
      cpSync(source, folder, { recursive: true });
      prepare(folder);
      const began = performance.now();
      await evaluate(folder, run(join(folder, 'outcome.txt')), minutes);
      const seconds = (performance.now() - began) / 1000;
      const file = join(folder, 'outcome.txt');
      const text = existsSync(file) ? readFileSync(file, 'utf8') : '(no outcome)';
      const lines = text.replaceAll(`${folder}/`, '').split('\n').filter(Boolean);
      outcomes.push({ lines, seconds });
    });
  }
  return outcomes;
}

/** Prints what the lines of PLAIN and OURS have apart, and returns how many these are. */
function tell(name, [plain, ours]) {
  const only = (some, others) => some.lines.filter((line) => !others.lines.includes(line));
  const [lost, more] = [only(plain, ours), only(ours, plain)];
  const count = `${plain.lines.length} lines in plain, ${ours.lines.length} in ours`;
  console.log(`${name}: ${count}; ${plain.seconds.toFixed(1)} s and ${ours.seconds.toFixed(1)} s`);
  for (const line of lost) console.log(`  only in plain: ${line}`);
  for (const line of more) console.log(`  only in ours: ${line}`);
  return lost.length + more.length;
}

/** Runs the ANSI tests. */
async function ansi(source) {
  const run = (outcome) => `(progn
    (load "doit.lsp")
    (with-open-file (out ${JSON.stringify(outcome)} :direction :output)
      (format out "~{~A~%~}" (symbol-value (find-symbol "*FAILED-TESTS*" "REGRESSION-TEST")))))`;
  const withoutEnd = (folder) => {
    const file = join(folder, 'doit.lsp');
    const text = readFileSync(file, 'utf8').replace(/^#\+.*\((?:cl-user::)?(?:quit|exit)\)$/gm, '');
    writeFileSync(file, text);
    rmSync(join(folder, '.git'), { recursive: true, force: true });
  };
  return tell('ansi-test', await both(source, run, { minutes: 30, prepare: withoutEnd }));
}

/** Returns a form that runs FILE of SBCL's tests as its own runner does, and appends a line to the file OUTCOME for each
 *  test: its name when it passed, how it failed otherwise. */
function sbclRun(file, outcome) {
  const runner = file.endsWith('-cload.lisp') || file.endsWith('.cload.lisp') ? 'CLOAD-TEST' : 'LOAD-TEST';
  return `(progn
    (dolist (name '("test-util" "assertoid" "compiler-test-util"))
      (when (probe-file (format nil "~A.lisp" name)) (load (format nil "~A.lisp" name))))
    (make-package "RUN-TESTS" :use '("COMMON-LISP" "TEST-UTIL" "SB-EXT"))
    (let ((*package* (find-package "RUN-TESTS"))) (load "test-funs.lisp"))
    (use-package '("ASSERTOID" "TEST-UTIL"))
    (flet ((named (name) (find-symbol name "TEST-UTIL"))
           (tell (control &rest arguments)
             (with-open-file (out ${JSON.stringify(outcome)} :direction :output :if-exists :append :if-does-not-exist :create)
               (with-standard-io-syntax
                 (let ((*print-readably* nil))
                   (format out "~A~%" (substitute #\\Space #\\Newline (apply #'format nil control arguments))))))))
      (let ((fail (fdefinition (named "FAIL-TEST"))) (pass (fdefinition (named "RECORD-TEST-ELAPSED-TIME"))))
        (setf (fdefinition (named "FAIL-TEST"))
              (lambda (type name condition &rest more)
                (tell "~A ~S ~A" type name (if (stringp condition) condition (type-of condition)))
                (apply fail type name condition more))
              (fdefinition (named "RECORD-TEST-ELAPSED-TIME"))
              (lambda (name &rest more)
                (tell "passed ~S" name)
                (apply pass name more))))
      (handler-case (funcall (find-symbol ${JSON.stringify(runner)} "RUN-TESTS") ${JSON.stringify(file)})
        (error (condition) (tell "unhandled ~A ~A" (type-of condition) (ignore-errors (princ-to-string condition)))))
      (tell "ended")))`;
}

/** Runs the tests of SBCL in the folder SOURCE, each file in an SBCL of its own: those whose names ONLY, a list of
 *  names, begins, or all. */
async function sbcl(source, only) {
  const files = readdirSync(source)
    .filter((name) => /\.(pure|impure)(-cload)?\.lisp$|\.cload\.lisp$/.test(name))
    .filter((name) => only.length === 0 || only.some((start) => name.startsWith(start)))
    .sort();
  let apart = 0;
  for (const file of files)
    apart += tell(file, await both(source, (outcome) => sbclRun(file, outcome), { minutes: 5 }));
  return apart;
}

/** Returns a form that has ASDF test SYSTEM, and writes what it prints to the file OUTCOME, without addresses, times and
 *  names that are made anew in each run. */
function libraryRun(system, outcome) {
  return `(progn
    (require :asdf)
    (let ((text (with-output-to-string (out)
                  (let ((*standard-output* out) (*error-output* out) (*trace-output* out))
                    (handler-case (funcall (find-symbol "TEST-SYSTEM" "ASDF") ${JSON.stringify(system)})
                      (error (condition) (format out "~&unhandled ~A ~A" (type-of condition) condition)))))))
      (with-open-file (out ${JSON.stringify(outcome)} :direction :output) (write-string text out))))`;
}

/** Has the tests of SYSTEM compiled, then runs them. */
function library(system) {
  return inTemporaryFolder(async (folder) => {
    inPlain(folder, libraryRun(system, join(folder, 'outcome.txt')), 10);
    const outcomes = await both(folder, (outcome) => libraryRun(system, outcome), { minutes: 10 });
    for (const outcome of outcomes) outcome.lines = outcome.lines.map(withoutTimes);
    return tell(system, outcomes);
  });
}

function withoutTimes(line) {
  return line
    .replace(/\{[0-9A-F]{6,}\}/g, '{ADDRESS}')
    .replace(/\d+\.\d+(?= ?s(?:econds?)?\b)/g, 'TIME')
    .replace(/(?<=[A-Z])\d{3,}\b/g, 'NUMBER');
}

const { ANSI_DIR, SBCL_TESTS, LIBRARIES, ONLY } = process.env;
let apart = 0;
if (ANSI_DIR) apart += await ansi(ANSI_DIR);
if (SBCL_TESTS) apart += await sbcl(SBCL_TESTS, (ONLY ?? '').split(',').filter(Boolean));
for (const system of (LIBRARIES ?? '').split(',').filter(Boolean)) apart += await library(system);
if (!ANSI_DIR && !SBCL_TESTS && !LIBRARIES) {
  const { status } = spawnSync('npx', ['--no-install', 'vitest', 'run', 'tests/unnoticed'], {
    cwd: PROJECT,
    stdio: 'inherit',
    env: { ...process.env, LIVE_LISP_LONG: '1' },
  });
  process.exit(status ?? 1);
}
console.log(`${apart} apart`);
process.exitCode = apart === 0 ? 0 : 1;
