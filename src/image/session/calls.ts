// Runs the calls of an image: queues them, starts the image if necessary, and reports their progress.

import type { CallOptions, Reply } from '../wire/call.ts';
import type { EndSignal } from '../wire/end-signal.ts';
import { endingAfter, wholeText } from '../wire/endings.ts';
import type { Operations } from '../wire/operations.ts';
import { COMPILATIONS, checkNoDeadlock, codeCaller, withinCompilation } from '../wire/origin.ts';
import type { Peer } from '../wire/peer.ts';
import type { Series } from '../wire/series.ts';
import { TIMES, type Times } from '../wire/times.ts';
import { type Job, Jobs } from './jobs.ts';
import { passOutput, reportProgress } from './progress.ts';
import { type Ahead, Queue } from './queue.ts';
import { type OperationName, type PendingCall, perform, type RequestHost } from './request.ts';

/** The functions and facts about an image that its calls need. */
export interface CallHost extends RequestHost {
  /** The series from which the calls get their numbers; absent when the server has only this image. */
  readonly series?: Series | undefined;
  /** Returns the peer, which stands for the backend in the image, when it is ready for calls; else undefined. */
  readyPeer(): Peer | undefined;
  /** Resolves with a peer when it is ready for calls. Throws a SetupError when no image can be started. */
  whenReady(): Promise<Peer>;
  /** Returns the progress of a rebuild, as a phrase; undefined when no rebuild is running. */
  rebuildProgress(): string | undefined;
  compiling(): boolean;
  /** Called before a call that does not come from code in the image performs the operation `name` in `peer`. */
  beforeCall(peer: Peer, name: OperationName): void;
  /** Called when a call that does not come from code in the image has ended with `reply`, if the image of `peer` still
   * exists. */
  afterCall(peer: Peer, reply: Reply<OperationName>): void;
  /** Called with `reply` before the caller gets it. */
  onReply?(reply: Reply<OperationName>): Promise<void>;
}

const MAX_EVALUATIONS = 8;
const MAX_LOOKUPS = 32;

/** Operations that run user code. Only MAX_EVALUATIONS of them run at the same time. All other operations are lookups,
 * except COMPILATIONS. */
const EVALUATIONS: ReadonlySet<OperationName> = new Set<OperationName>([
  ...(['evaluate', 'macroexpand', 'load-file', 'load-files', 'load-source', 'load-system'] as const),
  ...(['run-tool', 'debug-eval', 'debug-fix', 'debug-go', 'test-plan', 'test-run'] as const),
]);

export class Calls {
  readonly jobs: Jobs;
  readonly #host: CallHost;
  readonly #times: Times;
  readonly #evaluations = new Queue(MAX_EVALUATIONS);
  readonly #lookups = new Queue(MAX_LOOKUPS);
  /** Runs one compilation at a time. When a compilation ends, the image undoes all definitions that were made during
   * it. These would include definitions of another compilation that runs at the same time. */
  readonly #compilations = new Queue(1);

  constructor(host: CallHost, times: Times = TIMES) {
    this.jobs = new Jobs(host.series);
    this.#host = host;
    this.#times = times;
  }

  /** Performs the operation NAME with ARGS, and resolves with the reply. Throws a SetupError when no image can be
   * started. Throws a CallError when too many calls wait. */
  async call<Name extends OperationName>(
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions = {},
  ): Promise<Reply<Name>> {
    checkNoDeadlock(name);
    const call = this.#begin(name, args, options);
    const reply = await this.#track(call, () => this.#queued(call));
    await this.#host.onReply?.(reply);
    return reply;
  }

  /** Performs the operation NAME with ARGS in PEER, a new process that does not get calls of clients yet. */
  async prepare<Name extends OperationName>(
    peer: Peer,
    name: Name,
    args: Operations[Name]['args'],
  ): Promise<Reply<Name>> {
    const call = this.#begin(name, args, {});
    return this.#track(call, () => this.#perform(peer, call));
  }

