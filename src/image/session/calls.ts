// Decides how an image serves calls: which wait, when they are interrupted, what is told with their answers.

import type { CallOptions, Reply } from '../wire/call.ts';
import type { EndSignal } from '../wire/end-signal.ts';
import { watch } from '../wire/ending-steps.ts';
import { endingAfter, type Reason } from '../wire/endings.ts';
import type { Answer } from '../wire/messages.ts';
import type { Operations } from '../wire/operations.ts';
import { COMPILATIONS, checkCanEnd, codeCaller, withinCompilation } from '../wire/origin.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import { type Job, Jobs } from './jobs.ts';
import type { CallNotice } from './notices.ts';
import { tellProgress } from './progress.ts';
import { enterUnlessAborted, Queue } from './queue.ts';

/** What the calls need of the image that they go to. */
export interface Host {
  /** Milliseconds that a call may take. */
  readonly limitMs: number;
  /** Returns the peer that is ready for calls, when there is one. */
  current(): Peer | undefined;
  /** Returns a peer that is ready for calls, once there is one. Throws a SetupError when none can be had. */
  ready(): Promise<Peer>;
  /** Returns how far the image is being built again, as a phrase, while it is. */
  building(): string | undefined;
  /** Returns whether the agent is being compiled, for which a start waits. */
  compiling(): boolean;
  /** Takes that a call from outside of the image is about to use PEER. */
  begins(peer: Peer): void;
  /** Returns what is to be told the answer of the operation NAME, which PEER is about to perform with ARGS, also when it is
   *  held or lost. */
  watch(
    peer: Peer,
    name: keyof Operations,
    args: object,
  ): Promise<(job: number, answer: Answer) => void> | undefined;
  /** Takes that a call from outside has ended in the image of PEER, which lives, with REPLY. */
  ended(peer: Peer, reply: Reply<keyof Operations>): void;
  /** Takes REPLY before who called does. */
  replies?(reply: Reply<keyof Operations>): Promise<void>;
  /** Keeps NOTICE for the next answer. */
  notify(notice: CallNotice): void;
}

/** Evaluations, and calls that only look, that run side by side. */
const PLACES = 8;
const LOOKING_PLACES = 32;

const RUNS_CODE: ReadonlySet<string> = new Set(
  'evaluate macroexpand load-file load-files load-source load-system run-tool debug-eval debug-fix debug-go test-plan test-run'.split(
    ' ',
  ),
);

export class Calls {
  readonly jobs = new Jobs();
  readonly #host: Host;
  readonly #times: Times;
  readonly #queue = new Queue(PLACES);
  readonly #lookers = new Queue(LOOKING_PLACES);
  /** What one compilation takes back must not be what another has just defined. */
  readonly #compilations = new Queue(1);

  constructor(host: Host, times: Times = TIMES) {
    this.#host = host;
    this.#times = times;
  }

