// Runs the server's own SBCL: starts it when it is needed, watches it, and replaces it when it has ended.
//
// The methods of a start call each other as follows:
// #start calls #startProven, and then lets the callback `prepare` make the process ready for calls.
// #startProven calls #startWatched and, if the start policy doubts that the process works, #works, a test.
// #startWatched calls #spawnAgent or, if no process starts, #spawnPlain. Then #startWatched starts the heartbeat.
// #spawnAgent calls #spawn with the saved core, else with the compiled agent, else with the agent's sources.
// #spawnPlain calls #spawnAgent for an agent that uses no internals of SBCL (see start-policy.ts).
// For an image that a command starts, #startWatched calls #spawnElsewhere.

import type { ChildProcess } from 'node:child_process';
import { messageOf, SetupError } from '../../errors.ts';
import { checkAnswering } from '../../files/answering.ts';
import { fairTimeout } from '../wire/fairly.ts';
import type { Hello } from '../wire/messages.ts';
import type { Peer } from '../wire/peer.ts';
import type { Outside } from '../wire/pulse.ts';
import { Pulse } from '../wire/pulse.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';
import { type AgentOptions, agentCommand, cacheUsable, compilingCommand, isCompiled } from './agent.ts';
import { Child } from './child.ts';
import { type CommandSandbox, type ProcessCommand, runCommand } from './command.ts';
import { frozenAfter, startHeartbeat } from './heart.ts';
import { commandOf, farPaths, type ImageCommand, imagePlan, notStartedText } from './image-command.ts';
import { KeptCore } from './kept-core.ts';
import { processState } from './process-state.ts';
import { askSbcl, findSbcl } from './sbcl.ts';
import { whyUnsupported } from './sbcl-versions.ts';
import { spaceRemedy } from './space.ts';
import { StartPolicy } from './start-policy.ts';

/** The advice when a start failed for an unknown reason. */
export const RUN_DOCTOR = 'Run live-lisp doctor to find the step that fails.';

export interface LifetimeOptions extends AgentOptions {
  /** The path of the sbcl to start; undefined for the first one on PATH. */
  sbcl: string | undefined;
  /** The command that starts an SBCL elsewhere; undefined for an SBCL on this machine. */
  command?: ImageCommand | undefined;
  sandbox?: CommandSandbox | undefined;
}

/** Functions that are called for the events in the life of an image. */
export interface LifetimeCallbacks {
  /** Returns the handlers for requests of code in `child`, which is being started. */
  upcalls(child: Child): Upcalls;
  /** Makes `child`, which has sent its greeting, ready for calls. Resolves to true when a rebuild made it unusable, so
   * that it must be replaced. */
  prepare(child: Child): Promise<boolean>;
  /** Called when the image was lost. `how` is the reason, as part of a sentence. */
  lost(how: string): void;
}

/** The error that the command which should start an image connects to one that somebody else runs. */
export class DialledError extends SetupError {}

/** The error that a process ended before its greeting. */
class FailedStart extends SetupError {}

/** Throws ERROR again unless it is a FailedStart. Another way to start only makes sense after a FailedStart, which can
 * be the fault of the core or the fasl. */
function rethrowUnlessFailedStart(error: unknown): undefined {
  if (!(error instanceof FailedStart)) throw error;
}

export class Lifetime {
  readonly #options: LifetimeOptions;
  readonly #callbacks: LifetimeCallbacks;
  readonly #times: Times;
  readonly #core: KeptCore;
  readonly #startPolicy: StartPolicy;
  #failedTrial: Child | undefined;
  #ready: Promise<Child> | undefined;
  child: Child | undefined;
  #prepared: Child | undefined;
  #pulse: Pulse | undefined;
  failure: string | undefined;
  #compiler: ChildProcess | undefined;
  /** Starts to make a core, unless the image itself was started from one. */
  #makeCore: () => void = () => {};
  #closed = false;

  constructor(options: LifetimeOptions, callbacks: LifetimeCallbacks, times: Times = TIMES) {
    this.#options = options;
    this.#times = times;
    this.#callbacks = callbacks;
    this.#core = new KeptCore(options, options.sandbox, times.core);
    this.#startPolicy = new StartPolicy(options.without);
  }

  /** True when there is a process, or when one is being started. */
  get running(): boolean {
    return this.#ready !== undefined;
  }

  /** The Pulse by which the process is asked for its status. Undefined before the greeting, and when the process has
   * ended. */
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

  /** The reasons, the ends of earlier images, why this image is plain: its agent uses no internals of SBCL. Empty for
   * an image that is not plain. */
  get plainBecause(): readonly string[] {
    return this.#startPolicy.reasons;
  }

  answered(): void {
    this.#startPolicy.noteAnswered();
  }

