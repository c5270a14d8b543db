// Tracks the calls of an image while they run or wait, and ends them on request.

import { type EndSignal, OwnSignal } from '../wire/end-signal.ts';
import { type Ending, reasonOf, Stop } from '../wire/endings.ts';
import type { Output, Reason } from '../wire/operations.ts';
import { callingJob } from '../wire/origin.ts';
import type { Peer } from '../wire/peer.ts';
import { ALL_NUMBERS, numberAt, type Series } from '../wire/series.ts';

/** The phase of a call. */
type Phase =
  /** The call waits in a queue. `ahead` returns how many calls of the queue run, and how many wait before
   *  this call. */
  | { kind: 'queued'; ahead: () => { running: number; waiting: number } }
  /** The call waits for the image to start. `compiling` returns whether the agent is being compiled,
   *  `building` the progress of a rebuild as a phrase. */
  | { kind: 'starting'; compiling?: () => boolean; building?: () => string | undefined }
  /** The call runs in `peer`, as the request with this `id`. */
  | { kind: 'running'; peer: Peer; id: number };

/** How a job ended, for those who wait for its end. */
export interface JobEnd {
  ending: Ending;
  output?: Output;
}

/** A call that is running or waiting. */
export class Job {
  readonly number: number;
  readonly operation: string;
  /** The job whose code made this call. */
  readonly parent: Job | undefined;
  readonly startedAt = performance.now();
  /** Aborts when the call must end. */
  readonly signal = new OwnSignal();
  phase: Phase = { kind: 'starting' };
  /** The reason why the call is being ended, and when that began (performance.now). */
  stopping: { reason: Reason; at: number } | undefined;
  readonly #args: object;
  #end: JobEnd | undefined;
  readonly #waiters: ((end: JobEnd) => void)[] = [];

  constructor(number: number, operation: string, args: object, parent: Job | undefined) {
    this.number = number;
    this.operation = operation;
    this.#args = args;
    this.parent = parent;
  }

  /** The subject of the call, for people: the first line of its code, the file that it loads, or the like. */
  get subject(): string {
    return subjectOf(this.#args);
  }

  /** Milliseconds since the call began. */
  get milliseconds(): number {
    return performance.now() - this.startedAt;
  }

  /** Why the call must end, once its signal has aborted. */
  get reason(): Reason {
    return reasonOf(this.signal);
  }

  /** Resolves when the call has ended. */
  get ended(): Promise<JobEnd> {
    const end = this.#end;
    return new Promise((resolve) => {
      if (end === undefined) this.#waiters.push(resolve);
      else resolve(end);
    });
  }

  /** Ends the call for REASON, in the same steps as when its time limit is reached. */
  interrupt(reason: 'interrupt' | 'ending'): void {
    this.signal.abort(new Stop(reason));
  }

  /** Ends the call when the signal CLIENT aborts. Returns a function that removes this link. */
  follow(client: EndSignal): () => void {
    const abort = () => this.signal.abort(client.reason);
    if (client.aborted) abort();
    else client.addEventListener('abort', abort, { once: true });
    return () => client.removeEventListener('abort', abort);
  }

  /** Records how the call ended. */
  end(end: JobEnd): void {
    this.#end = end;
    for (const resolve of this.#waiters) resolve(end);
  }
}

/** Arguments that can be the subject of a call, best first. */
const SUBJECTS = ['code', 'file', 'name', 'pattern', 'package'] as const;
const SUBJECT_LIMIT = 100;

function subjectOf(args: object): string {
  const given = args as { [name: string]: unknown };
  const text = SUBJECTS.map((name) => given[name]).find((value) => typeof value === 'string');
  const [line = ''] = String(text ?? '')
    .trimStart()
    .split('\n', 1);
  return line.length > SUBJECT_LIMIT ? `${line.slice(0, SUBJECT_LIMIT)}...` : line;
}

/** All jobs of an image. */
export class Jobs {
  readonly #jobs = new Map<number, Job>();
  /** The jobs of the images beside this one. */
  readonly #beside = new Set<Jobs>();
  #numbering: { readonly series: Series; next: number };

  /** Numbers the jobs by SERIES. */
  constructor(series = ALL_NUMBERS) {
    this.#numbering = { series, next: numberAt(series, 1) };
  }

  /** Gives the jobs of OTHERS, which belong to an image beside this one, numbers that no job here has. Lists them in
   *  listAll until the returned function is called. */
  addBeside(others: Jobs): () => void {
    others.#numbering = this.#numbering;
    this.#beside.add(others);
    return () => this.#beside.delete(others);
  }

  /** Creates a job of OPERATION with ARGS. */
  begin(operation: string, args: object): Job {
    const job = new Job(this.#numbering.next, operation, args, this.caller());
    this.#numbering.next += this.#numbering.series.count;
    this.#jobs.set(job.number, job);
    return job;
  }

  /** Removes JOB, which has ended with END. */
  end(job: Job, end: JobEnd): void {
    this.#jobs.delete(job.number);
    job.end(end);
  }

  /** Returns the running and waiting jobs, oldest first. */
  list(): Job[] {
    return [...this.#jobs.values()];
  }

  /** Returns what list returns, then the jobs of the images beside. */
  listAll(): Job[] {
    return [this, ...this.#beside].flatMap((jobs) => jobs.list());
  }

  /** True when there is or was a job of this NUMBER. */
  hasExisted(number: number): boolean {
    return number >= 1 && number < this.#numbering.next;
  }

  /** Returns the job whose code requested the current operation, if one did. */
  caller(): Job | undefined {
    const calling = callingJob();
    if (calling === undefined) return undefined;
    return this.list().find(
      ({ phase }) => phase.kind === 'running' && phase.peer === calling.peer && phase.id === calling.job,
    );
  }

  /** Interrupts all jobs because the server ends. Resolves when they have ended, or after MS milliseconds. */
  async endAll(ms: number): Promise<void> {
    const jobs = this.list();
    for (const job of jobs) job.interrupt('ending');
    if (jobs.length === 0) return;
    const timeout = new Promise((resolve) => setTimeout(resolve, ms).unref());
    await Promise.race([Promise.all(jobs.map(({ ended }) => ended)), timeout]);
  }
}
