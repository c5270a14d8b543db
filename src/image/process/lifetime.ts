// Runs the server's own SBCL: starts it on demand, watches it, and replaces it when it has ended.

import { messageOf, SetupError } from '../../errors.ts';
import { fairTimeout } from '../wire/fairly.ts';
import type { Hello } from '../wire/messages.ts';
import type { Peer } from '../wire/peer.ts';
import { type Outside, Pulse } from '../wire/pulse.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';
import type { Child } from './child.ts';
import { frozenAfter, startHeartbeat } from './heart.ts';
import { processState } from './process-state.ts';
import { StartPolicy } from './start-policy.ts';
import { Starter, type StartOptions } from './starter.ts';

/** Functions that are called for the events in the life of an image. */
export interface LifetimeCallbacks {
  /** Returns the handlers for requests of code in `child`, which is being started. */
  upcalls(child: Child): Upcalls;
  /** Makes `child`, which has sent its greeting, ready for calls. Resolves with true when a rebuild made it unusable,
   * so that it must be replaced. */
  prepare(child: Child): Promise<boolean>;
  /** Called when the image was lost. `how` is the reason, as part of a sentence. */
  lost(how: string): void;
}

export class Lifetime {
  readonly #options: StartOptions;
  readonly #callbacks: LifetimeCallbacks;
  readonly #times: Times;
  readonly #startPolicy: StartPolicy;
  readonly #starter: Starter;
  /** The process that is being started or is in use; undefined when there is none. */
  #ready: Promise<Child> | undefined;
  /** The latest process that was made ready for calls. */
  #prepared: Child | undefined;
  /** The latest process that failed its test (see #works). */
  #failedTrial: Child | undefined;
  #pulse: Pulse | undefined;
  /** The reason why the last start failed; undefined when it succeeded, and before the first start. */
  failure: string | undefined;
  #closed = false;

  constructor(options: StartOptions, callbacks: LifetimeCallbacks, times: Times = TIMES) {
    this.#options = options;
    this.#times = times;
    this.#callbacks = callbacks;
    this.#startPolicy = new StartPolicy(options.without);
    const upcalls = (child: Child) => callbacks.upcalls(child);
    this.#starter = new Starter(options, upcalls, this.#startPolicy, times);
  }

  /** The latest process, which may not have greeted yet or have ended. */
  get child(): Child | undefined {
    return this.#starter.child;
  }

  /** True when there is a process, or when one is being started. */
  get running(): boolean {
    return this.#ready !== undefined;
  }

  /** The object that requests the status from the backend in the process. Undefined before the greeting, and when the
   * process has ended. */
  get pulse(): Pulse | undefined {
    return this.child?.dead ? undefined : this.#pulse;
  }

  get hello(): Hello | undefined {
    return this.child?.hello;
  }

  /** The warning of SBCL that its memory may be corrupted; undefined when it has given none. */
  get corrupted(): string | undefined {
    return this.child?.corrupted;
  }

  /** Reports of how earlier images ended. Because of these ends, the backend of this image is plain: it uses no
   * internals of SBCL. Empty when the backend of this image is not plain. */
  get plainBecause(): readonly string[] {
    return this.#startPolicy.reasons;
  }

  /** Records that the image has answered a call. */
  answered(): void {
    this.#startPolicy.noteAnswered();
  }

