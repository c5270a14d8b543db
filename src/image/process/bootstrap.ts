// Turns the stdin and stdout of a command, such as ssh, into a connection to the backend (a wire). The command either
// starts SBCL, which then gets forms that load the backend, or it runs `live-lisp dial`, which connects to an image of
// somebody else. All output before the connection, such as banners and prompts, is skipped.

import type { ChildProcess } from 'node:child_process';
import { Duplex } from 'node:stream';
import type { Times } from '../wire/times.ts';
import type { SbclFacts } from './sbcl-versions.ts';

/** The form that is sent first. SBCL writes a line that ANSWER matches, and then evaluates further forms. The form is
 * one line, for which a shell only reports a syntax error. The answer is in upper case, so that ANSWER does not match
 * an echo of the form. */
const OPENING =
  '(cl:with-standard-io-syntax (cl:handler-case (cl:progn (cl:write-line (cl:symbol-name :live-lisp-speaks) sb-sys:*stdout*) (cl:finish-output sb-sys:*stdout*) (cl:loop (cl:eval (cl:read sb-sys:*stdin*)))) (cl:error (cl:condition) (cl:princ cl:condition sb-sys:*stderr*) (cl:terpri sb-sys:*stderr*) (cl:finish-output sb-sys:*stderr*) (sb-ext:exit :code 1 :abort cl:t))))';

/** Matches SBCL's answer to OPENING. Also matches the line with which the command `live-lisp dial` answers instead.
 * That line contains a JSON object about an image that somebody else runs. */
const ANSWER = /LIVE-LISP-(?:SPEAKS|DIALS (\{.*\}))\r?\n/;
/** Matches the line in which SBCL reports its version, the number of its bits, whether its cache has the backend, and
 * its features. */
const READY = /LIVE-LISP-READY (\S+) (\d+) (kept|none) (.*)\n/;

/** The start fails when the command has written this many octets of other output before SBCL has answered. */
const NOISE_LIMIT = 256 * 1024;
/** Number of lines of the command's stderr that the message of a failure contains. */
const LAST_LINES = 3;
/** Maximum number of characters that are kept of the command's stderr. */
const LAST_CHARACTERS = 1000;

/** The data that Bootstrap sends to the SBCL that the command starts, and the functions that it calls when it cannot
 * connect to such an SBCL. */
export interface BootstrapPlan {
  /** Returns the forms that SBCL reads after OPENING. They write the line READY, read the sources and load the backend
   * (lisp/command.lisp). */
  forms(): string;
  /** Returns the reason why an SBCL that has `facts` cannot be used; undefined when it can. */
  refusal(facts: SbclFacts): string | undefined;
  /** Returns the sources of the backend, for an SBCL that has no compiled backend in its cache. The first line is the
   * number of files. */
  sources(): Buffer;
  /** Called when the command runs `live-lisp dial` instead of an SBCL. `entry` is a JSON text that describes the image
   * to which `live-lisp dial` leads. */
  dialled(entry: string): void;
  /** Called when no connection is possible. `problem` continues a sentence that begins with the command, such as
   * `starts an SBCL that cannot be used`. `remedy` is advice that replaces the usual advice. */
  failed(problem: string, remedy?: string): void;
}

export class Bootstrap {
  readonly #process: ChildProcess;
  readonly #plan: BootstrapPlan;
  readonly #times: Times;
  /** The connection to the backend. It carries no data before the command is ready. */
  readonly wire: Duplex;
  /** unanswered: no Lisp has answered OPENING yet. answered: SBCL has answered it, and now evaluates the forms. wire:
   * the connection is ready. */
  #state: 'unanswered' | 'answered' | 'wire' = 'unanswered';
  /** The part of the output that is searched for ANSWER or READY. */
  #text = '';
  /** Number of octets of output before the connection. */
  #noise = 0;
  #stderr = '';
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** True from READY to the greeting, if SBCL must compile the backend first. */
  compiling = false;

