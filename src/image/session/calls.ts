// Runs the calls of an image: queues them, interrupts them at their limits, and adds notices to their
// answers.

import type { CallOptions, Reply } from '../wire/call.ts';
import type { EndSignal } from '../wire/end-signal.ts';
import { enforceLimit } from '../wire/ending-steps.ts';
import { endingAfter, wholeText } from '../wire/endings.ts';
import type { Answer } from '../wire/messages.ts';
import type { Operations, Reason } from '../wire/operations.ts';
import { COMPILATIONS, checkNoDeadlock, codeCaller, withinCompilation } from '../wire/origin.ts';
import type { Peer } from '../wire/peer.ts';
import type { Series } from '../wire/series.ts';
import { TIMES, type Times } from '../wire/times.ts';
import { type Job, Jobs } from './jobs.ts';
import type { CallNotice } from './notices.ts';
import { passOutput, reportProgress } from './progress.ts';
import { type Ahead, Queue } from './queue.ts';

/** The functions with which calls use their image. */
export interface CallHost {
  /** Time limit of a call in milliseconds. */
  readonly limitMs: number;
  /** True when somebody else runs the image. */
  readonly attached?: boolean;
  /** True for an image that was made for one call and ends with it. */
  readonly fresh?: boolean;
  /** Returns the process id of the image if a signal has stopped this process; undefined for an image of the
   *  server, which is replaced instead. */
  stoppedPid?(): number | undefined;
  /** The series of the calls' numbers; by default, all numbers. */
  readonly series?: Series | undefined;
  /** Returns the peer (the agent in an image) that is ready for calls; undefined when there is none now. */
  readyPeer(): Peer | undefined;
  /** Resolves with a peer when it is ready for calls. Throws a SetupError when none can be started. */
  whenReady(): Promise<Peer>;
  /** Returns the progress of a rebuild as a phrase; undefined when none runs. */
  rebuildProgress(): string | undefined;
  compiling(): boolean;
  /** Called before a call from outside the image performs the operation `name` in `peer`. */
  beforeCall(peer: Peer, name: OperationName): void;
  /** Called before `peer` performs the operation `name` with `args`. Returns undefined when nothing needs the
   *  answer, otherwise a promise of a callback for the answer. The callback is also called when a held error
   *  stops the operation, and when the image is lost. */
  answerRecorder(
    peer: Peer,
    name: OperationName,
    args: object,
  ): Promise<(job: number, answer: Answer) => void> | undefined;
  /** Called after a call from outside the image has ended with `reply`, if the image of `peer` still
   *  lives. */
  afterCall(peer: Peer, reply: Reply<OperationName>): void;
  /** Receives `reply` before the caller does. */
  onReply?(reply: Reply<OperationName>): Promise<void>;
  notify(notice: CallNotice): void;
}

const MAX_EVALUATIONS = 8;
const MAX_LOOKUPS = 32;

type OperationName = keyof Operations;

/** Operations that run user code, so that MAX_EVALUATIONS limits their number. */
const EVALUATIONS: ReadonlySet<OperationName> = new Set<OperationName>([
  ...(['evaluate', 'macroexpand', 'load-file', 'load-files', 'load-source', 'load-system'] as const),
  ...(['run-tool', 'debug-eval', 'debug-fix', 'debug-go', 'test-plan', 'test-run'] as const),
]);
/** Operations on whole files or test suites, with the time limit of a load. */
const LONG_OPERATIONS: ReadonlySet<OperationName> = new Set<OperationName>([
  ...(['load-file', 'load-files', 'load-forms', 'load-order', 'load-source', 'load-system'] as const),
  ...(['check-file', 'check-text', 'test-plan', 'test-run'] as const),
]);

export class Calls {
  readonly jobs: Jobs;
  readonly #host: CallHost;
  readonly #times: Times;
  readonly #evaluations = new Queue(MAX_EVALUATIONS);
  readonly #lookups = new Queue(MAX_LOOKUPS);
  /** Runs one compilation at a time. After a compilation the image undoes all definitions made meanwhile,
   *  also those of a parallel compilation. */
  readonly #compilations = new Queue(1);

