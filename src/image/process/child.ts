// Decides the life of one SBCL process: spawn, greeting, requests and their answers, end.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { messageOf } from '../../errors.ts';
import { FrameReader, type Message, numberIn, PROTOCOL_VERSION, requestFrame } from '../wire/frames.ts';
import type { Endable } from '../wire/limits.ts';
import { CodeCalls, type Upcalls } from '../wire/upcalls.ts';
import { type CollectorAddresses, collectorOf } from './collecting.ts';
import { endDescendants, innermost, MARK } from './descendants.ts';
import { RawOutput } from './raw-output.ts';

/** How long after its end the output of the process is still read. */
const LAST_WORDS_MS = 20;

/** What is run, and with which environment. */
export interface Command {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Whether it exits with 128 and the number of the signal, as a shell does, when that ended what it runs. */
  tellsSignals?: boolean;
}

export interface Greeting {
  /** Abilities that this SBCL lacks. */
  without: string[];
}

/** How a process ended, as part of a sentence; also the answer of the calls that it left unanswered. */
export interface Death extends Message {
  lost: string;
}

export class Child {
  readonly #process: ChildProcess;
  readonly #channel: Duplex;
  readonly #reader = new FrameReader();
  readonly #pending = new Map<number, (answer: Message) => void>();
  readonly #codeCalls: CodeCalls;
  readonly #upcalls: Upcalls;
  /** What the requests that are pending had written when that was last known. */
  readonly #written = new Map<number, unknown>();
  readonly #mark = randomUUID();
  #collector: CollectorAddresses | undefined;
  /** The number of SBCL's own process, which is not ours when it is in the sandbox. */
  #lisp: number | undefined;
  /** Whether SBCL is a process that ours runs, whose number is not known yet. */
  #wraps: boolean;
  #nextId = 1;
  readonly #raw = new RawOutput();
  #complaint = '';
  #death: Death | undefined;
  #exited = false;
  readonly startedAt = performance.now();
  #greet: (greeting: Greeting) => void = () => {};
  /** Resolves with the greeting; rejects when the process ends before, with what it wrote. */
  readonly greeting: Promise<Greeting>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<Death>;

