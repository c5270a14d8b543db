// Decides the life of one SBCL process: spawn, greeting, end.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import type { AgentOperations } from '../wire/agent-operations.ts';
import { Channel } from '../wire/channel.ts';
import type { Endable } from '../wire/ending-steps.ts';
import type { Answer, Hello } from '../wire/messages.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';
import { Begun } from './begun.ts';
import { collectorOf } from './collecting.ts';
import type { Command } from './command.ts';
import { endDescendants, MARK, withInner } from './descendants.ts';
import { RawOutput } from './raw-output.ts';
import { deniedTo } from './starving.ts';

/** The signals that a process gets from a person or the system, never for what is wrong with what it runs. */
const FROM_OUTSIDE: readonly (NodeJS.Signals | null)[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];

export class Child implements Peer {
  readonly #process: ChildProcess;
  readonly #channel: Channel;
  readonly #mark = randomUUID();
  readonly #begun = new Begun();
  /** Whether the memory of SBCL can be read. */
  #readable = false;
  /** The number of SBCL's own process, which is not ours when it is in the sandbox. */
  #lisp: number | undefined;
  /** Whether SBCL is a process that ours runs, whose number is not known yet. */
  #wraps: boolean;
  readonly #raw = new RawOutput();
  #complaint = '';
  #exited = false;
  #endedFromOutside = false;
  /** Whether it was told to exit, and whether its agent failed. */
  #exits = false;
  #failed = false;
  #endedByCall = false;
  #hello: Hello | undefined;
  /** The operations that had no answer when it ended. */
  #unanswered: string[] = [];
  readonly startedAt = performance.now();
  #greet: (hello: Hello) => void = () => {};
  /** Resolves with the greeting; rejects when the process ends before, with what it wrote. */
  readonly greeting: Promise<Hello>;
  /** Resolves when the process has ended, with how, as part of a sentence. */
  readonly ended: Promise<string>;

