// Decides the life of our own SBCL: started when it is needed, watched, replaced when it died.

import { messageOf, SetupError } from '../../errors.ts';
import type { Outside } from '../wire/data.ts';
import type { Peer } from '../wire/peer.ts';
import { Pulse } from '../wire/pulse.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';
import { type AgentOptions, agentCommand, cacheUsable, compilingCommand } from './agent.ts';
import { Child } from './child.ts';
import type { Cell } from './command.ts';
import { frozenAfter, listenToHeart } from './heart.ts';
import { seenFromOutside } from './outside.ts';
import { findSbcl } from './sbcl.ts';

export interface LifetimeOptions extends AgentOptions {
  /** The sbcl to start; the one on PATH when absent. */
  sbcl: string | undefined;
  /** Where the process is locked in, if it is. */
  sandbox?: Cell | undefined;
}

/** What whoever uses the image does at the turns of its life. */
export interface Turns {
  /** Returns what CHILD, which is being started, can ask of the server. */
  upcalls(child: Child): Upcalls;
  /** Makes CHILD, which has greeted, ready for calls. Returns whether another is to be started, because that ended
   *  it. */
  prepare(child: Child): Promise<boolean>;
  /** The image was lost; HOW is part of a sentence. */
  lost(how: string): void;
}

export class Lifetime {
  readonly #options: LifetimeOptions;
  readonly #turns: Turns;
  readonly #times: Times;
  #ready: Promise<Child> | undefined;
  #child: Child | undefined;
  #prepared: Child | undefined;
  #pulse: Pulse | undefined;
  #failure: string | undefined;
  #closed = false;

  constructor(options: LifetimeOptions, turns: Turns, times: Times = TIMES) {
    this.#options = options;
    this.#times = times;
    this.#turns = turns;
  }

  /** Whether there is a process, or one is being started. */
  get running(): boolean {
    return this.#ready !== undefined;
  }

  /** The process that was started last, if any; it can have ended. */
  get child(): Child | undefined {
    return this.#child;
  }

  /** What asks the process how it is; undefined before it has greeted. */
  get pulse(): Pulse | undefined {
    return this.#pulse;
  }

  /** Why the last start failed, when it did. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Milliseconds after which an image that does not react is replaced while calls wait. */
  get frozenMs(): number {
    return frozenAfter(this.#options.heapMb, this.#times);
  }

  /** Whether PEER has been made ready for calls. */
  isPrepared(peer: Peer): boolean {
    return peer === this.#prepared;
  }

  /** Whether the process that was started last is ready for calls, or has been. */
  get prepared(): boolean {
    return this.#child !== undefined && this.#child === this.#prepared;
  }

  /** What the system tells of the process that runs; undefined when none does. */
  get outside(): Outside | undefined {
    const pid = this.running ? this.#child?.pid : undefined;
    if (pid === undefined || this.#child === undefined) return undefined;
    return { pid, uptimeMs: performance.now() - this.#child.startedAt, ...seenFromOutside(pid) };
  }

  /** Returns a process that is ready for calls, starting one when there is none. */
  async ready(): Promise<Child> {
    if (this.#closed) throw new SetupError('The server is ending.');
    this.#ready ??= this.#start().catch((error: unknown) => {
      this.#ready = undefined;
      this.#failure = messageOf(error);
      throw error;
    });
    const child = await this.#ready;
    if (!child.dying) return child;
    await child.ended;
    return this.ready();
  }

  /** Resolves when no process is being started any more. */
  async settled(): Promise<void> {
    await this.#ready?.catch(() => {});
  }

  /** Ends the process, for good. */
  close(): void {
    this.#closed = true;
    this.#child?.kill('the server ended');
  }

  async #start(): Promise<Child> {
    for (;;) {
      const child = await this.#begin();
      const again = await this.#turns.prepare(child);
      if (again && !this.#closed) {
        child.kill('what was built again broke it');
        await child.ended;
        continue;
      }
      this.#prepared = child;
      this.#failure = undefined;
      if (child.dead) this.#ready = undefined;
      // So that something is known of it when it stands still later.
      else void this.#pulse?.status(0);
      return child;
    }
  }

  /** Starts a process that is watched from now on. */
  async #begin(): Promise<Child> {
    const sbcl = findSbcl(this.#options.sbcl);
    const cached = cacheUsable(this.#options.cacheFolder);
    const { sandbox } = this.#options;
    const compiling = sandbox && cached ? compilingCommand(sbcl, this.#options) : undefined;
    if (compiling !== undefined) await sandbox?.compileAgent(compiling);
    // A cached fasl that does not load ends the process, so the second try is from source.
    const child = await this.#spawn(sbcl, cached).catch(async (error: unknown) => {
      await sandbox?.check();
      if (!cached) throw error;
      return this.#spawn(sbcl, false);
    });
    const pulse = new Pulse(child);
    this.#pulse = pulse;
    const collecting = child.collector();
    const stopListening = listenToHeart(
      {
        busy: () => child.busy,
        ping: () => pulse.ping(),
        collecting: () => {
          child.wake(); // A signal can have stopped it after it was asked.
          return collecting();
        },
        kill: () => child.kill('it was frozen: it did not react any more'),
      },
      this.frozenMs,
      this.#times.beat,
    );
    void child.ended.then((how) => {
      stopListening();
      this.#lost(child, how);
    });
    return child;
  }

  async #spawn(sbcl: string, cached: boolean): Promise<Child> {
    const { root, sandbox } = this.#options;
    const command = agentCommand(sbcl, this.#options, cached);
    const upcalls = (self: Child) => this.#turns.upcalls(self);
    const child = new Child(sandbox?.lockIn(command) ?? command, root, upcalls, this.#times);
    this.#child = child;
    this.#pulse = undefined;
    const timer = setTimeout(() => child.kill('it did not greet in time'), this.#times.start);
    const waking = setInterval(() => child.wake(), this.#times.wake);
    try {
      await child.greeting;
      return child;
    } catch (error) {
      child.takeRaw(); // The error's message has it.
      throw new SetupError(
        `The Lisp image did not start: ${messageOf(error)}. Run live-lisp doctor to find the step that fails.`,
      );
    } finally {
      clearTimeout(timer);
      clearInterval(waking);
    }
  }

  #lost(child: Child, how: string): void {
    if (this.#child !== child || this.#closed) return;
    // One that was not ready yet is dealt with where it is made ready.
    if (child === this.#prepared) this.#ready = undefined;
    this.#turns.lost(how);
  }
}
