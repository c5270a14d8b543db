// Runs the process of an image: starts it, waits for the greeting of the backend, the Lisp side of live-lisp, and
// reports the end of the process. The process is SBCL, the sandbox around SBCL, or a command that starts SBCL
// elsewhere.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { Channel, type ChannelCallbacks } from '../wire/channel.ts';
import type { Endable } from '../wire/ending-steps.ts';
import type { FarPaths } from '../wire/far-paths.ts';
import type { Answer, Hello } from '../wire/messages.ts';
import type { BackendOperations } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';
import { Bootstrap, type BootstrapPlan } from './bootstrap.ts';
import { collectionPoll } from './collecting.ts';
import type { ProcessCommand } from './command.ts';
import { endDescendants, IMAGE_VARIABLE, processChain } from './descendants.ts';
import { RawOutput } from './raw-output.ts';
import { StartedRequests } from './started-requests.ts';
import { cpuDenialMeter } from './starving.ts';

/** Signals that a person or the system sends. A fault of the program does not cause them. */
const FROM_OUTSIDE: readonly (NodeJS.Signals | null)[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];

/** The reason that is reported for the loss of an image whose program has called (live-lisp:stop). */
const LET_GO =
  '(live-lisp:stop) disconnected live-lisp from it; that image runs on until its program or this server ends';

/** A command that starts a remote image. */
interface Elsewhere {
  /** Returns the plan that makes the command's stdin and stdout the connection to the backend. The plan calls `then`
   * when an image that runs already answers, or when no connection is possible. */
  plan: (then: Pick<BootstrapPlan, 'dialled' | 'failed'>) => BootstrapPlan;
  /** Translates the paths in messages. */
  paths: FarPaths;
}

interface ChildOptions {
  command: ProcessCommand;
  /** Working directory of the process. */
  cwd: string;
  /** Returns the handlers of requests from code in the image of `self`. */
  upcalls?: (self: Child) => Upcalls;
  times?: Times;
  /** Absent for an image on this machine. */
  elsewhere?: Elsewhere;
}

export class Child implements Peer {
  readonly #times: Times;
  readonly #process: ChildProcess;
  /** True when a signal makes the process exit with 128 plus the signal's number. */
  readonly #encodesSignals: boolean;
  readonly #channel: Channel;
  readonly #mark = randomUUID();
  /** Undefined for a remote image, because it cannot share memory with the server. */
  readonly #startedRequests: StartedRequests | undefined;
  /** Makes the stdin and stdout of the command a connection to the backend. Undefined when the image is not started by
   * a command. */
  readonly #bootstrap: Bootstrap | undefined;
  #memoryReadable = false;
  /** The process id of SBCL; undefined for a remote image. In the sandbox, it is the id of the sandbox's process
   * until the greeting, and then that of SBCL. */
  #lispPid: number | undefined;
  /** True while #lispPid is the id of the sandbox's process. */
  #isWrapped: boolean;
  readonly #raw = new RawOutput();
  /** The reason of the first `kill`, or LET_GO; undefined before that. */
  #killReason: string | undefined;
  #exited = false;
  /** Who has ended the process, or has begun to end it. It is `itself` when nobody else has, for example when the
   * process crashes. */
  #endedBy: 'itself' | 'server' | 'user code' | 'signal from outside' = 'itself';
  /** The greeting of the backend. It lists the abilities that this SBCL lacks. Undefined before the greeting. */
  hello: Hello | undefined;
  /** The operations that were not answered when the process ended. */
  unanswered: readonly string[] = [];
  readonly startedAt = performance.now();
  #resolveGreeting: (hello: Hello) => void = () => {};
  #resolveEnded: (how: string) => void = () => {};
  /** Resolves with the greeting. If the process ends before the greeting, rejects with its output. */
  readonly greeting: Promise<Hello>;
  /** Resolves when the process has ended, with the reason as part of a sentence. */
  readonly ended: Promise<string>;

  /** For a remote image: `problem` says why its command leads to no image, and completes a sentence that begins with
   * "its command". `remedy` is advice for this problem. Both are undefined when unknown. */
  problem: string | undefined;
  remedy: string | undefined;
  /** The reason why the process could not be started; undefined when it was started. */
  spawnError: string | undefined;
  exitCode: number | undefined;
  /** If the command leads to an image that somebody else runs: the JSON that describes this image. */
  dialled: string | undefined;