  #begin<Name extends OperationName>(
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions,
  ): PendingCall<Name> {
    return { job: this.jobs.begin(name, args), name, args, options };
  }

  /** Calls RUN, which performs the call, and resolves with the reply. While the call runs, aborts its job if the
   * client cancels it, and passes progress and output to the caller. */
  async #track<Name extends OperationName>(
    { job, options }: PendingCall<Name>,
    run: () => Promise<Reply<Name>>,
  ): Promise<Reply<Name>> {
    const { signal, onProgress, onOutput } = options;
    const stopFollowing = signal && job.follow(signal);
    const stopReporting = onProgress && reportProgress(job, onProgress, this.#times.progress);
    const passing = onOutput && passOutput(job, onOutput, this.#times.progress);
    let reply: Reply<Name> | undefined;
    try {
      reply = await run().finally(passing?.stop);
      return passing?.hasPassed ? await withoutOutput(reply, onOutput) : reply;
    } finally {
      stopFollowing?.();
      stopReporting?.();
      this.jobs.end(job, reply ?? notStarted(job));
    }
  }

  /** Performs CALL when its queue admits it. */
  async #queued<Name extends OperationName>(call: PendingCall<Name>): Promise<Reply<Name>> {
    const { job, name } = call;
    const caller = codeCaller();
    const queue = this.#queueOf(name, caller !== undefined);
    const wasUp = this.#host.readyPeer() !== undefined;
    if (job.signal.aborted || (queue !== undefined && !(await this.#enter(queue, job))))
      return notStarted(job);
    try {
      // Only the time in a queue is reported. The start of the image is not included, nor is a delay because the server
      // is busy. Only a job that had to wait in its queue is in the phase `queued` here.
      const waited = wasUp && job.phase.kind === 'queued' && queue !== this.#lookups;
      const waitedMs = waited ? job.milliseconds : undefined;
      const reply = await (caller === undefined ? this.#fromOutside(call) : this.#perform(caller, call));
      return waitedMs === undefined ? reply : { ...reply, waitedMs };
    } finally {
      queue?.leave();
    }
  }

  #queueOf(name: OperationName, byCode: boolean): Queue | undefined {
    // Compilations have a queue of their own. Otherwise compilations that wait for the running one could fill the queue
    // of evaluations.
    if (COMPILATIONS.includes(name)) return withinCompilation() ? undefined : this.#compilations;
    // A call by code needs no queue, because the call that runs this code is in one. CodeCalls (upcalls.ts) limits
    // the calls of threads that belong to no call.
    if (byCode) return undefined;
    return EVALUATIONS.has(name) ? this.#evaluations : this.#lookups;
  }

  /** Enters JOB into QUEUE. Returns true when JOB may run, and false when JOB is aborted before this. */
  #enter(queue: Queue, job: Job): boolean | Promise<boolean> {
    const onWait = (ahead: Ahead) => {
      job.phase = { kind: 'queued', ahead };
    };
    return queue.tryEnter() || queue.enter(job.signal, onWait);
  }

  /** Performs a call that does not come from code in the image. If the image was lost, or the thread of the call ended,
   * before any part of the call ran, repeats it once. */
  async #fromOutside<Name extends OperationName>(
    call: PendingCall<Name>,
    isRetry = false,
  ): Promise<Reply<Name>> {
    const { job, name } = call;
    const peer = this.#host.readyPeer() ?? (await unlessAborted(this.#started(job), job.signal));
    if (peer === undefined || job.signal.aborted) return notStarted(job);
    this.#host.beforeCall(peer, name);
    const reply = await this.#perform(peer, call);
    if (reply.ending.kind !== 'lost') this.#host.afterCall(peer, reply);
    const mayRetry = !isRetry && hasNotBegun(reply) && !job.signal.aborted;
    return mayRetry ? this.#fromOutside(call, true) : reply;
  }

  /** Waits until an image is ready for calls, and resolves with its peer. Sets the phase of JOB to `starting`. */
  #started(job: Job): Promise<Peer> {
    job.phase = {
      kind: 'starting',
      compiling: () => this.#host.compiling(),
      building: () => this.#host.rebuildProgress(),
    };
    return this.#host.whenReady();
  }

  #perform<Name extends OperationName>(peer: Peer, call: PendingCall<Name>): Promise<Reply<Name>> {
    return perform(peer, call, this.#host, this.#times);
  }
}

/** Passes the output of REPLY to PASS, and returns the other members of REPLY. */
async function withoutOutput<Name extends OperationName>(
  { output, ...others }: Reply<Name>,
  pass: CallOptions['onOutput'],
): Promise<Reply<Name>> {
  if (output !== undefined) await pass?.(wholeText(output));
  return others;
}

/** Returns true when a call ended before any part of it ran, because the image was lost or the thread of the call
 * ended. */
function hasNotBegun({ ending }: Reply<OperationName>): boolean {
  if (ending.kind === 'lost') return ending.notBegun === true;
  return ending.kind === 'interrupted' && ending.notBegun === true && ending.reason === 'ended';
}

/** Returns the reply to the call of JOB, which ended before its request was sent. */
function notStarted<Name extends OperationName>({ reason, milliseconds, endedByUser }: Job): Reply<Name> {
  return {
    ending: endingAfter(
      { kind: 'interrupted', reason, frames: [], notBegun: true },
      milliseconds,
      {},
      endedByUser,
    ),
    data: {},
  };
}

/** Resolves with the value of PROMISE, or with undefined when SIGNAL aborts first. A rejection of PROMISE after the
 * abort is ignored. */
async function unlessAborted<Value>(promise: Promise<Value>, signal: EndSignal): Promise<Value | undefined> {
  if (signal.aborted) {
    promise.catch(() => {});
    return undefined;
  }
  let onAbort = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}