  /** Number of milliseconds without a reaction, while calls wait, after which an image is replaced. */
  get frozenMs(): number {
    if (this.#options.command !== undefined) return this.#times.frozenElsewhere;
    return frozenAfter(this.#options.heapMb, this.#times);
  }

  /** True when a command starts the image, perhaps on another machine; else undefined. */
  get elsewhere(): true | undefined {
    return this.#options.command && true;
  }

  get compiling(): boolean {
    return this.#starter.compiling;
  }

  isPrepared(peer: Peer): boolean {
    return peer === this.#prepared;
  }

  /** True when the last process is ready for calls and has not ended. */
  get prepared(): boolean {
    return this.child !== undefined && this.child === this.#prepared && !this.child.dead;
  }

  /** The data that the operating system has about the running process; undefined when none runs. */
  get outside(): Outside | undefined {
    const child = this.child;
    if (!this.running || child?.pid === undefined || child.dead) return undefined;
    return { pid: child.pid, uptimeMs: performance.now() - child.startedAt, ...processState(child.pid) };
  }

  /** Returns a meter, a function. A call of the meter returns the number of milliseconds for which the process has
   * waited for a CPU since the first such call (see starving.ts). */
  denied(): () => number {
    return this.child?.cpuDenialMeter() ?? (() => 0);
  }

  /** The process, if calls can be sent to it now; else undefined. Unlike `prepared`, this excludes a process that has
   * ended and whose last output still arrives, and a lifetime that is closed. */
  get current(): Child | undefined {
    const child = this.child;
    const ready = child !== undefined && child === this.#prepared && !child.dying && !child.dead;
    return ready && !this.#closed ? child : undefined;
  }

  /** Returns a process that is ready for calls. If there is none, starts one. Throws a SetupError when none can be
   * started. */
  async ready(): Promise<Child> {
    if (this.#closed) throw new SetupError('The server is ending.');
    this.#ready ??= this.#start().catch((error: unknown) => {
      this.#ready = undefined;
      this.failure = messageOf(error);
      throw error;
    });
    const child = await this.#ready;
    // The server can have begun to end in the meantime, and have killed the process after its greeting.
    if (this.#closed) throw new SetupError('The server is ending.');
    if (!child.dying) return child;
    await child.ended;
    return this.ready();
  }

  /** Kills CHILD for the reason HOW. Resolves when its loss was reported by `lost`, so that `ready` starts another
   * process. */
  async kill(child: Child, how: string): Promise<void> {
    child.kill(how);
    // #startWatched has registered its handler of this promise first, so #lost runs before this method goes on.
    await child.ended;
  }

  /** Resolves when no process is being started. */
  async settled(): Promise<void> {
    await this.#ready?.catch(() => {});
  }

  /** Ends the process. No process can be started after this. */
  close(): void {
    this.#closed = true;
    this.#starter.close();
  }

  async #start(): Promise<Child> {
    for (;;) {
      const child = await this.#startProven();
      const mustReplace = await this.#callbacks.prepare(child);
      if (mustReplace && !this.#closed) {
        await this.kill(child, 'something that was built again broke it');
        continue;
      }
      this.#prepared = child;
      this.failure = undefined;
      if (child.dead)
        this.#ready = undefined; // #lost has not done this, because CHILD was not prepared yet.
      // The status is requested now, so that a report has one if the image hangs later.
      else void this.#pulse?.status(0);
      this.#starter.makeCore();
      return child;
    }
  }

  /** Starts a process and watches it. If the start policy doubts that the process works, tests it. If it fails the
   * test, starts another one. That one is plain, and the policy does not doubt a plain process. */
  async #startProven(): Promise<Child> {
    const child = await this.#startWatched();
    if (!this.#startPolicy.doubtful || (await this.#works(child))) return child;
    return this.#startProven();
  }

  /** Tests whether CHILD works. No user code has run in it yet. If it does not work, ends CHILD and returns false. */
  async #works(child: Child): Promise<boolean> {
    const { answer } = child.request('probe', { exercise: true });
    const stop = fairTimeout(this.#times.start, child.cpuDenialMeter(), () => child.kill('it did not react'));
    const { ending, data } = await answer;
    stop();
    if (ending.kind === 'done' && data.works === true) return true;
    this.#failedTrial = child;
    child.kill('it could not evaluate a form');
    this.#startPolicy.noteFailedTrial(await child.ended);
    return false;
  }

  async #startWatched(): Promise<Child> {
    this.#pulse = undefined;
    const child = await this.#starter.start();
    this.#startPolicy.noteStarted();
    const pulse = new Pulse(child);
    this.#pulse = pulse;
    const collecting = child.collectionPoll();
    const stopListening = startHeartbeat(
      {
        busy: () => child.busy,
        ping: () => pulse.ping(),
        collecting: () => {
          child.wake(); // A signal can have stopped the process since the ping, which also wakes it.
          return collecting();
        },
        deniedMs: child.cpuDenialMeter(),
        kill: () => child.kill('it was frozen: it no longer responded'),
      },
      this.frozenMs,
      this.#times.beat,
      this.#options.command && this.#times.idle, // Keeps the connection to another machine open.
    );
    void child.ended.then((how) => {
      stopListening();
      this.#lost(child, how);
    });
    return child;
  }

  #lost(child: Child, how: string): void {
    if (this.child !== child || this.#closed) return;
    // #works reports a failed trial to the policy itself.
    if (child.endedByItself && child !== this.#failedTrial)
      this.#startPolicy.noteEnded(how, child.unanswered);
    // If the process was not prepared yet, #start handles its end.
    if (child === this.#prepared) this.#ready = undefined;
    this.#callbacks.lost(how);
  }
}
