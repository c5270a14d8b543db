// Runs the calls of an image: queues them, interrupts them when their time is up, and adds notices to their answers.

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

/** The functions and facts about an image that its calls need. */
export interface CallHost {
  /** Maximum number of milliseconds that a call may take. */
  readonly limitMs: number;
  /** True when somebody else runs the image. */
  readonly attached?: boolean;
  /** True for a fresh image, which was made for one call and ends with it. */
  readonly fresh?: boolean;
  /** Returns the process id of the image if a signal has stopped its process, else undefined. Absent for an image of
   * the server, which is replaced when it does not react. */
  stoppedPid?(): number | undefined;
  /** The series of numbers for the calls; undefined for all numbers. */
  readonly series?: Series | undefined;
  /** Returns the peer, the agent in an image, that is ready for calls; undefined when there is none at this time. */
  readyPeer(): Peer | undefined;
  /** Resolves with a peer when it is ready for calls. Throws a SetupError when no image can be started. */
  whenReady(): Promise<Peer>;
  /** Returns the progress of a rebuild, as a phrase; undefined when no rebuild is running. */
  rebuildProgress(): string | undefined;
  compiling(): boolean;
  /** Called before a call that does not come from code in the image performs the operation `name` in `peer`. */
  beforeCall(peer: Peer, name: OperationName): void;
  /** Called before `peer` performs the operation `name` with `args`. Resolves with a function that is called with the
   * answer, also when a held error stops the operation and when the image is lost. Returns undefined when nothing has
   * to be recorded. */
  answerRecorder(
    peer: Peer,
    name: OperationName,
    args: object,
  ): Promise<(job: number, answer: Answer) => void> | undefined;
  /** Called when a call that does not come from code in the image has ended with `reply`, if the image of `peer` still
   * exists. */
  afterCall(peer: Peer, reply: Reply<OperationName>): void;
  /** Called with `reply` before the caller gets it. */
  onReply?(reply: Reply<OperationName>): Promise<void>;
  notify(notice: CallNotice): void;
}

const MAX_EVALUATIONS = 8;
const MAX_LOOKUPS = 32;

type OperationName = keyof Operations;

/** Operations that run user code. Only MAX_EVALUATIONS of them run at the same time. */
const EVALUATIONS: ReadonlySet<OperationName> = new Set<OperationName>([
  ...(['evaluate', 'macroexpand', 'load-file', 'load-files', 'load-source', 'load-system'] as const),
  ...(['run-tool', 'debug-eval', 'debug-fix', 'debug-go', 'test-plan', 'test-run'] as const),
]);
/** Operations on whole files or test suites. They have the time limit of a load. */
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
    // The call is started first. Its request is sent when the image can take it.
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
      // If an error was thrown, the passing of output has not been stopped yet.
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
      // Only the time in a queue counts. The start of the image, and a delay because the server is busy, do not.
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

  /** Performs a call that does not come from code in the image. If something else ended the call before any part of it
   * ran, repeats it once. */
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

  /** Enters JOB into QUEUE. Returns true when JOB may run, and false when JOB is aborted before this. */
  #enter(queue: Queue, job: Job): boolean | Promise<boolean> {
    const onWait = (ahead: Ahead) => {
      job.phase = { kind: 'queued', ahead };
    };
    return queue.tryEnter() || queue.enter(job.signal, onWait);
  }

  /** Resolves with a peer when it is ready for calls. Until then, the phase of JOB is `starting`. */
  #started(job: Job): Promise<Peer> {
    job.phase = {
      kind: 'starting',
      compiling: () => this.#host.compiling(),
      building: () => this.#host.rebuildProgress(),
    };
    return this.#host.whenReady();
  }

  #queueOf(name: OperationName, byCode: boolean): Queue | undefined {
    // Compilations have a queue of their own. Otherwise compilations that wait for the running one could fill the queue
    // of evaluations.
    if (COMPILATIONS.includes(name)) return withinCompilation() ? undefined : this.#compilations;
    // A call by code needs no queue, because the call that runs this code is in one. CodeCalls limits the calls of
    // threads that belong to no call.
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
    // Promise.race takes longer to resolve. When an image of the server ends by itself, the function for the answer
    // must be called before the loss is handled.
    const received = await (this.#host.stoppedPid ? Promise.race([answer, abandoned]) : answer);
    stop();
    // The image will answer the abandoned request after SIGCONT.
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

  /** Ends JOB, the request ID of PEER, when it is aborted or takes longer than LIMIT_MS. Does this until `stop` of the
   * result is called. `abandoned` of the result resolves when the request must end while the process of PEER is
   * stopped. */
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

/** Resolves with the value of PROMISE, or with undefined when SIGNAL aborts first. If PROMISE is rejected after this,
 * ignores the error. */
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
