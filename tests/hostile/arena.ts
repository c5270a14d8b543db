// Decides how a case is run: through a real client, with other calls beside it, and what must be left of it.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, type Session, startSession, temporaryFolder, warmCache } from '../harness.ts';
import { stopwatch } from '../load.ts';
import { imagesOf, killChild, marked, until } from '../server/processes.ts';
import { argumentsOf, endsItself, type HostileCase, isInterrupted, LIMIT_S } from './case.ts';

/** What became of a case. */
export interface Row {
  name: string;
  /** The first line of the answer. */
  outcome: string;
  /** Milliseconds until the answer. */
  answerMs: number;
  /** Milliseconds until the answer to the next evaluation. */
  nextMs: number;
  /** The longest time that another call took meanwhile, in milliseconds. */
  concurrentMs: number;
  replaced: boolean;
  /** By how many kB the server grew. */
  grownKb: number;
  /** What was not as it must be. */
  breaches: string[];
}

export const LIMITS = {
  /** How long after its limit a call may be answered. */
  graceMs: 2000,
  /** How long another call may take, which a garbage collection can hold up. */
  concurrentMs: 2500,
  /** How long the first evaluation in a new image may take. */
  nextMs: 1000,
};
/** How many seconds more a call is given that ends without being interrupted. */
const MORE_S = 300;
/** How soon nothing is left of a server that has ended. */
const END_MS = 1000;
/** What an image is asked for that has not been told its state. */
const STATE = '(if (boundp (quote cl-user::*state*)) (symbol-value (quote cl-user::*state*)) :new)';
const NEW_IMAGE = 'This is a new Lisp image; ';

/** Returns the value in kB of FIELD in /proc/PID/status. */
export function statusOf(pid: number, field: string): number {
  const match = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(match?.[1]);
}

export interface ArenaOptions {
  /** Further flags of the server. */
  args?: string[];
  /** Whether lost images are built again. Without it what a case has defined does not come back after it. */
  replay?: 'on' | 'off';
  /** Seconds after which a form is interrupted that must be, when that has no limit of its own. */
  spinS?: number;
  /** Limit of a call in seconds. */
  limitS?: number;
}

export class Arena {
  readonly session: Session;
  /** Stands in the environment of all that the server starts. */
  readonly mark: string;
  readonly folder: ReturnType<typeof temporaryFolder>;
  /** Seconds after which a form is interrupted that must be. */
  readonly #spinS: number;
  #state = 0;
  /** The number of the error that is held for a case. */
  #held: number | undefined;
  #spoiled = false;

  private constructor(
    session: Session,
    mark: string,
    folder: ReturnType<typeof temporaryFolder>,
    spinS: number,
  ) {
    this.session = session;
    this.mark = mark;
    this.folder = folder;
    this.#spinS = spinS;
  }

  /** Starts a server whose files are all in a folder of its own. */
  static async start({
    args = [],
    replay = 'off',
    spinS = LIMIT_S,
    limitS = LIMIT_S,
  }: ArenaOptions = {}): Promise<Arena> {
    const folder = temporaryFolder();
    const mark = randomUUID();
    const within = (name: string) => {
      mkdirSync(join(folder.path, name));
      return join(folder.path, name);
    };
    const cache = within('cache');
    warmCache(cache);
    const session = await startSession({
      args: [
        '--root',
        within('workspace'),
        '--replay',
        replay,
        '--heap',
        '1GB',
        '--eval-timeout',
        String(limitS),
        ...args,
      ],
      env: {
        LIVE_LISP_TEST: mark,
        XDG_CACHE_HOME: cache,
        XDG_STATE_HOME: within('state'),
        TMPDIR: within('temporary'),
        NODE_OPTIONS: `--import ${join(import.meta.dirname, 'collect.mjs')}`,
        LIVE_LISP_TEST_HEAP: join(folder.path, 'heap'),
      },
    });
    return new Arena(session, mark, folder, spinS);
  }

  async close(): Promise<void> {
    await this.session.close();
    this.folder.remove();
  }

  /** Ends the server and returns the command lines of those that are left of all processes that it and its
   *  images started. */
  async leftAfterEnd(): Promise<string[]> {
    await this.session.close();
    const left = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
    return until('the end of all', END_MS, () => marked(this.mark).length === 0 && []).catch(() =>
      marked(this.mark).map(left),
    );
  }

  /** Evaluates FORM in CL-USER. */
  async eval(form: string, seconds = MORE_S): Promise<Answer> {
    return this.session.call('eval_form', { form, timeout: seconds });
  }

  /** Returns the process of the image, or undefined when there is none. */
  image(): number | undefined {
    return imagesOf(this.session.pid)[0];
  }

  /** Has the server collect all garbage, and returns how many kB of its heap are used then. */
  async serverHeapKb(): Promise<number> {
    const file = join(this.folder.path, 'heap');
    rmSync(file, { force: true });
    process.kill(this.session.pid, 'SIGUSR2');
    const octets = await until('the heap', 10_000, () => existsSync(file) && readFileSync(file, 'latin1'));
    return Number(octets) / 1024;
  }

  /** Ends the image from outside. The server knows it then. */
  async kill(): Promise<void> {
    const image = this.image();
    if (image === undefined) return;
    await killChild(image);
  }

  /** Ends the image from outside, so that the next call gets a new one. */
  async renew(): Promise<void> {
    await this.kill();
    await this.eval('1');
  }

