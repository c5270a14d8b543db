// Starts a process with an image: from the SBCL of this machine, or by a command that starts an SBCL elsewhere.

import type { ChildProcess } from 'node:child_process';
import { messageOf, SetupError } from '../../errors.ts';
import { checkAnswering } from '../../files/answering.ts';
import { fairTimeout } from '../wire/fairly.ts';
import type { Times } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';
import { type BackendOptions, backendCommand, cacheUsable, compilingCommand, isCompiled } from './backend.ts';
import { Child } from './child.ts';
import { type CommandSandbox, type ProcessCommand, runCommand } from './command.ts';
import { commandOf, farPaths, type ImageCommand, imagePlan, notStartedText } from './image-command.ts';
import { KeptCore } from './kept-core.ts';
import { askSbcl, findSbcl } from './sbcl.ts';
import { whyUnsupported } from './sbcl-versions.ts';
import { spaceRemedy } from './space.ts';
import type { StartPolicy } from './start-policy.ts';

/** The advice when a start failed for an unknown reason. */
export const RUN_DOCTOR = 'Run live-lisp doctor to find the step that fails.';

export interface StartOptions extends BackendOptions {
  /** The path of the sbcl to start; undefined for the first one on PATH. */
  sbcl: string | undefined;
  /** The command that starts an SBCL elsewhere; undefined for an SBCL on this machine. */
  command?: ImageCommand | undefined;
  sandbox?: CommandSandbox | undefined;
}

/** Thrown when the command that should start an image connects to an image that somebody else runs. */
export class DialledError extends SetupError {}

/** Thrown when a process ended before its greeting. The first line of HOW is the reason; further lines are the output
 * of the process. */
class FailedStart extends SetupError {
  readonly reason: string;

  constructor(how: string, remedy: string) {
    const [reason = '', ...output] = how.split('\n');
    const wrote = output.length === 0 ? ' ' : ` It wrote:\n${output.join('\n')}\n`;
    super(`The Lisp image did not start: ${reason}.${wrote}${remedy}`);
    this.reason = reason;
  }
}

/** Throws ERROR again unless it is a FailedStart. Only a FailedStart can be the fault of the core or the fasl, so that
 * another way to start may succeed. */
function rethrowUnlessFailedStart(error: unknown): undefined {
  if (!(error instanceof FailedStart)) throw error;
}

/** Starts the processes of one image, one after the other. */
export class Starter {
  readonly #options: StartOptions;
  readonly #upcalls: (child: Child) => Upcalls;
  readonly #policy: StartPolicy;
  readonly #times: Times;
  readonly #core: KeptCore;
  #child: Child | undefined;
  #compiler: ChildProcess | undefined;
  #makeCore: () => void = () => {};
  #closed = false;

  /** UPCALLS returns the handlers of requests that code in an image makes. POLICY decides which parts of the backend
   * are left out. */
  constructor(options: StartOptions, upcalls: (child: Child) => Upcalls, policy: StartPolicy, times: Times) {
    this.#options = options;
    this.#upcalls = upcalls;
    this.#policy = policy;
    this.#times = times;
    this.#core = new KeptCore(options, options.sandbox, times.core);
  }

  /** The latest process, which may not have greeted yet or have ended. */
  get child(): Child | undefined {
    return this.#child;
  }

  /** True while the backend is being compiled: by a process of its own here, or by an SBCL elsewhere. */
  get compiling(): boolean {
    return this.#compiler !== undefined || this.#child?.compiling === true;
  }

  /** Starts a process. Resolves with the process after the backend in it has sent its greeting. Throws a SetupError
   * when no process can be started. */
  async start(): Promise<Child> {
    const { root, cacheFolder, command } = this.#options;
    await checkAnswering([root, cacheFolder]);
    return command === undefined ? this.#startHere() : this.#startElsewhere(command);
  }

  /** Begins to save a core, unless the process was started from one. */
  makeCore(): void {
    this.#makeCore();
  }

  /** Ends the process. No process can be started after this. */
  close(): void {
    this.#closed = true;
    this.#compiler?.kill();
    this.#core.close();
    this.#child?.kill('the server ended');
  }

