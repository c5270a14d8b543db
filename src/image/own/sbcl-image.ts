// Decides how our own SBCL serves calls: which wait, when they are interrupted, what is told with their answers.

import { ImageError } from '../../errors.ts';
import type { CallOptions, Image, ImageTools, Output, Reason, RebuildFrom, Reply, Stake } from '../image.ts';
import type { Child } from '../process/child.ts';
import { Lifetime, type LifetimeOptions } from '../process/lifetime.ts';
import type { JournalStore } from '../recovery/entries.ts';
import { type LossReport, lossText } from '../recovery/loss-report.ts';
import { Recovery } from '../recovery/recovery.ts';
import { type Job, Jobs } from '../session/jobs.ts';
import { Notices } from '../session/notices.ts';
import { enterAll, Queue } from '../session/queue.ts';
import { type ImageStatus, imageStatus } from '../session/status.ts';
import { endingOf, notBegun } from '../wire/ending.ts';
import { watch } from '../wire/limits.ts';
import type { Operations } from '../wire/operations.ts';
import { checkCanEnd, codeCaller, withinCompilation } from '../wire/origin.ts';
import type { Upcalls } from '../wire/upcalls.ts';

export interface SbclOptions extends LifetimeOptions {
  /** Milliseconds that a call may take. */
  limitMs: number;
  /** Files of the user's own to load into every new image. */
  startFiles: () => string[];
  /** Calls a tool for code in the image, which cannot call any when this is absent. */
  callTool?: Upcalls['callTool'];
  /** What is done about tools in the image; when absent it has no tools but those that code in it makes. */
  tools?: ImageTools;
  /** Where it is kept what built the image; when absent a lost one is not built again. */
  journal?: JournalStore;
}

/** Evaluations, and calls that only look, that run side by side. */
const PLACES = 8;
const LOOKING_PLACES = 32;
/** Milliseconds for the user's own start files, and for any load. */
const LOAD_LIMIT_MS = 600_000;
/** Milliseconds that calls have to clean up when the server ends. */
const LAST_CLEANUP_MS = 150;

const RUNS_CODE: ReadonlySet<string> = new Set(
  'evaluate macroexpand load-file load-source load-system run-tool'.split(' '),
);

export class SbclImage implements Image {
  readonly #options: SbclOptions;
  readonly #queue = new Queue(PLACES);
  readonly #lookers = new Queue(LOOKING_PLACES);
  /** What one compilation takes back must not be what another has just defined. */
  readonly #compilations = new Queue(1);
  /** Each restart tells of its own image. */
  readonly #restarts = new Queue(1);
  readonly jobs = new Jobs();
  readonly #recovery: Recovery;
  readonly #notices = new Notices();
  /** The process that loads the start files, which are a person's own. */
  #startsFrom: Child | undefined;
  readonly #lifetime: Lifetime;