  /** An image is replaced when calls wait and it has not reacted for this number of milliseconds. */
  get frozenMs(): number {
    if (this.#options.command !== undefined) return this.#times.frozenElsewhere;
    return frozenAfter(this.#options.heapMb, this.#times);
  }

  /** True when a command starts the image, perhaps on another machine; else undefined. */
  get elsewhere(): true | undefined {
    return this.#options.command && true;
  }

  get compiling(): boolean {
    return this.#compiler !== undefined || this.child?.compiling === true;
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

  /** Returns a function that returns for how many milliseconds, since its first call, the system has not given the
   * process a CPU that it needed. */
  denied(): () => number {
    return this.child?.cpuDenialMeter() ?? (() => 0);
  }

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

  /** Resolves when no process is being started. */
  async settled(): Promise<void> {
    await this.#ready?.catch(() => {});
  }

  /** Ends the process. No process can be started after this. */
  close(): void {
    this.#closed = true;
    this.#compiler?.kill();
    this.#core.close();
    this.child?.kill('the server ended');
  }

  async #start(): Promise<Child> {
    for (;;) {
      const child = await this.#startProven();
      const mustReplace = await this.#callbacks.prepare(child);
      if (mustReplace && !this.#closed) {
        child.kill('something that was built again broke it');
        await child.ended;
        continue;
      }
      this.#prepared = child;
      this.failure = undefined;
      if (child.dead) this.#ready = undefined;
      // The status is requested now, so that a report has one if the image hangs later.
      else void this.#pulse?.status(0);
      this.#makeCore();
      return child;
    }
  }

  /** Starts a process and watches it. If the start policy doubts that the process works, tests it. If it fails the
   * test, starts another one. */
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
    const { root, cacheFolder, command } = this.#options;
    await checkAnswering([root, cacheFolder]);
    const child = await (command === undefined ? this.#spawnHere() : this.#spawnElsewhere(command));
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
        kill: () => child.kill('it was frozen: it did not react any more'),
      },
      this.frozenMs,
      this.#times.beat,
      this.#options.command && this.#times.idle,
    );
    void child.ended.then((how) => {
      stopListening();
      this.#lost(child, how);
    });
    return child;
  }

  async #spawnHere(): Promise<Child> {
    const sbcl = findSbcl(this.#options.sbcl);
    return this.#spawnAgent(sbcl).catch((error: unknown) => this.#spawnPlain(sbcl, error));
  }

