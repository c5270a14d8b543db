// Runs suites that others wrote in a plain SBCL and in an image of the server, and prints what differs: the ANSI tests
// (ANSI_DIR, github.com/pfdietz/ansi-test) and those of SBCL (SBCL_TESTS, the folder tests/ of its source). Without these
// folders the probes of tests/unnoticed are run.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool, inTemporaryFolder, PROJECT, SERVER, withServer } from './session.mjs';

const SBCL = process.env.LIVE_LISP_SBCL || 'sbcl';
const MINUTES = 60_000;

/** Evaluates FORM in a plain SBCL in FOLDER, which gets no input. Its debugger is not disabled: tests look for it. */
function inPlain(folder, form) {
  const options = ['--dynamic-space-size', '4096', '--noinform', '--no-sysinit', '--no-userinit'];
  spawnSync(SBCL, [...options, '--eval', form, '--eval', '(sb-ext:exit :abort t)'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: 30 * MINUTES,
  });
}

/** Evaluates FORM in the image of a server in FOLDER. */
async function inOurs(folder, form) {
  const args = [SERVER, '--root', '.', '--no-sandbox'];
  await withServer({ command: process.execPath, args, folder }, (client) =>
    callTool(client, 'eval_form', { form, timeout: 1700 }),
  );
}

/** Copies SOURCE twice, and resolves with what RUN leaves in the file outcome.txt of each copy, and the seconds it took:
 *  first in a plain SBCL, then in ours. RUN is a form. */
async function both(source, run, prepare = () => undefined) {
  const outcomes = [];
  for (const evaluate of [inPlain, inOurs]) {
    await inTemporaryFolder(async (temporary) => {
      const folder = join(temporary, 'suite');
      cpSync(source, folder, { recursive: true });
      prepare(folder);
      const began = performance.now();
      await evaluate(folder, run(join(folder, 'outcome.txt')));
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
  const count = `${plain.lines.length} in plain, ${ours.lines.length} in ours`;
  console.log(`${name}: failed ${count}; ${plain.seconds.toFixed(1)} s and ${ours.seconds.toFixed(1)} s`);
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
  return tell('ansi-test', await both(source, run, withoutEnd));
}

/** Runs the tests of SBCL, each file in an SBCL of its own. */
async function sbcl(source) {
  const files = readdirSync(source)
    .filter((name) => /\.pure\.lisp$/.test(name))
    .sort();
  let apart = 0;
  for (const file of files) {
    const run = (outcome) => `(progn
      (dolist (name '("test-util" "assertoid" "compiler-test-util"))
        (when (probe-file (format nil "~A.lisp" name)) (load (format nil "~A.lisp" name))))
      (use-package '("ASSERTOID" "TEST-UTIL"))
      (set (find-symbol "*ELAPSED-TIMES*" "TEST-UTIL") nil)
      (let ((*features* (append *features* (symbol-value (find-symbol "+INTERNAL-FEATURES+" "SB-IMPL")))))
        (handler-case (load ${JSON.stringify(file)} :external-format :utf-8) (error () nil)))
      (with-open-file (out ${JSON.stringify(outcome)} :direction :output)
        (format out "~{~A~%~}" (remove-duplicates
          (mapcar (lambda (failure) (substitute #\\Space #\\Newline (princ-to-string (subseq failure 0 (min 3 (length failure))))))
                  (symbol-value (find-symbol "*FAILURES*" "TEST-UTIL")))
          :test #'string=))))`;
    apart += tell(file, await both(source, run));
  }
  return apart;
}

const { ANSI_DIR, SBCL_TESTS } = process.env;
let apart = 0;
if (ANSI_DIR) apart += await ansi(ANSI_DIR);
if (SBCL_TESTS) apart += await sbcl(SBCL_TESTS);
if (!ANSI_DIR && !SBCL_TESTS) {
  const { status } = spawnSync('npx', ['--no-install', 'vitest', 'run', 'tests/unnoticed'], {
    cwd: PROJECT,
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}
console.log(`${apart} apart`);
process.exitCode = apart === 0 ? 0 : 1;
