// Decides how our own SBCL serves calls: which wait, when they are interrupted, what is told with their answers.

import { ImageError } from '../errors.ts';
import type { Child } from './child.ts';
import { codeCaller, type Upcalls } from './code-calls.ts';
import { endingOf, notStarted } from './ending.ts';
import type { JournalStore } from './entries.ts';
import {
  type CallOptions,
  type Ending,
  type Image,
  type ImageTools,
  type Output,
  type Progress,
  type RebuildFrom,
  type Reply,
  type Stake,
  wholeText,
} from './image.ts';
import { Lifetime, type LifetimeOptions } from './lifetime.ts';
import { watch } from './limits.ts';
import type { LossReport } from './loss-report.ts';
import type { Operations } from './operations.ts';
import { enterAll, Queue } from './queue.ts';
import { Recovery } from './recovery.ts';
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
  /** Where it is kept what built the image; when absent a lost one is not built again. */
  journal?: JournalStore;
}

/** Evaluations that run side by side. */
const PLACES = 8;
const PROGRESS_MS = 1000;
/** Milliseconds for the user's own start files, and for any load. */
const LOAD_LIMIT_MS = 600_000;

const RUNS_CODE: ReadonlySet<string> = new Set(
  'evaluate macroexpand compile-forms load-file load-source load-system run-tool'.split(' '),
);

export class SbclImage implements Image {
  readonly #options: SbclOptions;
  readonly #queue = new Queue(PLACES);
  /** What one compilation takes back must not be what another has just defined. */
  readonly #compilations = new Queue(1);
  readonly #recovery: Recovery;
  #notices: string[] = [];
  /** How many calls run. */
  #calls = 0;
  /** The process that loads the start files, which are a person's own. */
  #startsFrom: Child | undefined;
  readonly #lifetime: Lifetime;

  constructor(options: SbclOptions) {
    this.#options = options;
    this.#recovery = new Recovery(options.journal);
    this.#lifetime = new Lifetime(options, {
      upcalls: (child) => ({
        ...(options.callTool && { callTool: options.callTool }),
        registerTool: (definition) => this.#register(child, definition),
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

  /** Returns the names of the abilities that this SBCL lacks; the agent does without them. */
  async missingAbilities(): Promise<string[]> {
    return (await (await this.#lifetime.ready()).greeting).without;
  }

  get lastLoss(): LossReport | undefined {
    return this.#recovery.lastLoss;
  }

  get stake(): Stake {
    const { entries, held, on } = this.#recovery.journal;
    return { entries: entries.length, replay: on, values: held.variables, calls: this.#calls };
  }

  async restart(rebuild: RebuildFrom): Promise<string> {
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
    return this.#recovery.takeText() ?? '';
  }

  takeNotices(): string[] {
    const raw = this.#lifetime.child?.takeRaw().trim();
    if (raw) this.#notices.push(`Written to the image's own stdout or stderr:\n${raw}`);
    this.#notices.push(...this.#recovery.journal.takeNotes());
    return this.#notices.splice(0);
  }

  async call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options: CallOptions = {},
  ): Promise<Reply<Name>> {
    const caller = codeCaller();
    const queues = this.#queuesOf(name, caller !== undefined);
    const began = performance.now();
    const leave = await enterAll(queues, options.signal, () => options.onProgress?.(WAITING));
    if (leave === undefined) return notStarted();
    this.#calls++;
    try {
      const waitedMs = performance.now() - began;
      const child = caller ?? (await this.#ready(options));
      // One that a start file has ended is no image to tell of.
      const counts = caller === undefined && !child.dead;
      if (counts) this.#tellLoss();
      if (options.signal?.aborted) return notStarted();
      if (counts) this.#recovery.used();
      return { ...(await this.#perform(child, name, args, options)), ...(queues.length > 0 && { waitedMs }) };
    } finally {
      this.#calls--;
      leave();
    }
  }

  /** Returns a process that is ready for calls; while a lost image is built again, OPTIONS are told how far that is. */
  async #ready({ onProgress }: CallOptions): Promise<Child> {
    const began = performance.now();
    const tell = () => {
      const building = this.#recovery.progress;
      if (building) onProgress?.({ milliseconds: performance.now() - began, characters: 0, building });
    };
    const timer = onProgress && setInterval(tell, PROGRESS_MS);
    return this.#lifetime.ready().finally(() => clearInterval(timer));
  }

  #queuesOf(name: string, byCode: boolean): Queue[] {
    return [
      ...(name === 'compile-forms' ? [this.#compilations] : []),
      // What code calls runs within a call that has a place, or for a thread, which is bounded elsewhere.
      ...(RUNS_CODE.has(name) && !byCode ? [this.#queue] : []),
    ];
  }

  async #perform<Name extends keyof Operations>(
    child: Child,
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
    const message = await answer.finally(this.#watch(child, id, name, options));
    const afterMs = performance.now() - began;
    const ending = endingOf(message, afterMs);
    const output = message['output'] as Output | undefined;
    this.#note(message);
    if (options.signal?.aborted && codeCaller() === undefined) this.#noteCancelled(ending, afterMs, output);
    if (answered && ending.kind !== 'lost') answered(id, message, ending.kind === 'done');
    return {
      ending,
      ...(output && { output }),
      data: message as unknown as Operations[Name]['data'],
    };
  }

  #watch(child: Child, id: number, name: string, { limitMs, signal, onProgress }: CallOptions): () => void {
    const limit = limitMs ?? (name.startsWith('load-') ? LOAD_LIMIT_MS : this.#options.limitMs);
    const unwatch = watch(child.job(id), limit, signal);
    const poll = async () => {
      const { answer } = child.request('progress', { job: id });
      const progress = (await answer)['value'] as Progress | null | undefined;
      if (progress) onProgress?.(progress);
    };
    const timer = onProgress && setInterval(() => void poll(), PROGRESS_MS);
    return () => {
      unwatch();
      clearInterval(timer);
    };
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

  async #prepare(child: Child): Promise<boolean> {
    const { tools } = this.#options;
    if (tools !== undefined) child.request('offer-tools', { tools: tools.offered() });
    this.#startsFrom = child;
    await this.#loadStartFiles(child);
    this.#startsFrom = undefined;
    return this.#recovery.prepare(child);
  }

  async #loadStartFiles(child: Child): Promise<void> {
    for (const file of this.#options.startFiles()) {
      const { ending, output } = await this.#perform(child, 'load-source', { file }, {});
      if (ending.kind === 'done') continue;
      const why = ending.kind === 'condition' ? ending.condition.text : ending.kind;
      this.#notices.push(
        `The start file ${file} was not loaded to its end: ${why}${output ? `\n${wholeText(output)}` : ''}`,
      );
    }
  }

  #register(child: Child, definition: unknown): string {
    // What it registers once its start files are loaded is no longer what they do.
    const atStart = child === this.#startsFrom;
    const { name } = Object(definition) as { name?: unknown };
    const called = this.#options.tools?.register(definition, atStart) ?? String(name);
    if (!atStart) this.#recovery.registeredTool(called, this.#lifetime.isPrepared(child));
    return called;
  }

  /** A loss is told with the first answer of the image that took its place. */
  #tellLoss(): void {
    const text = this.#recovery.takeText();
    if (text !== undefined) this.#notices.push(text);
  }
}

const WAITING: Progress = { milliseconds: 0, characters: 0, waiting: true };