  constructor(
    command: Command,
    cwd: string,
    upcalls: (self: Child) => Upcalls = () => ({}),
    times: Times = TIMES,
  ) {
    const { program, args, env, tellsSignals } = command;
    this.#process = spawn(program, args, {
      cwd,
      env: { ...env, [MARK]: this.#mark },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', this.#begun.descriptor ?? 'ignore'],
      detached: true,
    });
    this.#channel = new Channel(this.#process.stdio[3] as Duplex, this, upcalls(this), {
      hello: (hello) => this.#greeted(hello),
      exiting: () => {
        this.#exits = true;
        setTimeout(() => this.kill('it was told to exit'), times.exit).unref();
      },
      exits: () => {
        this.#endedByCall = true;
      },
      broken: (how) => {
        this.#failed = true;
        this.kill(how);
      },
      begun: (id) => this.#begun.has(id),
    });
    this.#lisp = this.#process.pid;
    this.#wraps = tellsSignals === true;
    for (const name of ['stdout', 'stderr'] as const) {
      this.#process[name]?.setEncoding('utf8').on('data', (text: string) => this.#raw.add(name, text));
    }
    this.ended = this.#toEnd(tellsSignals === true, times.lastWords);
    this.greeting = new Promise((resolve, reject) => {
      this.#greet = resolve;
      void this.ended.then((how) => {
        // What it wrote is told once: after it has greeted, by the answer to the call that lost it.
        if (this.#hello === undefined) reject(new Error(`${how}\n${this.takeRaw()}`.trim()));
      });
    });
    this.greeting.catch(() => {});
  }

  /** The number of SBCL's process; undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#lisp;
  }

  /** Whether the process has ended. */
  get dead(): boolean {
    return this.#channel.closed;
  }

  /** Whether it has ended and only its last output is waited for. */
  get dying(): boolean {
    return this.#exited && !this.dead;
  }

  /** Whether somebody else has ended it, which says nothing of what it was started from. */
  get endedFromOutside(): boolean {
    return this.#endedFromOutside;
  }

  /** Whether nobody ended it: neither this program, nor a person, nor an exit that code asked for. */
  get endedByItself(): boolean {
    return (this.#complaint === '' || this.#failed) && !this.#endedFromOutside && !this.#exits;
  }

  /** Whether a call asked for its end, or was the reason for it. */
  get endedByCall(): boolean {
    return this.#endedByCall;
  }

  /** The operations that had no answer when it ended. */
  get unanswered(): readonly string[] {
    return this.#unanswered;
  }

  /** What it lacks, and what it does instead; undefined before it has greeted. */
  get hello(): Hello | undefined {
    return this.#hello;
  }

  /** Whether requests wait for an answer. */
  get busy(): boolean {
    return this.#channel.busy;
  }

  get features(): ReadonlySet<string> {
    return this.#channel.features;
  }

  request<Name extends keyof AgentOperations>(
    name: Name,
    args: AgentOperations[Name]['args'],
  ): { id: number; answer: Promise<Answer<Name>> } {
    if (name === 'ping') this.wake();
    return this.#channel.request(name, args);
  }

  tell<Name extends keyof AgentOperations>(name: Name, args: AgentOperations[Name]['args']): void {
    this.#channel.tell(name, args);
  }

  job(id: number): Endable {
    return {
      interrupt: (reason) => {
        this.wake();
        this.tell('interrupt', { job: id, reason });
      },
      terminate: () => this.tell('terminate', { job: id }),
      reacts: () => this.#channel.askWritten(id),
      collecting: this.collector(),
      deniedMs: this.denied(),
      kill: () => {
        this.#endedByCall = true;
        this.kill('a call could not be interrupted, so the image had to be replaced');
      },
    };
  }

  /** Returns what tells whether garbage is being collected, during which nothing is answered. */
  collector(): () => boolean | undefined {
    const look = collectorOf(this.#lisp, this.#hello?.collector);
    // Once that can no longer be read, the process has become another program, which collects none.
    return this.#readable ? () => look() ?? false : look;
  }

  /** Returns what tells for how many milliseconds SBCL was denied the CPU since it was asked first. */
  denied(): () => number {
    return deniedTo(this.#lisp);
  }

  /** Lets SBCL go on when a signal has stopped it: then it can neither be interrupted nor tell that it lives. */
  wake(): void {
    if (this.#lisp === undefined) return;
    // What locks it in can be stopped as well, while SBCL waits for it.
    for (const pid of this.#wraps ? withInner(this.#lisp) : [this.#lisp]) {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // It has ended.
      }
    }
  }

  /** Ends the process at once, and all that it started, saying HOW in the answers of the calls that run. */
  kill(how: string): void {
    if (this.#complaint === '') this.#complaint = how;
    this.#process.kill('SIGKILL');
    this.#endDescendants();
  }

  /** What SBCL said when it warned that its memory may be corrupted; undefined when it did not. */
  get corrupted(): string | undefined {
    return this.#raw.corrupted;
  }

  /** Returns, once, what the process wrote past the agent. */
  takeRaw(): string {
    return this.#raw.take();
  }

  /** Returns the promise of how the process ends, which is told once its last words could be read. */
  #toEnd(tellsSignals: boolean, lastWordsMs: number): Promise<string> {
    return new Promise((resolve) => {
      const end = (how: string) => resolve(this.#end(how));
      this.#process.on('error', (error) => end(`it could not be started: ${error.message}`));
      // Not 'close': a process that it left behind can hold its output open for ever.
      this.#process.on('exit', (code, signal) => {
        this.#exited = true;
        this.#endDescendants();
        const by = (tellsSignals ? signalIn(code) : undefined) ?? signal;
        this.#endedFromOutside = this.#complaint === '' && FROM_OUTSIDE.includes(by);
        // Behind what can be read by then, however late the timer is.
        setTimeout(() => setImmediate(() => end(this.#epitaph(code, by))), lastWordsMs);
      });
    });
  }

  #greeted(hello: Hello): void {
    if (this.#wraps && this.#lisp !== undefined) this.#lisp = withInner(this.#lisp).at(-1);
    this.#wraps = false;
    this.#hello = hello;
    this.#readable = this.collector()() !== undefined;
    this.#greet(hello);
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

  #end(how: string): string {
    this.#unanswered = this.#channel.running;
    this.#channel.close(how);
    this.#begun.close();
    // A process that was not found could hold their other ends open for ever.
    for (const stream of this.#process.stdio) stream?.destroy();
    return how;
  }
}

/** Returns the signal that the exit code CODE tells, if any. */
function signalIn(code: number | null): NodeJS.Signals | undefined {
  const names = Object.keys(constants.signals) as NodeJS.Signals[];
  return names.find((name) => code === 128 + constants.signals[name]);
}
