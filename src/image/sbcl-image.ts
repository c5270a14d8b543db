// Decides how our own SBCL serves calls: which wait, when they are interrupted, what is told with their answers.

import type { Child } from './child.ts';
import type { Upcalls } from './code-calls.ts';
import { endingOf, notBegun } from './ending.ts';
import { History } from './history.ts';
import {
  type CallOptions,
  type Ending,
  type Image,
  type ImageTools,
  type Output,
  type Reply,
  wholeText,
} from './image.ts';
import { type Job, Jobs } from './jobs.ts';
import { Lifetime, type LifetimeOptions } from './lifetime.ts';
import { watch } from './limits.ts';
import type { Operations } from './operations.ts';
import { checkCanEnd, codeCaller, withinCompilation } from './origin.ts';
import { enterAll, Queue } from './queue.ts';
import { type ImageStatus, imageStatus } from './status.ts';
import type { Message } from './wire.ts';

export interface SbclOptions extends LifetimeOptions {
  /** Milliseconds that a call may take. */
  limitMs: number;
  /** Files of the user's own to load into every new image. */
  startFiles: () => string[];
  /** Calls a tool for code in the image, which cannot call any when this is absent. */
  callTool?: Upcalls['callTool'];
  /** What is done about tools in the image; when absent it has no tools but those that code in it makes. */
  tools?: ImageTools;
}

