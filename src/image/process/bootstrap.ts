// Speaks to a command on its stdin and stdout until these are a wire: to the REPL of a plain SBCL, which becomes
// an image, or to `live-lisp dial`, which passes on the wire of an image that somebody else runs. What the
// command writes before that, such as banners and prompts, is skipped.

import type { ChildProcess } from 'node:child_process';
import { Duplex } from 'node:stream';
import type { Times } from '../wire/times.ts';
import type { SbclFacts } from './sbcl-versions.ts';

/** The form that is sent first. It is one line, and a shell that gets it does nothing. The upper case of what it
 *  writes tells the answer from an echo of the form. Then SBCL evaluates the forms that follow. */
export const OPENING =
  '(cl:with-standard-io-syntax (cl:handler-case (cl:progn (cl:write-line (cl:symbol-name :live-lisp-speaks) sb-sys:*stdout*) (cl:finish-output sb-sys:*stdout*) (cl:loop (cl:eval (cl:read sb-sys:*stdin*)))) (cl:error (cl:condition) (cl:princ cl:condition sb-sys:*stderr*) (cl:terpri sb-sys:*stderr*) (cl:finish-output sb-sys:*stderr*) (sb-ext:exit :code 1 :abort cl:t))))';

/** The line in which OPENING answers, and that of `live-lisp dial`, with the JSON of the image. */
const ANSWER = /LIVE-LISP-(?:SPEAKS|DIALS (\{.*\}))\r?\n/;
/** The line in which SBCL tells its version, its bits, whether it has kept the agent, and its features. */
const READY = /LIVE-LISP-READY (\S+) (\d+) (kept|none) (.*)\n/;

/** Octets of output after which a command that was not answered by Lisp is given up. */
const NOISE_LIMIT = 256 * 1024;
/** Lines of its standard error that are told when a command ends. */
const LAST_LINES = 3;
/** Maximum number of characters that are kept of its standard error. */
const LAST_CHARACTERS = 1000;

/** What is done with whoever answers. */
export interface BootstrapPlan {
  /** Returns the forms that make an image of the SBCL. */
  forms(): string;
  /** Returns why an SBCL with FACTS is not used, if it is not. */
  refusal(facts: SbclFacts): string | undefined;
  /** Returns the sources of the agent, which an SBCL gets that has not kept it. */
  sources(): Buffer;
  /** Called when `live-lisp dial` answers. ENTRY is the JSON of its image. */
  dialled(entry: string): void;
  /** Called when the command does not become a wire. PROBLEM is part of a sentence whose subject is the
   *  command. REMEDY says what to do, when more is known than what to do about any command. */
  failed(problem: string, remedy?: string): void;
}

export class Bootstrap {
  readonly #process: ChildProcess;
  readonly #plan: BootstrapPlan;
  readonly #times: Times;
  /** The wire; nothing comes from it before the command has become one. */
  readonly wire: Duplex;
  #state: 'unanswered' | 'answered' | 'wire' = 'unanswered';
  #text = '';
  #noise = 0;
  #lastWords = '';
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** True while the agent is compiled there. */
  compiling = false;

  /** Speaks to PROCESS, whose three standard streams are pipes, by PLAN. */
  constructor(process: ChildProcess, plan: BootstrapPlan, times: Times) {
    this.#process = process;
    this.#plan = plan;
    this.#times = times;
    const { stdin, stdout, stderr } = process;
    this.wire = new PipeWire(process);
    // The end of the process tells what became of it.
    stdin?.on('error', () => {});
    stdout?.on('data', (chunk: Buffer) => this.#receive(chunk));
    stdout?.on('end', () => this.wire.push(null));
    stderr?.on('data', (text: Buffer | string) => this.#hear(String(text)));
    stdin?.write(`${OPENING}\n`);
    this.#wait();
  }

  /** The last lines that the command has written to its standard error. */
  get lastLines(): string[] {
    const lines = this.#lastWords.split(/\r?\n|\r/).map((line) => line.trim());
    return lines.filter((line) => line !== '').slice(-LAST_LINES);
  }

  /** Stops the wait for an answer, since the agent has greeted or the process has ended. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.compiling = false;
  }

  #hear(text: string): void {
    this.#lastWords = (this.#lastWords + text).slice(-LAST_CHARACTERS);
    if (this.#state === 'wire') return;
    this.#noise += text.length;
    this.#wait();
  }

  #receive(chunk: Buffer): void {
    if (this.#state === 'wire') {
      if (!this.wire.push(chunk)) this.#process.stdout?.pause();
      return;
    }
    this.#text += chunk.toString('latin1');
    this.#noise += chunk.length;
    this.#wait();
    if (this.#noise > NOISE_LIMIT) this.#fail(`wrote ${NOISE_LIMIT / 1024} kB, and no Lisp answered`);
    else {
      if (this.#state === 'unanswered') this.#findAnswer();
      this.#findReady();
    }
  }

  #findAnswer(): void {
    const found = ANSWER.exec(this.#text);
    if (this.#text.slice(0, found?.index).includes(OPENING)) {
      this.#fail(
        'writes back what it reads, as a terminal or another program than SBCL does',
        'Leave out options that ask for a terminal, such as -t or -it, and see that it starts SBCL.',
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
    if (this.#state !== 'answered' || found === null) return;
    const [line, version = '', bits, kept, features = ''] = found;
    this.#text = this.#text.slice(found.index + line.length);
    const refusal = this.#plan.refusal({ version, bits: Number(bits), features: features.split(' ') });
    if (refusal !== undefined) {
      this.#fail('starts an SBCL that cannot be used', refusal);
      return;
    }
    this.compiling = kept === 'none';
    this.#process.stdin?.write(this.compiling ? this.#plan.sources() : '0\n');
    this.#becomeWire();
    this.#wait();
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

  /** Waits anew for the command to say something. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    const limit = this.compiling ? this.#times.compile : this.#times.start;
    this.#timer = setTimeout(() => {
      this.#fail(`has written nothing for ${limit / 1000} s, and no Lisp answered`);
    }, limit);
  }
}

/** A stream over the stdin and stdout of a process. Whoever reads the stdout pushes what comes. */
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