  constructor(options: SbclOptions) {
    this.#options = options;
    this.#recovery = new Recovery(options.journal);
    this.#lifetime = new Lifetime(options, {
      upcalls: (child) => ({
        ...(options.callTool && { callTool: options.callTool }),
        registerTool: (definition, registration) => this.#register(child, definition, registration),
        tell: (message) => this.#recovery.tell(message, this.#lifetime.isPrepared(child)),
      }),
      prepare: (child) => this.#prepare(child),
      lost: (how) => {
        options.tools?.clear();
        if (this.#recovery.lost(how)) this.start();
      },
    });
  }

  get running(): boolean {
    return this.#lifetime.running;
  }

  start(): void {
    this.#lifetime.ready().catch(() => {});
  }

  started(): Promise<void> {
    // Its tools come back with it.
    if (this.#recovery.wanted) this.start();
    return this.#lifetime.settled();
  }

  close(): void {
    this.#recovery.close();
    this.#lifetime.close();
  }

  /** Interrupts what runs, so that its cleanup forms do, and ends the image soon. */
  async end(): Promise<void> {
    await this.jobs.endAll(LAST_CLEANUP_MS);
    this.close();
  }

  status(): Promise<ImageStatus> {
    return imageStatus(this.#lifetime, this.jobs, this.#recovery);
  }

  get lastLoss(): LossReport | undefined {
    return this.#recovery.lastLoss;
  }

  get stake(): Stake {
    const { entries, held, on } = this.#recovery.journal;
    return { entries: entries.length, replay: on, values: held.variables, calls: this.jobs.list().length };
  }

  async restart(rebuild: RebuildFrom): Promise<string> {
    return this.#restarts.within(() => this.#restart(rebuild));
  }

  async #restart(rebuild: RebuildFrom): Promise<string> {
    await this.#lifetime.settled();
    this.#recovery.choose(rebuild);
    const child = this.#lifetime.child;
    if (child === undefined || child.dead) this.#recovery.lost('restart_image asked for a new one');
    else {
      child.kill('restart_image ended it');
      await child.ended;
    }
    if ((await this.#lifetime.ready()).dead) {
      throw new ImageError(
        'The new Lisp image ended as soon as it was there. Look at the start files, which it loads first.',
      );
    }
    // Else one that is restarted again and again would count as lost again and again.
    this.#recovery.used();
    // A call that waited can have been told before.
    return this.#recovery.takeText() ?? (this.lastLoss ? lossText(this.lastLoss) : '');
  }

  /** Returns the names of the abilities that this SBCL lacks; the agent does without them. */
  async missingAbilities(): Promise<string[]> {
    return (await (await this.#lifetime.ready()).greeting).without;
  }

  takeNotices(): string[] {
    this.#notices.addRaw(this.#lifetime.child?.takeRaw().trim() ?? '');
    for (const note of this.#recovery.journal.takeNotes()) this.#notices.add(note);
    return this.#notices.take();
  }

  async call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions = {},
  ): Promise<Reply<Name>> {
    checkCanEnd(name);
    const job = this.jobs.begin(name, args, options);
    let reply: Reply<Name> = notBegun(job);
    try {
      reply = await this.#callAs(job, name, args, options);
      return reply;
    } finally {
      this.jobs.end(job, reply);
    }
  }

  async #callAs<Name extends keyof Operations>(
    job: Job,
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions,
  ): Promise<Reply<Name>> {
    const caller = codeCaller();
    const queues = this.#queuesOf(name, caller !== undefined);
    const leave = await enterAll(queues, job.signal, (ahead) => {
      job.phase = { kind: 'queued', ahead };
    });
    if (leave === undefined) return notBegun(job);
    try {
      // Not how long it took to get here: a busy server is no queue.
      const waited = job.phase.kind === 'queued' && !queues.includes(this.#lookers);
      const waitedMs = waited ? job.milliseconds : undefined;
      job.phase = { kind: 'starting', building: () => this.#recovery.progress };
      const child = caller ?? (await unlessAborted(this.#lifetime.ready(), job.signal));
      if (child === undefined || job.signal.aborted) return notBegun(job);
      // One that a start file has ended is no image to tell of.
      if (caller === undefined && !child.dead) {
        this.#tellLoss();
        this.#recovery.used();
      }
      const reply = await this.#perform(child, job, name, args, options);
      if (caller === undefined && reply.ending.kind !== 'lost') this.#recovery.worked();
      return { ...reply, ...(waitedMs !== undefined && { waitedMs }) };
    } finally {
      leave();
    }
  }

  #queuesOf(name: string, byCode: boolean): Queue[] {
    // A compilation takes no place: one that had the turn could wait for those who wait for the turn.
    if (name === 'compile-forms') return withinCompilation() ? [] : [this.#compilations];
    // What code calls runs within a call that has a place, or for a thread, which is bounded elsewhere.
    if (byCode) return [];
    return [RUNS_CODE.has(name) ? this.#queue : this.#lookers];
  }

  async #perform<Name extends keyof Operations>(
    child: Child,
    job: Job,
    name: Name,
    args: object,
    options: CallOptions,
  ): Promise<Reply<Name>> {
    const began = performance.now();
    // What is done before calls use an image is done to every new one.
    const answered =
      this.#lifetime.isPrepared(child) &&
      this.#recovery.journal.watch(
        name,
        args,
        (entry, names) => void this.#recovery.note(child, entry, names),
      );
    const { id, answer } = child.request(name, args);
    job.phase = { kind: 'running', child, id };
    const message = await answer.finally(this.#watch(child, id, job, options.limitMs));
    const afterMs = performance.now() - began;
    const ending = endingOf(message, afterMs);
    if ('fault' in message) await child.fail(message['fault']);
    const output = message['output'] as Output | undefined;
    this.#notices.addBackground(message);
    if (options.signal?.aborted && codeCaller() === undefined)
      this.#notices.addCancelled(ending, afterMs, output);
    if (answered && ending.kind !== 'lost') answered(id, message, ending.kind === 'done');
    return {
      ending,
      ...(output && { output }),
      data: message as unknown as Operations[Name]['data'],
    };
  }

  #watch(child: Child, id: number, job: Job, limitMs: number | undefined): () => void {
    const limit = limitMs ?? (job.operation.startsWith('load-') ? LOAD_LIMIT_MS : this.#options.limitMs);
    const endable = child.job(id);
    const interrupt = (reason: Reason) => {
      job.stopping ??= { reason, at: performance.now() };
      endable.interrupt(reason);
    };
    return watch({ ...endable, interrupt }, limit, job.signal);
  }

  async #prepare(child: Child): Promise<boolean> {
    const { tools } = this.#options;
    if (tools !== undefined) child.tell('offer-tools', { tools: tools.offered() });
    this.#startsFrom = child;
    await this.#loadStartFiles(child);
    this.#startsFrom = undefined;
    return this.#recovery.prepare(child);
  }

  async #loadStartFiles(child: Child): Promise<void> {
    for (const file of this.#options.startFiles()) {
      const job = this.jobs.begin('load-source', { file }, {});
      const reply = await this.#perform(child, job, 'load-source', { file }, {});
      this.jobs.end(job, reply);
      if (reply.ending.kind !== 'done') this.#notices.addStartFile(file, reply.ending, reply.output);
    }
  }

  #register(child: Child, definition: unknown, registration: unknown): string {
    // What it registers once its start files are loaded is no longer what they do.
    const atStart = child === this.#startsFrom;
    const { name } = Object(definition) as { name?: unknown };
    const called = this.#options.tools?.register(definition, atStart, registration) ?? String(name);
    if (!atStart) this.#recovery.registeredTool(called, this.#lifetime.isPrepared(child));
    return called;
  }

  /** A loss is told with the first answer of the image that took its place. */
  #tellLoss(): void {
    const text = this.#recovery.takeText();
    if (text !== undefined) this.#notices.add(text);
  }
}

/** Returns what PROMISE gives, or undefined when SIGNAL aborts before; then nobody waits for it any more. */
async function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
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