  constructor({ command, cwd, upcalls = () => ({}), times = TIMES, elsewhere }: ChildOptions) {
    this.#times = times;
    this.#encodesSignals = command.encodesSignals === true;
    if (elsewhere === undefined) this.#startedRequests = new StartedRequests();
    this.#process = spawn(command.program, command.args, {
      cwd,
      env: { ...command.env, [IMAGE_VARIABLE]: this.#mark },
      // The backend uses descriptor 3 as the channel, and 4 as the memory shared with the server (MAIN in main.lisp).
      stdio:
        elsewhere === undefined
          ? ['ignore', 'pipe', 'pipe', 'pipe', this.#startedRequests?.descriptor ?? 'ignore']
          : ['pipe', 'pipe', 'pipe'],
      // Makes a process group, which endDescendants kills.
      detached: true,
    });
    this.#bootstrap = elsewhere && this.#newBootstrap(elsewhere);
    const wire = this.#bootstrap?.wire ?? (this.#process.stdio[3] as Duplex);
    this.#channel = new Channel(wire, this, upcalls(this), this.#callbacks(), { paths: elsewhere?.paths });
    this.#lispPid = elsewhere === undefined ? this.#process.pid : undefined;
    // On this machine, only the command of a sandbox encodes signals.
    this.#isWrapped = this.#encodesSignals && elsewhere === undefined;
    for (const name of this.#rawStreams) {
      this.#process[name]?.setEncoding('utf8').on('data', (text: string) => this.#raw.add(name, text));
    }
    this.ended = this.#watchExit();
    this.greeting = new Promise((resolve, reject) => {
      this.#resolveGreeting = resolve;
      void this.ended.then((how) => {
        // Before the greeting no call waits, so the error contains the output. After the greeting, the next answer
        // reports the output in a notice.
        if (this.hello === undefined) reject(new Error(`${how}\n${this.takeRaw()}`.trim()));
      });
    });
    this.greeting.catch(() => {});
  }

