// Decides what is known of the calls of an image while they are under way, and how one is ended from outside.

import { type EndSignal, OwnSignal } from '../wire/end-signal.ts';
import { type Ending, type Output, type Reason, reasonOf, Stop } from '../wire/endings.ts';
import { callingJob } from '../wire/origin.ts';
import type { Peer } from '../wire/peer.ts';

/** What a call is doing. It waits for a place, or for the image, or it runs in the image as the request ID. COMPILING
 *  tells whether the agent is compiled before, BUILDING how far the image is built again. AHEAD tells how many run in the places that it waits for, and how many wait before
 *  it. */
export type Phase =
  | { kind: 'queued'; ahead: () => { running: number; waiting: number } }
  | { kind: 'starting'; compiling?: () => boolean; building?: () => string | undefined }
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
  /** The job whose code made this call. */
  readonly parent: Job | undefined;
  readonly began = performance.now();
  /** Aborts when the call is to end. */
  readonly signal = new OwnSignal();
  phase: Phase = { kind: 'starting' };
  /** Why and since when it is being ended. */
  stopping: { reason: Reason; at: number } | undefined;
  readonly #args: object;
  #end: JobEnd | undefined;
  readonly #waiting: ((end: JobEnd) => void)[] = [];

  constructor(number: number, operation: string, args: object, parent: Job | undefined) {
    this.number = number;
    this.operation = operation;
    this.#args = args;
    this.parent = parent;
  }

  /** What it is about: the first line of the code that it evaluates, the file that it loads, and the like. */
  get subject(): string {
    return subjectOf(this.#args);
  }

  /** Milliseconds since the call began. */
  get milliseconds(): number {
    return performance.now() - this.began;
  }

  /** Why it is to end, once its signal has aborted. */
  get reason(): Reason {
    return reasonOf(this.signal);
  }

  /** Resolves when it has ended. */
  get ended(): Promise<JobEnd> {
    const end = this.#end;
    return new Promise((resolve) => {
      if (end === undefined) this.#waiting.push(resolve);
      else resolve(end);
    });
  }

  /** Ends it for REASON, by the same steps as its limit would. */
  interrupt(reason: 'interrupt' | 'ending'): void {
    this.signal.abort(new Stop(reason));
  }

  /** Ends it too when CLIENT aborts, until the function that this returns is called. */
  follow(client: EndSignal): () => void {
    const abort = () => this.signal.abort(client.reason);
    if (client.aborted) abort();
    else client.addEventListener('abort', abort, { once: true });
    return () => client.removeEventListener('abort', abort);
  }

  /** Says how it ended. */
  end(end: JobEnd): void {
    this.#end = end;
    for (const resolve of this.#waiting) resolve(end);
  }
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

  /** Begins a job of OPERATION with ARGS. */
  begin(operation: string, args: object): Job {
    this.#last += 1;
    const job = new Job(this.#last, operation, args, this.caller());
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
