// Tracks the calls that run or wait in an image, and ends them on request.

import { type EndSignal, OwnSignal } from '../wire/end-signal.ts';
import { type Ending, reasonOf, Stop } from '../wire/endings.ts';
import type { Output, Reason } from '../wire/operations.ts';
import { callingJob } from '../wire/origin.ts';
import type { Peer } from '../wire/peer.ts';
import { ALL_NUMBERS, numberAt, type Series } from '../wire/series.ts';

type Phase =
  /** The call waits in a queue. `ahead` returns the number of calls of the queue that run, and the number of those that
   * wait before this call. */
  | { kind: 'queued'; ahead: () => { running: number; waiting: number } }
  /** The call waits until the image has started. `compiling` returns true while the backend is being compiled.
   * `building` returns the progress of a rebuild, as a phrase. Without the two, this is the phase of a new call. */
  | { kind: 'starting'; compiling?: () => boolean; building?: () => string | undefined }
  /** The call runs in the image at the other end of `peer`, as the request with the number `id`. */
  | { kind: 'running'; peer: Peer; id: number };

/** The end of a job, for callers that wait for the job. */
export interface JobEnd {
  ending: Ending;
  output?: Output;
}

export class Job {
  readonly number: number;
  readonly operation: string;
  readonly parent: Job | undefined;
  readonly startedAt = performance.now();
  /** Aborts when the call must end. But if the request exceeds its time limit (limitRequest in request.ts), only the
   * request is ended, and this signal does not abort. */
  readonly signal = new OwnSignal();
  phase: Phase = { kind: 'starting' };
  /** The reason why the call is being ended, and the time (performance.now) when this began. Set by limitRequest, so
   * undefined before the call runs. */
  stopping: { reason: Reason; at: number } | undefined;
  /** True when the human on the page has ended the call; false when the model, or nobody, has. */
  endedByUser = false;
  readonly #args: object;
  #end: JobEnd | undefined;
  readonly #waiters: ((end: JobEnd) => void)[] = [];

  constructor(number: number, operation: string, args: object, parent: Job | undefined) {
    this.number = number;
    this.operation = operation;
    this.#args = args;
    this.parent = parent;
  }

  /** The subject of the call, for people: for example the first line of its code, or the file that it loads. */
  get subject(): string {
    return subjectOf(this.#args);
  }

  get milliseconds(): number {
    return performance.now() - this.startedAt;
  }

  /** The reason why the call must end. Valid only after `signal` has aborted. */
  get reason(): Reason {
    return reasonOf(this.signal);
  }

  get ended(): Promise<JobEnd> {
    const end = this.#end;
    return new Promise((resolve) => {
      if (end === undefined) this.#waiters.push(resolve);
      else resolve(end);
    });
  }

  /** Ends the call for REASON, in the same way as a call that reaches its time limit. BY_USER is true when the human
   * ends it on the page. */
  interrupt(reason: 'interrupt' | 'ending', byUser = false): void {
    if (this.signal.aborted) return;
    this.endedByUser = byUser;
    this.signal.abort(new Stop(reason));
  }

  /** Ends the call when the signal CLIENT aborts. Returns a function that stops this. */
  follow(client: EndSignal): () => void {
    const abort = () => this.signal.abort(client.reason);
    if (client.aborted) abort();
    else client.addEventListener('abort', abort, { once: true });
    return () => client.removeEventListener('abort', abort);
  }

  end(end: JobEnd): void {
    this.#end = end;
    for (const resolve of this.#waiters) resolve(end);
  }
}

/** The names of the arguments that can be the subject of a call. The best comes first. */
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

export class Jobs {
  readonly #jobs = new Map<number, Job>();
  readonly #extraJobs = new Set<Jobs>();
  #numbering: { readonly series: Series; next: number };

  constructor(series = ALL_NUMBERS) {
    this.#numbering = { series, next: numberAt(series, 1) };
  }

  /** Adds OTHERS, the jobs of an additional image, to the result of listAll. From then on, OTHERS takes its numbers
   * from the same sequence as this object, so that all numbers differ. Returns a function that removes OTHERS again. */
  addExtraJobs(others: Jobs): () => void {
    others.#numbering = this.#numbering;
    this.#extraJobs.add(others);
    return () => this.#extraJobs.delete(others);
  }

  begin(operation: string, args: object): Job {
    const job = new Job(this.#numbering.next, operation, args, this.caller());
    this.#numbering.next += this.#numbering.series.count;
    this.#jobs.set(job.number, job);
    return job;
  }

  end(job: Job, end: JobEnd): void {
    this.#jobs.delete(job.number);
    job.end(end);
  }

  /** Returns the jobs that run or wait. The oldest comes first. */
  list(): Job[] {
    return [...this.#jobs.values()];
  }

  listAll(): Job[] {
    return [this, ...this.#extraJobs].flatMap((jobs) => jobs.list());
  }

  /** Returns true when a job has had NUMBER, which is a number of this image's series. */
  hasExisted(number: number): boolean {
    return number >= 1 && number < this.#numbering.next;
  }

  /** Returns the job whose code requested the current operation; undefined when no code did. */
  caller(): Job | undefined {
    const calling = callingJob();
    if (calling === undefined) return undefined;
    // For the peer, a job is a request.
    const { peer, job: id } = calling;
    return this.list().find(
      ({ phase }) => phase.kind === 'running' && phase.peer === peer && phase.id === id,
    );
  }

  /** Interrupts the jobs of `list`, because the server ends. Resolves when they have ended, or after MS milliseconds.
   * The jobs of additional images are not interrupted, because these images are killed. */
  async endAll(ms: number): Promise<void> {
    const jobs = this.list();
    for (const job of jobs) job.interrupt('ending');
    if (jobs.length === 0) return;
    const timeout = new Promise((resolve) => setTimeout(resolve, ms).unref());
    await Promise.race([Promise.all(jobs.map(({ ended }) => ended)), timeout]);
  }
}