/** Evaluations that run side by side. */
const PLACES = 8;
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
  /** What one compilation takes back must not be what another has just defined. */
  readonly #compilations = new Queue(1);
  readonly #history = new History();
  readonly jobs = new Jobs();
  #notices: string[] = [];
  #losses: string[] = [];
  /** What was told of the last loss. */
  #lastLoss: string | undefined;
  readonly #lifetime: Lifetime;

  constructor(options: SbclOptions) {
    this.#options = options;
    this.#lifetime = new Lifetime(options, {
      upcalls: (child) => ({
        ...(options.callTool && { callTool: options.callTool }),
        registerTool: (definition, registration) => this.#register(child, definition, registration),
      }),
      prepare: (child) => this.#prepare(child),
      lost: (how) => {
        options.tools?.clear();
        this.#losses.push(how);
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
    return this.#lifetime.settled();
  }

  close(): void {
    this.#lifetime.close();
  }

  /** Interrupts what runs, so that its cleanup forms do, and ends the image soon. */
  async end(): Promise<void> {
    await this.jobs.endAll(LAST_CLEANUP_MS);
    this.close();
  }

  status(): Promise<ImageStatus> {
    return imageStatus(this.#lifetime, this.jobs, { untold: this.#losses, last: this.#lastLoss });
  }

  /** Returns the names of the abilities that this SBCL lacks; the agent does without them. */
  async missingAbilities(): Promise<string[]> {
    return (await (await this.#lifetime.ready()).greeting).without;
  }

  takeNotices(): string[] {
    const raw = this.#lifetime.child?.takeRaw().trim();
    if (raw) this.#notices.push(`Written to the image's own stdout or stderr:\n${raw}`);
    return this.#notices.splice(0);
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
      const waitedMs = job.phase.kind === 'queued' ? job.milliseconds : undefined;
      job.phase = { kind: 'starting' };
      const child = caller ?? (await unlessAborted(this.#lifetime.ready(), job.signal));
      if (child === undefined || job.signal.aborted) return notBegun(job);
      if (caller === undefined) this.#tellLoss();
      const reply = await this.#perform(child, job, name, args, options);
      return { ...reply, ...(waitedMs !== undefined && { waitedMs }) };
    } finally {
      leave();
    }
  }

  #queuesOf(name: string, byCode: boolean): Queue[] {
    // A compilation takes no place: one that had the turn could wait for those who wait for the turn.
    if (name === 'compile-forms') return withinCompilation() ? [] : [this.#compilations];
    // What code calls runs within a call that has a place, or for a thread, which is bounded elsewhere.
    return RUNS_CODE.has(name) && !byCode ? [this.#queue] : [];
  }

  async #perform<Name extends keyof Operations>(
    child: Child,
    job: Job,
    name: Name,
    args: object,
    options: CallOptions,
  ): Promise<Reply<Name>> {
    const began = performance.now();
    const { id, answer } = child.request(name, args);
    job.phase = { kind: 'running', child, id };
    const message = await answer.finally(this.#watch(child, id, job, options.limitMs));
    const afterMs = performance.now() - began;
    const ending = endingOf(message, afterMs);
    const output = message['output'] as Output | undefined;
    this.#note(message);
    if (options.signal?.aborted && codeCaller() === undefined) this.#noteCancelled(ending, afterMs, output);
    this.#remember(name, message);
    return {
      ending,
      ...(output && { output }),
      data: message as unknown as Operations[Name]['data'],
    };
  }

  #watch(child: Child, id: number, job: Job, limitMs: number | undefined): () => void {
    const limit = limitMs ?? (job.operation.startsWith('load-') ? LOAD_LIMIT_MS : this.#options.limitMs);
    return watch(
      {
        interrupt: (reason) => {
          job.stopping ??= { reason, at: performance.now() };
          void child.request('interrupt', { job: id, reason });
        },
        terminate: () => void child.request('terminate', { job: id }),
        reacts: () => child.request('ping', {}).answer,
        kill: () => child.kill('a call could not be interrupted, so the image had to be replaced'),
      },
      limit,
      job.signal,
    );
  }

  #note(message: Message): void {
    const background = message['background'] as Output | undefined;
    if (background)
      this.#notices.push(`Written by other threads since the last answer:\n${wholeText(background)}`);
  }

  /** Nobody reads the answer of a cancelled call, so the next one tells what became of it. */
  #noteCancelled(ending: Ending, afterMs: number, output: Output | undefined): void {
    const stopped = ending.kind === 'interrupted';
    const how = stopped ? 'was interrupted' : 'had ended before it could be interrupted,';
    const where = stopped && ending.frames[0] ? ` It was at ${ending.frames[0]}.` : '';
    const wrote = output ? ` It had written:\n${wholeText(output)}` : ' It had written nothing.';
    this.#notices.push(
      `A call that the client cancelled ${how} after ${(afterMs / 1000).toFixed(1)} s.${where}${wrote}`,
    );
  }

  #remember(name: string, message: Message): void {
    if ('lost' in message) return;
    const value = message['value'] as { file?: string; loaded?: string[] } | undefined;
    if (name === 'evaluate') this.#history.evaluated();
    if (name === 'load-file' && value?.file) this.#history.loadedFile(value.file);
    for (const system of value?.loaded ?? []) this.#history.loadedSystem(system);
  }

  async #prepare(child: Child): Promise<void> {
    const { tools } = this.#options;
    if (tools !== undefined) child.request('offer-tools', { tools: tools.offered() });
    await this.#loadStartFiles(child);
  }

  async #loadStartFiles(child: Child): Promise<void> {
    for (const file of this.#options.startFiles()) {
      const job = this.jobs.begin('load-source', { file }, {});
      const reply = await this.#perform(child, job, 'load-source', { file }, {});
      this.jobs.end(job, reply);
      const { ending, output } = reply;
      if (ending.kind === 'done') continue;
      const why = ending.kind === 'condition' ? ending.condition.text : ending.kind;
      this.#notices.push(
        `The start file ${file} was not loaded to its end: ${why}${output ? `\n${wholeText(output)}` : ''}`,
      );
    }
  }

  #register(child: Child, definition: unknown, registration: unknown): string {
    // What it registers once its start files are loaded is no longer what they do.
    const atStart = !this.#lifetime.isPrepared(child);
    const { name } = Object(definition) as { name?: unknown };
    const called = this.#options.tools?.register(definition, atStart, registration) ?? String(name);
    if (!atStart) this.#history.registeredTool(called);
    return called;
  }

  /** A loss is told with the first answer of the image that took its place. */
  #tellLoss(): void {
    if (this.#losses.length === 0) return;
    this.#lastLoss = `The one before was lost: ${this.#losses.join('; then ')}. ${this.#history.lose()}`;
    this.#notices.push(this.#lastLoss.replace(/^The/, 'This is a new Lisp image; the'));
    this.#losses = [];
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