  /** Performs the operation NAME with ARGS. Throws a SetupError when no image can be had, and a CallError when too many
   *  calls wait already. */
  async call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions = {},
  ): Promise<Reply<Name>> {
    checkCanEnd(name);
    const reply = await this.#within(name, args, options, (job) => this.#callAs(job, name, args, options));
    await this.#host.replies?.(reply);
    return reply;
  }

  /** Performs the operation NAME with ARGS at PEER, which is not ready for calls yet. */
  async prepare<Name extends keyof Operations>(
    peer: Peer,
    name: Name,
    args: Operations[Name]['args'],
  ): Promise<Reply<Name>> {
    return this.#within(name, args, {}, (job) => this.#perform(peer, job, name, args, {}));
  }

  async #within<Name extends keyof Operations>(
    name: Name,
    args: object,
    options: CallOptions,
    perform: (job: Job) => Promise<Reply<Name>>,
  ): Promise<Reply<Name>> {
    const job = this.jobs.begin(name, args);
    if (options.signal?.aborted) job.signal.abort(options.signal.reason);
    // Whatever can be done while the image works is done then.
    const performed = perform(job);
    const stopFollowing = options.signal && job.follow(options.signal);
    const stopTelling = options.onProgress && tellProgress(job, options.onProgress, this.#times.progress);
    let reply: Reply<Name> | undefined;
    try {
      reply = await performed;
      return reply;
    } finally {
      stopFollowing?.();
      stopTelling?.();
      this.jobs.end(job, reply ?? notBegun(job));
    }
  }

  async #callAs<Name extends keyof Operations>(
    job: Job,
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions,
  ): Promise<Reply<Name>> {
    const caller = codeCaller();
    const queue = this.#queueOf(name, caller !== undefined);
    if (job.signal.aborted || (queue !== undefined && !(await this.#enter(queue, job)))) return notBegun(job);
    try {
      // Not how long it took to get here: a busy server is no queue.
      const waited = job.phase.kind === 'queued' && queue !== this.#lookers;
      const waitedMs = waited ? job.milliseconds : undefined;
      const reply =
        caller === undefined
          ? await this.#fromOutside(job, name, args, options)
          : await this.#perform(caller, job, name, args, options);
      return waitedMs === undefined ? reply : { ...reply, waitedMs };
    } finally {
      queue?.leave();
    }
  }

  /** Performs a call that no code in the image makes. One of which nothing ran because of the image is sent again, once. */
  async #fromOutside<Name extends keyof Operations>(
    job: Job,
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions,
    again = false,
  ): Promise<Reply<Name>> {
    const peer = this.#host.current() ?? (await unlessAborted(this.#started(job), job.signal));
    if (peer === undefined || job.signal.aborted) return notBegun(job);
    this.#host.begins(peer);
    const reply = await this.#perform(peer, job, name, args, options);
    if (reply.ending.kind !== 'lost') this.#host.ended(peer, reply);
    return !again && isUntouched(reply) && !job.signal.aborted
      ? this.#fromOutside(job, name, args, options, true)
      : reply;
  }

  /** Takes a place in QUEUE for JOB, and returns whether it has one. */
  #enter(queue: Queue, job: Job): boolean | Promise<boolean> {
    if (queue.take()) return true;
    return enterUnlessAborted(queue, job.signal, (ahead) => {
      job.phase = { kind: 'queued', ahead };
    });
  }

  /** Resolves with a peer that is ready, for which JOB waits. */
  #started(job: Job): Promise<Peer> {
    job.phase = {
      kind: 'starting',
      compiling: () => this.#host.compiling(),
      building: () => this.#host.building(),
    };
    return this.#host.ready();
  }

  #queueOf(name: string, byCode: boolean): Queue | undefined {
    // A compilation takes no place: one that had the turn could wait for those who wait for the turn.
    if (COMPILATIONS.includes(name)) return withinCompilation() ? undefined : this.#compilations;
    // What code calls runs within a call that has a place, or for a thread, which is bounded elsewhere.
    if (byCode) return undefined;
    return RUNS_CODE.has(name) ? this.#queue : this.#lookers;
  }

  async #perform<Name extends keyof Operations>(
    peer: Peer,
    job: Job,
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions,
  ): Promise<Reply<Name>> {
    const began = performance.now();
    const { continues } = options;
    const own = await this.#host.watch(peer, name, args);
    const continued = continues && (await this.#host.watch(peer, continues.name, continues.args));
    const { id, answer } = peer.request(name, args);
    job.phase = { kind: 'running', peer, id };
    const stopWatching = this.#watch(peer, id, job, options.limitMs);
    const told = await answer;
    stopWatching();
    const afterMs = performance.now() - began;
    const ending = endingAfter(told.ending, afterMs);
    const { output, background, data } = told;
    if (background) this.#host.notify({ kind: 'background', output: background });
    if (options.signal?.aborted && codeCaller() === undefined)
      this.#host.notify({ kind: 'cancelled', ending, afterMs, output });
    const answered = continues === undefined || (continues.ifLeft && !('left' in data)) ? own : continued;
    answered?.(id, told);
    return { ending, ...(output && { output }), data };
  }

  #watch(peer: Peer, id: number, job: Job, limitMs: number | undefined): () => void {
    const limit =
      limitMs ?? (/^(?:load|check|test)-/.test(job.operation) ? this.#times.load : this.#host.limitMs);
    const endable = peer.job(id);
    const interrupt = (reason: Reason) => {
      job.stopping ??= { reason, at: performance.now() };
      endable.interrupt(reason);
    };
    return watch({ ...endable, interrupt }, limit, job.signal, this.#times);
  }
}

/** Returns whether nothing of a call that ended with REPLY ran, for reasons that it has no part in. */
function isUntouched({ ending }: Reply<keyof Operations>): boolean {
  if (ending.kind === 'lost') return ending.notBegun === true;
  return ending.kind === 'interrupted' && ending.notBegun === true && ending.reason === 'ended';
}

/** Returns the reply to the call of JOB, which was ended before it reached the image. */
function notBegun<Name extends keyof Operations>({ reason, milliseconds }: Job): Reply<Name> {
  return {
    ending: { kind: 'interrupted', reason, frames: [], afterMs: milliseconds, notBegun: true },
    data: {},
  };
}

/** Returns what PROMISE gives, or undefined when SIGNAL aborts before; then nobody waits for it any more. */
async function unlessAborted<Value>(promise: Promise<Value>, signal: EndSignal): Promise<Value | undefined> {
  if (signal.aborted) {
    promise.catch(() => {});
    return undefined;
  }
  let leave = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    leave = () => resolve(undefined);
    signal.addEventListener('abort', leave, { once: true });
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', leave));
}