  constructor(host: CallHost, times: Times = TIMES) {
    this.jobs = new Jobs(host.series);
    this.#host = host;
    this.#times = times;
  }

  /** Performs the operation NAME with ARGS. Throws a SetupError when no image can be started, and a CallError
   *  when too many calls wait. */
  async call<Name extends OperationName>(
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions = {},
  ): Promise<Reply<Name>> {
    checkNoDeadlock(name);
    const reply = await this.#track(name, args, options, (job) => this.#queued(job, name, args, options));
    await this.#host.onReply?.(reply);
    return reply;
  }

  /** Performs the operation NAME with ARGS in PEER, which is not ready for calls yet. */
  async prepare<Name extends OperationName>(
    peer: Peer,
    name: Name,
    args: Operations[Name]['args'],
  ): Promise<Reply<Name>> {
    return this.#track(name, args, {}, (job) => this.#perform(peer, job, name, args, {}));
  }

  async #track<Name extends OperationName>(
    name: Name,
    args: object,
    options: CallOptions,
    perform: (job: Job) => Promise<Reply<Name>>,
  ): Promise<Reply<Name>> {
    const job = this.jobs.begin(name, args);
    if (options.signal?.aborted) job.signal.abort(options.signal.reason);
    // Starts the call first. The request is sent when the image can take it.
    const performed = perform(job);
    const stopFollowing = options.signal && job.follow(options.signal);
    const stopReporting = options.onProgress && reportProgress(job, options.onProgress, this.#times.progress);
    const { onOutput } = options;
    const stopPassing = onOutput && passOutput(job, onOutput, this.#times.progress);
    let reply: Reply<Name> | undefined;
    try {
      reply = await performed;
      if (!(await stopPassing?.())) return reply;
      const { output, ...withoutOutput } = reply;
      if (output !== undefined) await onOutput?.(wholeText(output));
      return withoutOutput;
    } finally {
      // After an error, nothing has stopped the passing of output yet.
      void stopPassing?.();
      stopFollowing?.();
      stopReporting?.();
      this.jobs.end(job, reply ?? notStarted(job));
    }
  }

  async #queued<Name extends OperationName>(
    job: Job,
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions,
  ): Promise<Reply<Name>> {
    const caller = codeCaller();
    const queue = this.#queueOf(name, caller !== undefined);
    const isUp = this.#host.readyPeer() !== undefined;
    if (job.signal.aborted || (queue !== undefined && !(await this.#enter(queue, job))))
      return notStarted(job);
    try {
      // Only a wait in the queue counts, not a delay by a busy server or the start of the image.
      const waited = isUp && job.phase.kind === 'queued' && queue !== this.#lookups;
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

  /** Performs a call from outside the image. Repeats it once when something else ended it before any part of
   *  it ran. */
  async #fromOutside<Name extends OperationName>(
    job: Job,
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions,
    isRetry = false,
  ): Promise<Reply<Name>> {
    const peer = this.#host.readyPeer() ?? (await unlessAborted(this.#started(job), job.signal));
    if (peer === undefined || job.signal.aborted) return notStarted(job);
    this.#host.beforeCall(peer, name);
    const reply = await this.#perform(peer, job, name, args, options);
    if (reply.ending.kind !== 'lost') this.#host.afterCall(peer, reply);
    return !isRetry && hasNotBegun(reply) && !job.signal.aborted
      ? this.#fromOutside(job, name, args, options, true)
      : reply;
  }

  /** Enters JOB into QUEUE. Returns false when JOB is aborted before it may run. */
  #enter(queue: Queue, job: Job): boolean | Promise<boolean> {
    const onWait = (ahead: Ahead) => {
      job.phase = { kind: 'queued', ahead };
    };
    return queue.tryEnter() || queue.enter(job.signal, onWait);
  }

  /** Resolves with a peer that is ready for calls. Meanwhile the phase of JOB is `starting`. */
  #started(job: Job): Promise<Peer> {
    job.phase = {
      kind: 'starting',
      compiling: () => this.#host.compiling(),
      building: () => this.#host.rebuildProgress(),
    };
    return this.#host.whenReady();
  }

  #queueOf(name: OperationName, byCode: boolean): Queue | undefined {
    // Compilations have their own queue. Otherwise those that wait for the running compilation could fill the
    // queue of evaluations.
    if (COMPILATIONS.includes(name)) return withinCompilation() ? undefined : this.#compilations;
    // A call by code needs no queue, because the call around the code is in one. CodeCalls limits the calls
    // of threads that work for no call.
    if (byCode) return undefined;
    return EVALUATIONS.has(name) ? this.#evaluations : this.#lookups;
  }

  async #perform<Name extends OperationName>(
    peer: Peer,
    job: Job,
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions,
  ): Promise<Reply<Name>> {
    const startedAt = performance.now();
    const { continues } = options;
    const onAnswer = await this.#host.answerRecorder(peer, name, args);
    const onContinued = continues && (await this.#host.answerRecorder(peer, continues.name, continues.args));
    const { id, answer } = peer.request(name, args, options.onOutput !== undefined);
    job.phase = { kind: 'running', peer, id };
    const limitMs = options.limitMs ?? (LONG_OPERATIONS.has(name) ? this.#times.load : this.#host.limitMs);
    const { stop, abandoned } = this.#watch(peer, id, job, limitMs);
    // A race takes longer to resolve. When our own image ends by itself, the callback of the answer must run
    // before the loss is handled.
    const received = await (this.#host.stoppedPid ? Promise.race([answer, abandoned]) : answer);
    stop();
    // After SIGCONT, the image still answers the abandoned request.
    if (received.ending.kind === 'interrupted' && received.ending.stoppedPid !== undefined)
      void answer.then((late) => this.#notifyNews(late));
    const afterMs = performance.now() - startedAt;
    const ending = endingAfter(received.ending, afterMs, this.#host, job.endedByUser);
    const { output, data } = received;
    this.#notifyNews(received);
    if (options.signal?.aborted && !options.ofCommand && codeCaller() === undefined)
      this.#host.notify({ kind: 'cancelled', ending, afterMs, output });
    const isContinued = continues !== undefined && (!continues.ifLeft || 'left' in data);
    (isContinued ? onContinued : onAnswer)?.(id, received);
    return { ending, ...(output && { output }), data };
  }

  #notifyNews({ background, changes }: Answer): void {
    if (background) this.#host.notify({ kind: 'background', output: background });
    if (changes) this.#host.notify({ kind: 'changes', changes });
  }

  /** Ends JOB, the request ID of PEER, when it is aborted or takes longer than LIMIT_MS, until `stop` is
   *  called. `abandoned` resolves when the request must be ended while the process of PEER is stopped. */
  #watch(
    peer: Peer,
    id: number,
    job: Job,
    limitMs: number,
  ): { stop: () => void; abandoned: Promise<Abandoned> } {
    const endable = peer.job(id);
    const interrupt = (reason: Reason) => {
      job.stopping ??= { reason, at: performance.now() };
      endable.interrupt(reason);
    };
    let resolveAbandoned: (answer: Abandoned) => void = () => {};
    const abandoned = new Promise<Abandoned>((resolve) => {
      resolveAbandoned = resolve;
    });
    const abandon = () => {
      const stoppedPid = this.#host.stoppedPid?.();
      if (stoppedPid === undefined) return false;
      const reason = job.stopping?.reason ?? 'timeout';
      resolveAbandoned({ ending: { kind: 'interrupted', reason, frames: [], stoppedPid }, data: {} });
      return true;
    };
    const stop = enforceLimit({ ...endable, interrupt, abandon }, limitMs, job.signal, this.#times);
    return { stop, abandoned };
  }
}

/** Stands for the answer to a request that a stopped image has not answered. */
type Abandoned = Omit<Answer, 'data'> & { data: Record<string, never> };

/** True when a call ended before any part of it ran, because the image was lost or the thread of the call
 *  ended. */
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

/** Returns the value of PROMISE, or undefined when SIGNAL aborts first. Ignores a later rejection of
 *  PROMISE. */
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