  /** Runs TRIAL and returns what became of it. */
  async face(trial: HostileCase): Promise<Row> {
    const breaches: string[] = [];
    const expected = (met: boolean, what: string) => {
      if (!met) breaches.push(what);
    };
    await this.#prepare(trial, expected);
    const image = this.image();
    const rss = statusOf(this.session.pid, 'VmRSS');
    const seconds = this.#secondsOf(trial);
    const { answer, answered, beside } = await this.#attack(trial, seconds);
    const limitMs = 1000 * seconds + LIMITS.graceMs;
    expected(answered.freeMs <= limitMs, `answered after ${Math.round(answered.freeMs)} ms, of ${limitMs}`);
    expected(trial.says.test(answer.text), `says ${JSON.stringify(answer.text.slice(0, 600))}`);
    expected(
      trial.succeeds === 'maybe' || answer.isError === (trial.succeeds === undefined),
      `isError is ${answer.isError}`,
    );
    expected(trial.recompiles || beside.freeMs <= LIMITS.concurrentMs, `another call took ${beside.ms} ms`);
    const { nextMs, notices } = await this.#aftermath(trial, expected);
    const replaced = this.image() !== image;
    const reported = [...answer.notices, ...notices].some((text) => text.startsWith(NEW_IMAGE));
    expected(
      trial.spoils === true || replaced === reported,
      replaced ? 'nothing told that the image is new' : 'told of a new image',
    );
    const free = trial.spoils === true || trial.image === 'either';
    expected(
      free || replaced === (trial.image === 'replaced'),
      `replaced: ${replaced}; told: ${[...answer.notices, ...notices].join(' ').slice(0, 600)}`,
    );
    this.#spoiled = trial.spoils === true || breaches.length > 0;
    return {
      name: trial.name,
      outcome: answer.text.split('\n', 1)[0]?.slice(0, 160) ?? '',
      answerMs: answered.ms,
      nextMs,
      concurrentMs: beside.ms,
      replaced,
      grownKb: statusOf(this.session.pid, 'VmRSS') - rss,
      breaches,
    };
  }

  /** Returns the seconds that the call of a case may take. */
  #secondsOf(trial: HostileCase): number {
    return trial.seconds ?? (trial.tool === undefined && isInterrupted(trial.says) ? this.#spinS : LIMIT_S);
  }

  async #prepare(
    { before, held }: HostileCase,
    expected: (met: boolean, what: string) => void,
  ): Promise<void> {
    if (this.#spoiled) await this.renew();
    this.#spoiled = false;
    this.#state++;
    const prepared = await this.eval(
      `(cl:in-package :cl-user) (setf (symbol-value '*state*) ${this.#state}) ${before ?? ''}`,
    );
    expected(!prepared.isError, `the preparation failed: ${prepared.text.slice(0, 300)}`);
    this.#held = undefined;
    if (held === undefined) return;
    const { text } = await this.session.call('eval_form', { form: held, on_error: 'hold', timeout: MORE_S });
    this.#held = Number(/^Held as error (\d+)/m.exec(text)?.[1]);
    expected(!Number.isNaN(this.#held), `nothing is held: ${text.slice(0, 300)}`);
  }

  /** Makes the call, and calls beside it that must not wait for it. */
  async #attack({ form, tool, freezes, says, endless }: HostileCase, seconds: number) {
    const ample = endless === undefined && endsItself(says) && { timeout: seconds + MORE_S };
    const args = tool
      ? { ...argumentsOf(tool, form, this.#held), ...('timeout' in tool.args && ample) }
      : { form, timeout: seconds, ...ample };
    const time = stopwatch();
    let answered: ReturnType<typeof time> | undefined;
    const call = this.session.call(tool?.name ?? 'eval_form', args).finally(() => {
      answered = time();
    });
    const notices: string[] = [];
    const beside = { ms: 0, freeMs: 0 };
    while (answered === undefined) {
      const other = stopwatch();
      if (freezes) await this.session.client.listTools();
      else
        notices.push(
          ...(await this.session.call('apropos_search', { pattern: 'mapcar', package: 'cl' })).notices,
        );
      const took = other();
      beside.ms = Math.max(beside.ms, took.ms);
      beside.freeMs = Math.max(beside.freeMs, took.freeMs);
      await Promise.race([new Promise((resolve) => setTimeout(resolve, 100)), call]);
    }
    const answer = await call;
    answer.notices.push(...notices);
    return { answer, answered: answered ?? time(), beside };
  }

  /** Looks at what is left: that evaluation works, and that what was kept is there. */
  async #aftermath(trial: HostileCase, expected: (met: boolean, what: string) => void) {
    const notices: string[] = [];
    const end = { error: this.#held, end: true, timeout: MORE_S };
    if (this.#held !== undefined) notices.push(...(await this.session.call('debug', end)).notices);
    const asks = async (form: string, wanted: RegExp) => {
      const answer = await this.eval(form, endsItself(wanted) ? MORE_S : 5);
      notices.push(...answer.notices);
      expected(wanted.test(answer.text), `${form} then gives ${JSON.stringify(answer.text.slice(0, 300))}`);
    };
    const time = stopwatch();
    const [form, wanted] = trial.probe ?? ['1', /^1$/];
    await asks(form, wanted);
    const { ms: nextMs, freeMs } = time();
    if (trial.image === 'replaced' && trial.recompiles === undefined) {
      const limitMs = wanted.test('Error: The Lisp image was lost') ? LIMITS.graceMs : LIMITS.nextMs;
      expected(freeMs <= limitMs, `the new image answered after ${Math.round(freeMs)} ms`);
    }
    if (trial.spoils === undefined) {
      const kept = { replaced: ':NEW', either: `(?:${this.#state}|:NEW)`, kept: this.#state }[
        trial.image ?? 'kept'
      ];
      await asks(STATE, new RegExp(`^${kept}$`));
    }
    return { nextMs, notices };
  }
}