  /** Starts the command of IMAGE, and makes its SBCL an image. Throws a DialledError when the command leads to an image
   * of somebody else. */
  async #spawnElsewhere(image: ImageCommand): Promise<Child> {
    if (this.#closed) throw new SetupError('The server is ending.');
    const options = { ...this.#options, without: this.#startPolicy.without };
    const child = new Child(
      commandOf(image),
      this.#options.root,
      (self) => this.#callbacks.upcalls(self),
      this.#times,
      (then) => imagePlan(options, image, this.#times.silence, then),
      farPaths(image),
    );
    this.child = child;
    this.#pulse = undefined;
    try {
      await child.greeting;
      return child;
    } catch (error) {
      if (this.#closed) throw new SetupError('The server is ending.');
      if (child.dialled !== undefined) throw new DialledError(messageOf(error));
      child.takeRaw(); // The error's message has its last lines.
      throw new SetupError(notStartedText(image, child));
    }
  }

  /** Starts a plain process, whose agent uses no internals of SBCL, if ERROR is a fault of the process that failed.
   * Otherwise throws ERROR again. */
  async #spawnPlain(sbcl: string, error: unknown): Promise<Child> {
    const { heapMb } = this.#options;
    rethrowUnlessFailedStart(error);
    const byItself = this.child?.endedByItself === true && spaceRemedy(heapMb) === undefined;
    if (!byItself || !this.#startPolicy.noteFailedStart(firstLine(error))) throw error;
    return this.#spawnAgent(sbcl).catch((plainError: unknown) => {
      this.#startPolicy.notePlainFailed();
      throw plainError;
    });
  }

  /** Starts a process from the saved core. If there is no core, or if this fails, starts a process with the compiled
   * agent. */
  async #spawnAgent(sbcl: string): Promise<Child> {
    const cached = cacheUsable(this.#options.cacheFolder);
    const isFull = this.#startPolicy.without.length === 0;
    const command = cached && isFull ? this.#core.command(sbcl) : undefined;
    const fromCore = command && (await this.#spawn(command).catch(rethrowUnlessFailedStart));
    const child = fromCore ?? (await this.#spawnWithoutCore(sbcl, cached));
    const coreMissing = cached && isFull && fromCore === undefined;
    this.#makeCore = () => coreMissing && void this.#core.make(sbcl, command !== undefined);
    return child;
  }

  /** Starts a process with the compiled agent. If CACHED is false, compiled files cannot be stored, so the agent is
   * loaded from its sources. */
  async #spawnWithoutCore(sbcl: string, cached: boolean): Promise<Child> {
    const { sandbox } = this.#options;
    const options = { ...this.#options, without: this.#startPolicy.without };
    const spawn = (compiled: boolean) => this.#spawn(agentCommand(sbcl, options, compiled));
    if (!cached) await this.#checkSupported(sbcl);
    // A fasl in the cache can be damaged, or be for another version of SBCL. If the process ends because of this, the
    // agent is compiled and another process is started.
    const fasls = [async () => isCompiled(options), () => this.#compileAgent(sbcl, options)];
    let failure: unknown;
    for (const prepareFasl of cached ? fasls : []) {
      failure = undefined;
      if (!(await prepareFasl())) continue;
      try {
        return await spawn(true);
      } catch (error) {
        rethrowUnlessFailedStart(error);
        await sandbox?.check();
        failure = error;
      }
    }
    // The agent was compiled from its sources a moment ago, so a start from the sources would fail too.
    if (failure !== undefined) throw failure;
    return spawn(false).catch(async (error: unknown) => {
      rethrowUnlessFailedStart(error);
      await sandbox?.check();
      throw error;
    });
  }

  /** Throws a SetupError when live-lisp does not support this SBCL. Does nothing when SBCL does not report its version,
   * because the start will then fail and report the reason. */
  async #checkSupported(sbcl: string): Promise<void> {
    const facts = await askSbcl(sbcl, this.#options.sandbox).catch(() => undefined);
    const why = facts && whyUnsupported(facts);
    if (why !== undefined) throw new SetupError(why);
  }

  /** Compiles the agent into the cache. Resolves with true when this succeeded. A separate process does this, because
   * it takes 200 MB. Throws a SetupError when live-lisp does not support this SBCL. */
  async #compileAgent(sbcl: string, options: AgentOptions): Promise<boolean> {
    await this.#checkSupported(sbcl);
    const command = compilingCommand(sbcl, options);
    const locked = (await this.#options.sandbox?.lockInCompiler(command)) ?? command;
    const { process, code } = runCommand(locked, this.#times.start);
    this.#compiler = process;
    if (this.#closed) process.kill();
    const succeeds = (await code) === 0;
    this.#compiler = undefined;
    await checkAnswering([options.cacheFolder]);
    return succeeds && isCompiled(options);
  }

  /** Starts a process by COMMAND and waits for its greeting. If a person or the system ends the process before this,
   * its core or fasl is not at fault, so the start is repeated once. FIRST is false for the repetition. */
  async #spawn(command: ProcessCommand, first = true): Promise<Child> {
    if (this.#closed) throw new SetupError('The server is ending.');
    const { root, sandbox, fasls } = this.#options;
    const upcalls = (self: Child) => this.#callbacks.upcalls(self);
    const locked = (await sandbox?.lockIn(command, fasls, root)) ?? command;
    if (this.#closed) throw new SetupError('The server is ending.');
    const child = new Child(locked, root, upcalls, this.#times);
    this.child = child;
    this.#pulse = undefined;
    try {
      await this.#greeting(child);
      return child;
    } catch (error) {
      if (first && child.endedFromOutside) return this.#spawn(command, false);
      child.takeRaw(); // The error's message already contains the output.
      const remedy = spaceRemedy(this.#options.heapMb) ?? RUN_DOCTOR;
      throw new FailedStart(`The Lisp image did not start: ${messageOf(error)}. ${remedy}`);
    }
  }

  /** Waits for the greeting of CHILD. If it does not come in time, kills CHILD. */
  async #greeting(child: Child): Promise<void> {
    let denied: (() => number) | undefined;
    const deniedMs = () => {
      denied ??= child.cpuDenialMeter();
      return denied();
    };
    const stop = fairTimeout(this.#times.start, deniedMs, () => child.kill('it did not greet in time'));
    const waking = setInterval(() => child.wake(), this.#times.wake);
    await child.greeting.finally(() => {
      stop();
      clearInterval(waking);
    });
  }

  #lost(child: Child, how: string): void {
    if (this.child !== child || this.#closed) return;
    if (child.endedByItself && child !== this.#failedTrial)
      this.#startPolicy.noteEnded(how, child.unanswered);
    // If the process was not ready yet, #start handles its end.
    if (child === this.#prepared) this.#ready = undefined;
    this.#callbacks.lost(how);
  }
}

/** Returns the first line of ERROR's message. If ERROR is a FailedStart, the result is only the reason for the end of
 * the process. */
function firstLine(error: unknown): string {
  return messageOf(error)
    .replace(/\n.*/s, '')
    .replace(/^The Lisp image did not start: /, '');
}