  /** Sends OPENING to PROCESS, whose standard streams are pipes, and then follows PLAN. */
  constructor(process: ChildProcess, plan: BootstrapPlan, times: Times) {
    this.#process = process;
    this.#plan = plan;
    this.#times = times;
    const { stdin, stdout, stderr } = process;
    this.wire = new PipeWire(process);
    // An error of stdin means that the process ends, which is reported then.
    stdin?.on('error', () => {});
    stdout?.on('data', (chunk: Buffer) => this.#receive(chunk));
    stdout?.on('end', () => this.wire.push(null));
    stderr?.on('data', (text: Buffer | string) => this.#receiveStderr(String(text)));
    stdin?.write(`${OPENING}\n`);
    this.#restartTimer();
  }

  get lastLines(): string[] {
    const lines = this.#stderr.split(/\r?\n|\r/).map((line) => line.trim());
    return lines.filter((line) => line !== '').slice(-LAST_LINES);
  }

  /** Stops the timer. Called after the greeting, and when the process has ended. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.compiling = false;
  }

  #receiveStderr(text: string): void {
    this.#stderr = (this.#stderr + text).slice(-LAST_CHARACTERS);
    if (this.#state !== 'wire') this.#countNoise(text.length);
  }

  /** Counts OCTETS of output before the connection. The start fails when there are too many. */
  #countNoise(octets: number): void {
    this.#noise += octets;
    this.#restartTimer();
    if (this.#noise > NOISE_LIMIT) this.#fail(`wrote ${NOISE_LIMIT / 1024} kB, and no Lisp answered`);
  }

  #receive(chunk: Buffer): void {
    if (this.#state === 'wire') {
      if (!this.wire.push(chunk)) this.#process.stdout?.pause();
      return;
    }
    this.#text += chunk.toString('latin1');
    this.#countNoise(chunk.length);
    if (this.#stopped) return;
    if (this.#state === 'unanswered') this.#findAnswer();
    if (this.#state === 'answered') this.#findReady();
  }

  #findAnswer(): void {
    const found = ANSWER.exec(this.#text);
    if (this.#text.slice(0, found?.index).includes(OPENING)) {
      this.#fail(
        'echoes its input, as a terminal or a program other than SBCL does',
        'Leave out options that ask for a terminal, such as -t or -it, and make sure that the command starts SBCL.',
      );
      return;
    }
    if (found === null) return;
    const [answer, entry] = found;
    this.#text = this.#text.slice(found.index + answer.length);
    if (entry === undefined) {
      this.#state = 'answered';
      this.#process.stdin?.write(this.#plan.forms());
      return;
    }
    this.#plan.dialled(entry);
    this.#becomeWire();
  }

  #findReady(): void {
    const found = READY.exec(this.#text);
    if (found === null) return;
    const [line, version = '', bits, kept, features = ''] = found;
    this.#text = this.#text.slice(found.index + line.length);
    const refusal = this.#plan.refusal({ version, bits: Number(bits), features: features.split(' ') });
    if (refusal !== undefined) {
      this.#fail('starts an SBCL that cannot be used', refusal);
      return;
    }
    this.compiling = kept === 'none';
    // 0 is the number of source files that follow.
    this.#process.stdin?.write(this.compiling ? this.#plan.sources() : '0\n');
    this.#becomeWire();
    // A compilation has a longer limit.
    this.#restartTimer();
  }

  #becomeWire(): void {
    this.#state = 'wire';
    if (this.#text !== '') this.wire.push(Buffer.from(this.#text, 'latin1'));
    this.#text = '';
  }

  #fail(problem: string, remedy?: string): void {
    if (this.#stopped) return;
    this.stop();
    this.#plan.failed(problem, remedy);
  }

  #restartTimer(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    const limit = this.compiling ? this.#times.compile : this.#times.start;
    this.#timer = setTimeout(() => {
      this.#fail(`has written nothing for ${limit / 1000} s, and no Lisp answered`);
    }, limit);
  }
}

/** A stream over the stdin and stdout of a process. Bootstrap reads stdout, and pushes the connection's data into this
 * stream. */
class PipeWire extends Duplex {
  readonly #process: ChildProcess;

  constructor(process: ChildProcess) {
    super();
    this.#process = process;
  }

  override _read(): void {
    this.#process.stdout?.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    const { stdin } = this.#process;
    if (stdin?.writable) stdin.write(chunk, () => done());
    else done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#process.stdin?.destroy();
    this.#process.stdout?.destroy();
    done(error);
  }
}
