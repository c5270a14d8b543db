// Shows an agent that mends a web application in the image of SLIME, while its human watches and approves in Emacs. On a
// terminal Emacs runs there, and waits for a y. Elsewhere Emacs has a terminal of its own, and this script gives the y.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callTool, inTemporaryFolder, PROJECT, SERVER, withServer } from './session.mjs';

/** Milliseconds in which Swank and Hunchentoot are compiled, the first time. */
const STARTING_MS = 300_000;
const PAGE = '/basket?a=lamp&b=desk';
const FIX = "(defun price (name) (or (cdr (assoc name *prices* :test #'string=)) 0))";

/** What Emacs loads: SLIME, live-lisp.el, and in the image the application. */
function initFile(folder) {
  const { stringify } = JSON;
  return `(package-initialize)
(require 'slime)
(slime-setup '(slime-repl))
(setq inferior-lisp-program ${stringify(process.env.LIVE_LISP_SBCL || 'sbcl')} inhibit-startup-screen t)
(setq server-socket-dir ${stringify(folder)} server-name "emacs")
(server-start)
(load ${stringify(join(PROJECT, 'emacs', 'live-lisp.el'))})
(live-lisp-mode 1)
(add-hook 'slime-connected-hook
          (lambda ()
            (slime-eval-async
                '(cl:progn
                   (cl:require :asdf)
                   (cl:funcall (cl:intern "LOAD-SYSTEM" "ASDF") "hunchentoot")
                   (cl:load "prices.lisp")
                   (cl:load "basket.lisp")
                   (cl:with-open-file (out "port.new" :direction :output)
                     (cl:princ (cl:funcall (cl:intern "SERVE" "BASKET")) out))
                   (cl:rename-file "port.new" "port.txt")
                   cl:t)
              (lambda (_) (live-lisp-log)))))
(let ((default-directory ${stringify(`${folder}/`)})) (slime))
`;
}

/** Starts Emacs in FOLDER; on this terminal if HERE, else on one of its own. */
function startEmacs(folder, here, env) {
  const args = ['-nw', '-q', '-l', 'init.el'];
  if (here) return spawn('emacs', args, { cwd: folder, env, stdio: 'inherit' });
  const line = `stty rows 50 cols 150; exec emacs ${args.join(' ')}`;
  const options = { cwd: folder, env: { ...env, TERM: 'xterm' }, stdio: ['pipe', 'ignore', 'inherit'] };
  return spawn('script', ['-qfec', line, '/dev/null'], options);
}

/** Resolves with what LOOK gives once that is not undefined. Throws an error that names WHAT after MS milliseconds. */
async function until(what, ms, look) {
  for (const end = performance.now() + ms; performance.now() < end; await setTimeout(200)) {
    const seen = await look();
    if (seen !== undefined) return seen;
  }
  throw new Error(`${what} did not come within ${ms / 1000} s.`);
}

/** Returns the text that FORM has in the Emacs of FOLDER; undefined while it has none. */
function inEmacs(folder, form) {
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  const expression = `(let ((value ${form})) (and value (json-encode-string (substring-no-properties value))))`;
  const printed = execFileSync('emacsclient', ['-s', join(folder, 'emacs'), '--eval', expression], options);
  return printed.trim() === 'nil' ? undefined : JSON.parse(JSON.parse(printed));
}

const QUESTION = '(car (live-lisp--question-buffers))';

/** Gives the human's y in the Emacs of FOLDER once a question is open. Returns the question. */
async function approve(folder) {
  const shown = `(and ${QUESTION} (with-current-buffer ${QUESTION} (buffer-string)))`;
  const question = await until('The question', 30_000, () => inEmacs(folder, shown));
  inEmacs(folder, `(with-current-buffer ${QUESTION} (live-lisp-approve) "")`);
  return question;
}

/** Ends the Emacs of FOLDER, and the image of its SLIME. */
function end(folder) {
  const form = '(progn (set-process-query-on-exit-flag (slime-process) nil) (kill-emacs))';
  // Emacs ends before it answers.
  spawnSync('emacsclient', ['-s', join(folder, 'emacs'), '--eval', form], {
    stdio: 'ignore',
    timeout: 10_000,
  });
}

/** Does what an agent does that is asked why PAGE fails. TELL takes lines of the story, and HUMAN approves. */
async function agent(client, port, tell, human) {
  const call = async (tool, args) => {
    const { text } = await callTool(client, tool, args);
    tell(`> ${tool} ${JSON.stringify(args)}`, text.replace(/^(?=.)/gm, '  '), '');
    return text;
  };
  await call('debug', { watch: 'PRICES', hold: true });
  tell(`(a browser asks for ${PAGE}, and waits)`, '');
  const request = fetch(`http://127.0.0.1:${port}${PAGE}`);
  const error = await until('The error of the request', 30_000, async () => {
    const { text } = await callTool(client, 'debug', {});
    const [, number] = /(\d+): \S+ in the thread hunchentoot-worker/.exec(text) ?? [];
    return number && Number(number);
  });
  await call('debug', { error });
  await call('debug', { error, eval: '(list names (price "lamp"))' });
  await call('debug', { error, fix: FIX, frame: 1, retry: true });
  tell(`(the browser shows: ${await (await request).text()})`, '');
  const edit = { definition: 'prices:price', text: FIX };
  const [question] = await Promise.all([human(), call('edit_definitions', { edits: [edit], load: true })]);
  if (question) tell('(Emacs has asked this, and the human has typed y)', question.replace(/^(?=.)/gm, '  '));
}

async function demo(folder) {
  const here = process.stdin.isTTY && process.stdout.isTTY;
  const serving = join(folder, '.serving');
  mkdirSync(serving, { mode: 0o700 });
  for (const file of ['prices.lisp', 'basket.lisp'])
    copyFileSync(join(PROJECT, 'examples', file), join(folder, file));
  writeFileSync(join(folder, 'init.el'), initFile(folder));
  const emacs = startEmacs(folder, here, { ...process.env, LIVE_LISP_SERVING: serving });
  const ended = new Promise((resolve) => emacs.on('close', resolve));
  const story = [];
  const tell = (...lines) => (here ? story.push(...lines) : console.log(lines.join('\n')));
  if (!here)
    tell('(Emacs compiles SLIME, and SBCL compiles Hunchentoot, which can take minutes the first time)', '');
  try {
    const file = join(folder, 'port.txt');
    const port = await until('The web application in SLIME', STARTING_MS, () =>
      existsSync(file) ? readFileSync(file, 'utf8') : undefined,
    );
    const server = { command: process.execPath, args: [SERVER, '--root', folder], folder };
    const env = { LIVE_LISP_SERVING: serving };
    await withServer({ ...server, env }, (client) =>
      agent(client, port, tell, async () => (here ? undefined : approve(folder))),
    );
    if (here) await ended;
    else
      tell(
        '',
        'The buffer *live-lisp*:',
        '',
        inEmacs(folder, '(with-current-buffer "*live-lisp*" (buffer-string))'),
      );
  } finally {
    if (emacs.exitCode === null) end(folder);
    await Promise.race([ended, setTimeout(5000, undefined, { ref: false })]);
    emacs.kill();
    await ended;
  }
  console.log(story.join('\n'));
}

try {
  if (!existsSync(SERVER)) throw new Error('dist/live-lisp.js is missing; make build makes it.');
  await inTemporaryFolder(demo);
} catch (error) {
  console.error(`demo-attach: ${error.message}`);
  process.exitCode = 1;
}
