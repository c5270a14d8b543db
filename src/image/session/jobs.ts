// Decides what is known of the calls of an image while they are under way, and how one is ended from outside.

import { type Ending, type Output, type Reason, reasonOf, Stop } from '../wire/endings.ts';
import { callingJob } from '../wire/origin.ts';
import type { Peer } from '../wire/peer.ts';

/** What a call is doing. It waits for a place, or for the image, or it runs in the image as the request ID. BUILDING
 *  tells how far the image is built again. AHEAD tells how many run in the places that it waits for, and how many wait before
 *  it. */
export type Phase =
  | { kind: 'queued'; ahead: () => { running: number; waiting: number } }
  | { kind: 'starting'; building?: () => string | undefined }
  | { kind: 'running'; peer: Peer; id: number };

/** How a job ended, as far as whoever ended it wants to know. */
export interface JobEnd {
  ending: Ending;
  output?: Output;
}

/** One call that is under way. */
export class Job {
  readonly number: number;
  readonly operation: string;
  /** What it is about: the first line of the code that it evaluates, the file that it loads, and the like. */
  readonly subject: string;
  /** The job whose code made this call. */
  readonly parent: Job | undefined;
  readonly began = performance.now();
  /** Aborts when the call is to end. */
  readonly signal: AbortSignal;
  /** Resolves when it has ended. */
  readonly ended: Promise<JobEnd>;
  phase: Phase = { kind: 'starting' };
  /** Why and since when it is being ended. */
  stopping: { reason: Reason; at: number } | undefined;
  readonly #controller = new AbortController();
  readonly #resolve: (end: JobEnd) => void;

  constructor(
    number: number,
    operation: string,
    args: object,
    parent: Job | undefined,
    signal: AbortSignal | undefined,
  ) {
    this.number = number;
    this.operation = operation;
    this.subject = subjectOf(args);
    this.parent = parent;
    const own = this.#controller.signal;
    this.signal = signal ? AbortSignal.any([signal, own]) : own;
    const { promise, resolve } = deferred<JobEnd>();
    this.ended = promise;
    this.#resolve = resolve;
  }

  /** Milliseconds since the call began. */
  get milliseconds(): number {
    return performance.now() - this.began;
  }

  /** Why it is to end, once its signal has aborted. */
  get reason(): Reason {
    return reasonOf(this.signal);
  }

  /** Ends it for REASON, by the same steps as its limit would. */
  interrupt(reason: 'interrupt' | 'ending'): void {
    this.#controller.abort(new Stop(reason));
  }

  /** Says how it ended. */
  end(end: JobEnd): void {
    this.#resolve(end);
  }
}

function deferred<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** The arguments of operations that say what a call is about, the best first. */
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

/** The jobs of an image. */
export class Jobs {
  readonly #jobs = new Map<number, Job>();
  #last = 0;

  /** Begins a job of OPERATION with ARGS, which ends when SIGNAL aborts too. */
  begin(operation: string, args: object, signal: AbortSignal | undefined): Job {
    this.#last += 1;
    const job = new Job(this.#last, operation, args, this.caller(), signal);
    this.#jobs.set(job.number, job);
    return job;
  }

  /** Ends JOB, as END says. */
  end(job: Job, end: JobEnd): void {
    this.#jobs.delete(job.number);
    job.end(end);
  }

  /** Returns all that are under way, the oldest first. */
  list(): Job[] {
    return [...this.#jobs.values()];
  }

  /** Returns whether there was a job of that NUMBER. */
  wasThere(number: number): boolean {
    return number >= 1 && number <= this.#last;
  }

  /** Returns the job whose code asked for what runs now, if one did. */
  caller(): Job | undefined {
    const calling = callingJob();
    if (calling === undefined) return undefined;
    return this.list().find(
      ({ phase }) => phase.kind === 'running' && phase.peer === calling.peer && phase.id === calling.job,
    );
  }

  /** Ends all, because the server ends, and resolves when they have or MS milliseconds are over. */
  async endAll(ms: number): Promise<void> {
    const jobs = this.list();
    for (const job of jobs) job.interrupt('ending');
    if (jobs.length === 0) return;
    const late = new Promise((resolve) => setTimeout(resolve, ms).unref());
    await Promise.race([Promise.all(jobs.map(({ ended }) => ended)), late]);
  }
}