  /** Starts a process. If it ends by itself before its greeting, starts a plain one, whose backend uses no internals of
   * SBCL. */
  async #startHere(): Promise<Child> {
    const sbcl = findSbcl(this.#options.sbcl);
    return this.#startBackend(sbcl).catch((error: unknown) => {
      if (!(error instanceof FailedStart)) throw error;
      const isOwnFault =
        this.#child?.endedByItself === true && spaceRemedy(this.#options.heapMb) === undefined;
      if (!isOwnFault || !this.#policy.noteFailedStart(error.reason)) throw error;
      // Now `without` of the policy leaves out everything, so the same method starts a plain process.
      return this.#startBackend(sbcl).catch((plainError: unknown) => {
        this.#policy.notePlainFailed();
        throw plainError;
      });
    });
  }

  /** Starts a process from the saved core. If there is no core, or if this fails, starts a process with the compiled
   * backend. */
  async #startBackend(sbcl: string): Promise<Child> {
    const cached = cacheUsable(this.#options.cacheFolder);
    const usesCore = cached && this.#policy.without.length === 0;
    const command = usesCore ? this.#core.command(sbcl) : undefined;
    const fromCore = command && (await this.#spawn(command).catch(rethrowUnlessFailedStart));
    const hasCoreFailed = command !== undefined && fromCore === undefined;
    this.#makeCore = () => {
      if (usesCore && fromCore === undefined) void this.#core.make(sbcl, hasCoreFailed);
    };
    return fromCore ?? (cached ? this.#startCompiled(sbcl) : this.#startFromSource(sbcl));
  }

  /** Starts a process with the compiled backend. If the cache has no compiled backend, compiles it first. If no process
   * starts with the one in the cache, compiles it again, because the file may be damaged or be for another version of
   * SBCL. */
  async #startCompiled(sbcl: string): Promise<Child> {
    const options = this.#backendOptions;
    if (isCompiled(options)) {
      const command = backendCommand(sbcl, options, true);
      const child = await this.#spawnInSandbox(command).catch(rethrowUnlessFailedStart);
      if (child !== undefined) return child;
    }
    const isCompiledNow = await this.#compileBackend(sbcl, options);
    return this.#spawnInSandbox(backendCommand(sbcl, options, isCompiledNow));
  }

  /** Starts a process that loads the source of the backend, because the cache cannot hold compiled files. */
  async #startFromSource(sbcl: string): Promise<Child> {
    await this.#checkSupported(sbcl);
    return this.#spawnInSandbox(backendCommand(sbcl, this.#backendOptions, false));
  }

  get #backendOptions(): BackendOptions {
    return { ...this.#options, without: this.#policy.without };
  }

  /** Throws a SetupError when live-lisp does not support this SBCL. Does nothing when SBCL does not report its version,
   * because the start will then fail and report the reason. */
  async #checkSupported(sbcl: string): Promise<void> {
    const facts = await askSbcl(sbcl, this.#options.sandbox).catch(() => undefined);
    const why = facts && whyUnsupported(facts);
    if (why !== undefined) throw new SetupError(why);
  }

  /** Compiles the backend into the cache. Resolves with true when this succeeded. A separate process does this, because
   * it takes 200 MB. Throws a SetupError when live-lisp does not support this SBCL. */
  async #compileBackend(sbcl: string, options: BackendOptions): Promise<boolean> {
    await this.#checkSupported(sbcl);
    const command = compilingCommand(sbcl, options);
    const locked = (await this.#options.sandbox?.lockInCompiler(command)) ?? command;
    const { process, code } = runCommand(locked, this.#times.compile);
    this.#compiler = process;
    if (this.#closed) process.kill();
    const succeeds = (await code) === 0;
    this.#compiler = undefined;
    await checkAnswering([options.cacheFolder]);
    return succeeds && isCompiled(options);
  }

  /** Does the same as #spawn. If an obstacle in the sandbox can be the cause of a failure, throws the SetupError about
   * this obstacle. */
  #spawnInSandbox(command: ProcessCommand): Promise<Child> {
    return this.#spawn(command).catch(async (error: unknown) => {
      rethrowUnlessFailedStart(error);
      await this.#options.sandbox?.check();
      throw error;
    });
  }

  /** Starts a process by COMMAND and waits for its greeting. If a signal from outside ends it before the greeting,
   * starts it again once, because the fault is not in its core or fasl. */
  async #spawn(command: ProcessCommand, isRetry = false): Promise<Child> {
    this.#checkOpen();
    const { root, sandbox, fasls } = this.#options;
    const locked = (await sandbox?.lockIn(command, fasls, root)) ?? command;
    this.#checkOpen();
    const child = new Child({ command: locked, cwd: root, upcalls: this.#upcalls, times: this.#times });
    this.#child = child;
    try {
      await this.#greeting(child);
      return child;
    } catch (error) {
      if (!isRetry && child.endedFromOutside) return this.#spawn(command, true);
      child.takeRaw(); // The error's message already contains the output.
      throw new FailedStart(messageOf(error), spaceRemedy(this.#options.heapMb) ?? RUN_DOCTOR);
    }
  }

  /** Waits for the greeting of CHILD. If it does not come in time, kills CHILD. */
  async #greeting(child: Child): Promise<void> {
    const stop = fairTimeout(this.#times.start, child.cpuDenialMeter(), () =>
      child.kill(`it did not answer within ${this.#times.start / 1000} s`),
    );
    const waking = setInterval(() => child.wake(), this.#times.wake);
    await child.greeting.finally(() => {
      stop();
      clearInterval(waking);
    });
  }

  /** Starts the command of IMAGE, and makes its SBCL an image. Throws a DialledError when the command leads to an image
   * of somebody else. */
  async #startElsewhere(image: ImageCommand): Promise<Child> {
    this.#checkOpen();
    const child = new Child({
      command: commandOf(image),
      cwd: this.#options.root,
      upcalls: this.#upcalls,
      times: this.#times,
      elsewhere: {
        plan: (then) => imagePlan(this.#backendOptions, image, this.#times.silence, then),
        paths: farPaths(image),
      },
    });
    this.#child = child;
    try {
      // There is no time limit here: Bootstrap ends a command that has written nothing for too long.
      await child.greeting;
      return child;
    } catch (error) {
      this.#checkOpen();
      if (child.dialled !== undefined) throw new DialledError(messageOf(error));
      child.takeRaw(); // The error's message has its last lines.
      throw new SetupError(notStartedText(image, child));
    }
  }

  /** Throws a SetupError when the server ends. */
  #checkOpen(): void {
    if (this.#closed) throw new SetupError('The server is ending.');
  }
}