  #newBootstrap({ plan }: Elsewhere): Bootstrap {
    this.#process.stdout?.on('end', () => {
      setTimeout(() => this.kill('its command closed its output'), this.#times.outputEnded).unref();
    });
    const dialled = (entry: string) => {
      this.dialled = entry;
      this.kill('its command connects to an image that somebody else runs');
    };
    const failed = (problem: string, remedy?: string) => {
      this.problem = problem;
      this.remedy = remedy;
      this.kill(`its command ${problem}`);
    };
    return new Bootstrap(this.#process, plan({ dialled, failed }), this.#times);
  }

  #callbacks(): ChannelCallbacks {
    return {
      hello: (hello) => {
        // An image that somebody else runs greets too, before the connection to it is closed here.
        if (this.dialled === undefined) this.#greeted(hello);
      },
      exiting: () => {
        this.#endedBy = 'user code';
        setTimeout(() => this.kill('it was told to exit'), this.#times.exit).unref();
      },
      stopped: () => this.#letGo(),
      broken: (how) => this.#kill(how, 'itself'),
      hasStarted: (id) => this.#startedRequests?.has(id),
    };
  }

  /** The streams that carry only text. The connection to the backend uses other descriptors. */
  get #rawStreams(): readonly ('stdout' | 'stderr')[] {
    return this.#bootstrap === undefined ? ['stdout', 'stderr'] : ['stderr'];
  }

  /** The last lines of stderr for a remote image; [] for other images. */
  get lastLines(): readonly string[] {
    return this.#bootstrap?.lastLines ?? [];
  }

  get compiling(): boolean {
    return this.#bootstrap?.compiling === true;
  }

  /** The process id of SBCL; undefined when SBCL could not be started, or when a command starts it. */
  get pid(): number | undefined {
    return this.#lispPid;
  }

  get dead(): boolean {
    return this.#channel.closed;
  }

  /** True when the process has ended, but its last output may still arrive. */
  get dying(): boolean {
    return this.#exited && !this.dead;
  }

  /** True when the process ended because of a fault in it. False when this server, a person, or an exit in user code
   * ended it. */
  get endedByItself(): boolean {
    return this.#endedBy === 'itself';
  }

  /** True when a signal from a person or the system has ended the process. Its core or fasl is then no likely cause. */
  get endedFromOutside(): boolean {
    return this.#endedBy === 'signal from outside';
  }

  get busy(): boolean {
    return this.#channel.busy;
  }

  get features(): ReadonlySet<string> {
    return this.#channel.features;
  }

  request<Name extends keyof BackendOperations>(
    name: Name,
    args: BackendOperations[Name]['args'],
    follow?: boolean,
  ): { id: number; answer: Promise<Answer<Name>> } {
    if (name === 'ping') this.wake();
    return this.#channel.request(name, args, follow);
  }

  notify<Name extends keyof BackendOperations>(name: Name, args: BackendOperations[Name]['args']): void {
    this.#channel.notify(name, args);
  }

  job(id: number): Endable {
    return {
      interrupt: (reason) => {
        this.wake();
        this.notify('interrupt', { job: id, reason });
      },
      terminate: () => this.notify('terminate', { job: id }),
      reacts: () => this.#channel.requestOutput(id),
      collecting: this.collectionPoll(),
      deniedMs: this.cpuDenialMeter(),
      kill: () => {
        this.kill('a call could not be interrupted, so the image had to be replaced');
      },
    };
  }

  /** Returns a function that returns true when SBCL is collecting garbage, or has collected since the previous call.
   * During a collection, SBCL does not react. The function returns undefined when this is unknown. */
  collectionPoll(): () => boolean | undefined {
    const poll = collectionPoll(this.#lispPid, this.hello?.collector);
    // If the memory was readable at the greeting and no longer is, the process runs another program now, which does not
    // collect garbage.
    return this.#memoryReadable ? () => poll() ?? false : poll;
  }

  /** Returns a meter, a function. A call of the meter returns the number of milliseconds for which SBCL has waited for
   * a CPU since the first such call (see starving.ts). */
  cpuDenialMeter(): () => number {
    return cpuDenialMeter(this.#lispPid);
  }

  /** Resumes SBCL if a signal has stopped its process. A stopped process cannot be interrupted, and does not answer a
   * ping. */
  wake(): void {
    if (this.#lispPid === undefined) return;
    // If the process of the sandbox around SBCL is stopped, SBCL is stopped too.
    for (const pid of this.#isWrapped ? processChain(this.#lispPid) : [this.#lispPid]) {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // The process has ended already.
      }
    }
  }

  /** Kills the process and all its descendants at once. The answers to running calls give HOW as the reason. */
  kill(how: string): void {
    this.#kill(how, 'server');
  }

  #kill(how: string, by: 'server' | 'itself'): void {
    if (this.#killReason === undefined) {
      this.#killReason = how;
      if (this.#endedBy === 'itself') this.#endedBy = by;
    }
    this.#process.kill('SIGKILL');
    this.#endDescendants();
  }

  /** The warning of SBCL that its memory may be corrupted; undefined when it has given none. */
  get corrupted(): string | undefined {
    return this.#raw.corrupted;
  }

  /** Returns the output that the standard streams got since the previous call. The backend's own output is left out. */
  takeRaw(): string {
    return this.#raw.take();
  }

  /** Returns a promise of the reason for the end of the process. It resolves `lastWords` milliseconds after
   *  the end (see TIMES), so that the last output is read first. */
  #watchExit(): Promise<string> {
    return new Promise((resolve) => {
      this.#resolveEnded = resolve;
      const end = (how: string) => resolve(this.#end(how));
      this.#process.on('error', (error) => {
        this.spawnError = error.message;
        end(`it could not be started: ${error.message}`);
      });
      // The event 'close' is not used, because a descendant can keep the output of the process open for ever.
      this.#process.on('exit', (code, signal) => {
        this.#exited = true;
        this.exitCode = code ?? undefined;
        this.#endDescendants();
        const endSignal = (this.#encodesSignals ? signalIn(code) : undefined) ?? signal;
        if (this.#killReason === undefined && FROM_OUTSIDE.includes(endSignal))
          this.#endedBy = 'signal from outside';
        // setImmediate lets Node read all output that has arrived by now, even when the timer fires late.
        setTimeout(() => setImmediate(() => end(this.#endReason(code, endSignal))), this.#times.lastWords);
      });
    });
  }

  #greeted(hello: Hello): void {
    if (this.#isWrapped && this.#lispPid !== undefined) this.#lispPid = processChain(this.#lispPid).at(-1);
    this.#isWrapped = false;
    this.#bootstrap?.stop();
    this.hello = hello;
    this.#memoryReadable = this.collectionPoll()() !== undefined;
    this.#resolveGreeting(hello);
  }

  #endDescendants(): void {
    if (this.#process.pid !== undefined) endDescendants(this.#process.pid, this.#mark);
  }

  #endReason(code: number | null, signal: NodeJS.Signals | null): string {
    if (this.#killReason !== undefined) return this.#killReason;
    const { fatal } = this.#raw;
    // After a fatal error, SBCL exits with code 1 or by SIGABRT. If it ended in another way, the text is not from SBCL,
    // or this error did not end SBCL.
    if (fatal !== undefined && (code === 1 || signal === 'SIGABRT')) {
      return /^heap exhausted/i.test(fatal) ? 'its heap was exhausted' : `its runtime gave up: ${fatal}`;
    }
    if (this.#bootstrap === undefined)
      return signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`;
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    const lastOutput = this.lastLines.join(' / ');
    return `its command ${how}${lastOutput === '' ? '' : `; its last output was: ${lastOutput}`}`;
  }

  /** Treats the process of the image as ended, because its program has called (live-lisp:stop). The process runs on
   * without a backend. When the server ends, Linux kills it (see END_WITH_SERVER in backend.ts). */
  #letGo(): void {
    this.#killReason = LET_GO;
    this.#endedBy = 'user code';
    for (const name of this.#rawStreams) this.#process[name]?.removeAllListeners('data').resume();
    this.#disconnect(LET_GO);
    this.#resolveEnded(LET_GO);
  }

  #disconnect(how: string): void {
    this.unanswered = this.#channel.running;
    this.#channel.close(how);
    this.#startedRequests?.close();
    this.#bootstrap?.stop();
  }

  #end(how: string): string {
    this.#disconnect(how);
    // A descendant that was not found could keep the other ends of these streams open for ever.
    for (const stream of this.#process.stdio) stream?.destroy();
    return how;
  }
}

/** Returns the signal that the exit code CODE stands for, which is 128 plus the signal's number; undefined when there
 * is none. */
function signalIn(code: number | null): NodeJS.Signals | undefined {
  const names = Object.keys(constants.signals) as NodeJS.Signals[];
  return names.find((name) => code === 128 + constants.signals[name]);
}
