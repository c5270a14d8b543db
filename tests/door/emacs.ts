// A real Emacs under a pseudo-terminal, with live-lisp.el and, when asked for, SLIME. It has a server of its own, through
// which a test looks at it; what a human would type goes through the terminal.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { cacheFolder } from '../../src/paths.ts';
import { PROJECT, temporaryFolder, testSbcl } from '../harness.ts';
import { servingPlace } from '../image/served.ts';
import { until } from '../server/processes.ts';

const run = promisify(execFile);

export const LIVE_LISP_EL = join(PROJECT, 'emacs', 'live-lisp.el');

/** The milliseconds in which Swank is compiled, which is done once for each SBCL. */
const COMPILING_MS = 120_000;

/** The name of the server of Emacs, a socket in its folder. */
const SERVER_NAME = '.emacs-server';

export class Emacs {
  readonly serving = servingPlace();
  /** The folder in which it starts. */
  readonly folder = temporaryFolder();
  readonly #name = join(this.folder.path, SERVER_NAME);
  #process: ChildProcess | undefined;

  /** Starts Emacs, which evaluates the Lisp forms BEFORE and then turns on live-lisp-mode. */
  async start(before: readonly string[] = []): Promise<void> {
    const forms = [
      `(setq inferior-lisp-program ${JSON.stringify(testSbcl())} inhibit-startup-screen t)`,
      `(setq native-comp-async-report-warnings-errors nil native-comp-deferred-compilation nil)`,
      `(setq server-socket-dir ${JSON.stringify(this.folder.path)} server-name ${JSON.stringify(SERVER_NAME)})`,
      '(server-start)',
      ...before,
      `(load ${JSON.stringify(LIVE_LISP_EL)})`,
      '(live-lisp-mode 1)',
    ];
    const words = ['emacs', '-nw', '-q', ...forms.flatMap((form) => ['--eval', form])];
    // Swank keeps what it has compiled in the home.
    const home = join(cacheFolder(), '..', 'live-lisp-tests', 'emacs');
    mkdirSync(home, { recursive: true });
    const env = {
      ...process.env,
      HOME: home,
      XDG_CACHE_HOME: join(cacheFolder(), '..'),
      LIVE_LISP_SERVING: this.serving.path,
      TERM: 'xterm',
    };
    const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    this.#process = spawn('script', ['-qfec', `stty rows 50 cols 150; exec ${line}`, '/dev/null'], {
      cwd: this.folder.path,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#process.stdout?.resume();
    await until('Emacs', 300_000, () => this.value('t').catch(() => undefined));
  }

  /** Starts SLIME, and resolves when its image serves. */
  async startSlime(): Promise<void> {
    await this.value("(progn (package-initialize) (require 'slime) (slime-setup '(slime-repl)) t)");
    await this.value(
      `(with-current-buffer "*scratch*" (setq default-directory "${this.folder.path}/") (slime) t)`,
    );
    await until('an image that serves', COMPILING_MS, async () =>
      (
        await this.text(
          '(progn (live-lisp-images) (with-current-buffer "*live-lisp images*" (buffer-string)))',
        )
      ).startsWith('Images that serve:'),
    );
  }

  /** Resolves with the printed value of FORM. */
  async value(form: string): Promise<string> {
    const { stdout } = await run('emacsclient', ['-s', this.#name, '--eval', form], { timeout: 600_000 });
    return stdout.trimEnd();
  }

  /** Resolves with the value of FORM, which is a string. */
  async text(form: string): Promise<string> {
    const value = await this.value(`(json-encode-string (substring-no-properties ${form}))`);
    return JSON.parse(JSON.parse(value) as string) as string;
  }

  /** Resolves with the text of BUFFER; '' when there is none. */
  async buffer(name: string): Promise<string> {
    const buffer = JSON.stringify(name);
    return this.text(`(if (get-buffer ${buffer}) (with-current-buffer ${buffer} (buffer-string)) "")`);
  }

  /** Resolves when FORM has a value other than nil. */
  async until(form: string): Promise<void> {
    await until(form, 60_000, async () => (await this.value(form)) !== 'nil');
  }

  /** Resolves when it has said TEXT since this was called before. */
  async said(text: string): Promise<void> {
    await until(`the message ${text}`, 60_000, async () => (await this.buffer('*Messages*')).includes(text));
    await this.value('(with-current-buffer "*Messages*" (let ((inhibit-read-only t)) (erase-buffer) t))');
  }

  /** Types KEYS, as on a terminal. */
  type(keys: string): void {
    this.#process?.stdin?.write(keys);
  }

  /** Stops the process of Emacs, and lets it go on behind WORK. */
  async stoppedDuring(work: () => Promise<void>): Promise<void> {
    const pid = Number(await this.value('(emacs-pid)'));
    process.kill(pid, 'SIGSTOP');
    try {
      await work();
    } finally {
      process.kill(pid, 'SIGCONT');
      // script stops itself when its child is stopped.
      this.#process?.kill('SIGCONT');
    }
  }

  async end(): Promise<void> {
    await this.value('(kill-emacs)').catch(() => {});
    this.#process?.kill();
    this.folder.remove();
    this.serving.remove();
  }
}

/** Returns an Emacs that is ended behind the tests of a file. */
export function sharedEmacs(): Emacs {
  const emacs = new Emacs();
  afterAll(() => emacs.end());
  return emacs;
}
