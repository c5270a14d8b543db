// Runs the server's own SBCL: starts it on demand, watches it, and replaces it when it has ended. The stages of a process
// are in Stage. Another one is started by `ready`, that is, when somebody needs the image. Only a process that turns out
// to be useless before it is ready is replaced at once (see #start).

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

/** The stages of a process, in their order. It can end in each of them.
 * - starting: until its greeting
 * - trial: the start policy doubts that it works, so it is tested (most processes skip this)
 * - start files: it loads the user's files
 * - rebuild: the content of a lost image is built in it again
 * - ready: it takes calls */
export type Stage = 'starting' | 'trial' | 'start files' | 'rebuild' | 'ready';

/** Functions that are called for the events in the life of an image. */
export interface LifetimeCallbacks {
  /** Returns the handlers for requests of code in `child`, which is being started. */
  upcalls(child: Child): Upcalls;
  /** Performs the stage 'start files' in `child`, which may end in it. */
  loadStartFiles(child: Child): Promise<void>;
  /** Performs the stage 'rebuild' in `child`, which may have ended. Resolves with 'replace' when the rebuild made it
   * unusable, so that another process must be started. */
  rebuild(child: Child): Promise<'keep' | 'replace'>;
  /** Called when a process was lost after its greeting. `how` is the reason, as part of a sentence. */
  lost(how: string): void;
}

export class Lifetime {
  readonly #options: StartOptions;
  readonly #callbacks: LifetimeCallbacks;
  readonly #times: Times;
  readonly #startPolicy: StartPolicy;
  readonly #starter: Starter;
  /** The process that is in use or, while it is being started, will be; undefined when there is none. */
  #ready: Promise<Child> | undefined;
  /** The stages of the processes that have sent their greeting. A process that has ended keeps its last one. */
  readonly #stages = new WeakMap<Peer, Stage>();
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

  /** Returns the stage of the process of PEER. If the process has ended, it is the stage in which this happened. */
  stageOf(peer: Peer): Stage {
    return this.#stages.get(peer) ?? 'starting';
  }

  /** True when the last process is ready for calls and has not ended. */
  get prepared(): boolean {
    return this.child !== undefined && this.stageOf(this.child) === 'ready' && !this.child.dead;
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
    return this.prepared && !child?.dying && !this.#closed ? child : undefined;
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

  /** Starts a process and takes it through its stages. If it fails its trial, or the rebuild makes it unusable, goes on
   * with another process. Resolves with a process that has passed all stages; the start files may have ended it. Throws
   * when none can be started, or when the stage 'start files' or 'rebuild' fails with an error of the server. */
  async #start(): Promise<Child> {
    for (;;) {
      const child = await this.#startWatched();
      // The next process is plain, and the policy does not doubt a plain process.
      if (this.#startPolicy.doubtful && !(await this.#passesTrial(child))) continue;
      if ((await this.#prepare(child)) === 'replace' && !this.#closed) {
        await this.kill(child, 'something that was rebuilt broke it');
        continue;
      }
      this.#stages.set(child, 'ready');
      this.failure = undefined;
      if (child.dead)
        this.#ready = undefined; // #lost has not done this, because CHILD was not ready when it ended.
      // The status is requested now, so that a report has one if the image hangs later.
      else void this.#pulse?.status(0);
      this.#starter.makeCore();
      return child;
    }
  }

  /** Performs the stages 'start files' and 'rebuild' in CHILD. If this throws, ends CHILD first, since nobody else would:
   * `ready` starts another process the next time. */
  async #prepare(child: Child): Promise<'keep' | 'replace'> {
    try {
      this.#stages.set(child, 'start files');
      await this.#callbacks.loadStartFiles(child);
      this.#stages.set(child, 'rebuild');
      return await this.#callbacks.rebuild(child);
    } catch (error) {
      await this.kill(child, 'it could not be prepared for calls');
      throw error;
    }
  }

  /** Performs the stage 'trial' in CHILD. No user code has run in CHILD yet. If CHILD does not work, ends it and returns
   * false. */
  async #passesTrial(child: Child): Promise<boolean> {
    this.#stages.set(child, 'trial');
    const { answer } = child.request('probe', { exercise: true });
    const stop = fairTimeout(this.#times.start, child.cpuDenialMeter(), () => child.kill('it did not react'));
    const { ending, data } = await answer;
    stop();
    if (ending.kind === 'done' && data.works === true) return true;
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
    const stage = this.stageOf(child);
    // #passesTrial reports a failed trial to the policy itself.
    if (child.endedByItself && stage !== 'trial') this.#startPolicy.noteEnded(how, child.unanswered);
    // In an earlier stage, #start handles the end of the process.
    if (stage === 'ready') this.#ready = undefined;
    this.#callbacks.lost(how);
  }
}