  constructor(command: Command, cwd: string, upcalls: (self: Child) => Upcalls = () => ({})) {
    const { program, args, env, tellsSignals } = command;
    this.#upcalls = upcalls(this);
    this.#codeCalls = new CodeCalls(this, this.#upcalls);
    this.#process = spawn(program, args, {
      cwd,
      env: { ...env, [MARK]: this.#mark },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#channel = this.#process.stdio[3] as Duplex;
    this.#lisp = this.#process.pid;
    this.#wraps = tellsSignals === true;
    this.#channel.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#channel.on('error', () => {});
    for (const name of ['stdout', 'stderr'] as const) {
      this.#process[name]?.setEncoding('utf8').on('data', (text: string) => this.#raw.add(name, text));
    }
    this.ended = new Promise((resolve) => {
      const end = (how: string) => resolve(this.#end(how));
      this.#process.on('error', (error) => end(`it could not be started: ${error.message}`));
      // Not 'close': a process that it left behind can hold its output open for ever.
      this.#process.on('exit', (code, signal) => {
        this.#exited = true;
        this.#endDescendants();
        const told = tellsSignals ? signalIn(code) : undefined;
        // Behind what can be read by then, however late the timer is.
        setTimeout(() => setImmediate(() => end(this.#epitaph(code, told ?? signal))), LAST_WORDS_MS);
      });
    });
    this.greeting = new Promise((resolve, reject) => {
      this.#greet = resolve;
      void this.ended.then(({ lost }) => reject(new Error(`${lost}\n${this.takeRaw()}`.trim())));
    });
    this.greeting.catch(() => {});
  }

  /** The number of SBCL's process; undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#lisp;
  }

  /** Whether the process has ended. */
  get dead(): boolean {
    return this.#death !== undefined;
  }

  /** Whether it has ended and only its last output is waited for. */
  get dying(): boolean {
    return this.#exited && !this.dead;
  }

  /** Whether requests wait for an answer. */
  get busy(): boolean {
    return this.#pending.size > 0;
  }

  /** Sends the request OP and returns its id and the promise of its answer, which is a Death when
   *  the process ended first. Throws a CallError when ARGS are too large or too deep. */
  request(op: string, args: object): { id: number; answer: Promise<Message> } {
    const id = this.#nextId++;
    const frame = requestFrame(id, op, args);
    const answer = new Promise<Message>((resolve) => {
      if (this.#death !== undefined) resolve(this.#death);
      else this.#pending.set(id, resolve);
    });
    if (this.#death === undefined) {
      if (op === 'ping') this.wake();
      this.#codeCalls.jobBegan(id, op);
      this.#channel.write(frame);
    }
    return { id, answer };
  }

  /** Returns what it takes to end the job ID. */
  job(id: number): Endable {
    return {
      interrupt: (reason) => {
        this.wake();
        this.tell('interrupt', { job: id, reason });
      },
      terminate: () => this.tell('terminate', { job: id }),
      reacts: () => this.#askWritten(id),
      collecting: this.collector(),
      kill: () => this.kill('a call could not be interrupted, so the image had to be replaced'),
    };
  }

  /** Sends the request OP, whose answer nobody needs: a process that gives none must cost nothing. Throws a CallError
   *  when ARGS are too large or too deep. */
  tell(op: string, args: object): void {
    const frame = requestFrame(this.#nextId++, op, args);
    if (this.#death === undefined) this.#channel.write(frame);
  }

  /** Returns what tells whether garbage is being collected, during which nothing is answered. */
  collector(): () => boolean | undefined {
    return collectorOf(this.#lisp, this.#collector);
  }

  /** Asks what the request ID has written so far, for its answer if the process ends first. Resolves when the
   *  process has reacted. */
  async #askWritten(id: number): Promise<void> {
    const { value } = await this.request('written', { job: id }).answer;
    if (value) this.#keepWritten(id, value);
  }

  /** Lets SBCL go on when a signal has stopped it: then it can neither be interrupted nor tell that it lives. */
  wake(): void {
    try {
      if (this.#lisp !== undefined) process.kill(this.#wraps ? innermost(this.#lisp) : this.#lisp, 'SIGCONT');
    } catch {
      // It has ended.
    }
  }

  /** Ends the process at once, and all that it started, saying HOW in the answers of the calls that run. */
  kill(how: string): void {
    if (this.#complaint === '') this.#complaint = how;
    this.#process.kill('SIGKILL');
    this.#endDescendants();
  }

  /** Ends a process whose agent failed, as FAULT tells, a text unless the program wrote it, and resolves when it has
   *  ended. */
  async fail(fault: unknown): Promise<void> {
    const how = typeof fault === 'string' ? fault : JSON.stringify(fault);
    this.kill(`its agent failed: ${how.slice(0, 500).replace(/\.$/, '')}`);
    await this.ended;
  }

  /** Returns, once, what the process wrote past the agent. */
  takeRaw(): string {
    return this.#raw.take();
  }

  #receive(chunk: Buffer): void {
    try {
      for (const message of this.#reader.push(chunk)) this.#dispatch(message);
    } catch (error) {
      this.kill(`its answers could not be understood (${messageOf(error)})`);
    }
  }

  #dispatch(message: Message): void {
    if ('hello' in message) {
      if (message['hello'] !== PROTOCOL_VERSION) {
        this.kill(
          `its agent speaks version ${String(message['hello'])} of the protocol, not ${PROTOCOL_VERSION}`,
        );
      }
      if (this.#wraps && this.#lisp !== undefined) this.#lisp = innermost(this.#lisp);
      this.#wraps = false;
      this.#collector = (message['collector'] as CollectorAddresses | null) ?? undefined;
      this.#greet({ without: (message['without'] as string[] | null) ?? [] });
      return;
    }
    if ('written' in message) {
      this.#keepWritten(numberIn(message['id']), message['written']);
      return;
    }
    // The process is about to end by itself and the epitaph will answer.
    if (message['exiting'] === true) {
      this.#keepWritten(numberIn(message['id']), message['output']);
      setTimeout(() => this.kill('it was told to exit'), 4000).unref();
      return;
    }
    if ('built' in message || 'replaying' in message) {
      this.#upcalls.tell?.(message);
      return;
    }
    if ('call' in message) {
      this.#codeCalls.take(message);
      return;
    }
    const id = numberIn(message['id']);
    this.#pending.get(id)?.(message);
    this.#pending.delete(id);
    this.#written.delete(id);
    this.#codeCalls.jobEnded(id);
  }

  #keepWritten(id: number, written: unknown): void {
    if (this.#pending.has(id)) this.#written.set(id, written);
  }

  #endDescendants(): void {
    if (this.#process.pid !== undefined) endDescendants(this.#process.pid, this.#mark);
  }

  #epitaph(code: number | null, signal: NodeJS.Signals | null): string {
    if (this.#complaint !== '') return this.#complaint;
    const { fatal } = this.#raw;
    // It then exits with 1; older words were not its own, or not its last.
    if (fatal !== undefined && (code === 1 || signal === 'SIGABRT')) {
      return /^heap exhausted/i.test(fatal) ? 'its heap was exhausted' : `its runtime gave up: ${fatal}`;
    }
    return signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`;
  }

  #end(lost: string): Death {
    this.#death ??= { lost };
    for (const [id, resolve] of this.#pending) resolve({ ...this.#death, output: this.#written.get(id) });
    this.#pending.clear();
    this.#written.clear();
    this.#codeCalls.endAll();
    // A process that was not found could hold their other ends open for ever.
    for (const stream of this.#process.stdio) stream?.destroy();
    return this.#death;
  }
}

/** Returns the signal that the exit code CODE tells, if any. */
function signalIn(code: number | null): NodeJS.Signals | undefined {
  const names = Object.keys(constants.signals) as NodeJS.Signals[];
  return names.find((name) => code === 128 + constants.signals[name]);
}
