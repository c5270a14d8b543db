// Decides how our own SBCL serves calls: which wait, when they are interrupted, what is told with their answers.

import type { Child } from './child.ts';
import { codeCaller, type Upcalls } from './code-calls.ts';
import { endingOf, notStarted } from './ending.ts';
import { History } from './history.ts';
import {
  type CallOptions,
  type Ending,
  type Image,
  type ImageTools,
  type Output,
  type Progress,
  type Reply,
  wholeText,
} from './image.ts';
import { Lifetime, type LifetimeOptions } from './lifetime.ts';
import { watch } from './limits.ts';
import { Notices } from './notices.ts';
import type { Operations } from './operations.ts';
import { enterAll, Queue } from './queue.ts';
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

/** Evaluations, and calls that only look, that run side by side. */
const PLACES = 8;
const LOOKING_PLACES = 32;
/** Of several images that were lost before anybody could be told, how many are told of. */
const LOSSES_TOLD = 5;
const PROGRESS_MS = 1000;
/** Milliseconds for the user's own start files, and for any load. */
const LOAD_LIMIT_MS = 600_000;

const RUNS_CODE: ReadonlySet<string> = new Set(
  'evaluate macroexpand compile-forms load-file load-source load-system run-tool'.split(' '),
);

export class SbclImage implements Image {
  readonly #options: SbclOptions;
  readonly #queue = new Queue(PLACES);
  readonly #lookers = new Queue(LOOKING_PLACES);
  /** What one compilation takes back must not be what another has just defined. */
  readonly #compilations = new Queue(1);
  readonly #history = new History();
  readonly #notices = new Notices();
  #losses: string[] = [];
  readonly #lifetime: Lifetime;

  constructor(options: SbclOptions) {
    this.#options = options;
    this.#lifetime = new Lifetime(options, {
      upcalls: (child) => ({
        ...(options.callTool && { callTool: options.callTool }),
        registerTool: (definition) => this.#register(child, definition),
      }),
      prepare: (child) => this.#prepare(child),
      lost: (how) => {
        options.tools?.clear();
        this.#losses = [...this.#losses, how].slice(-LOSSES_TOLD);
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

  /** Returns the names of the abilities that this SBCL lacks; the agent does without them. */
  async missingAbilities(): Promise<string[]> {
    return (await (await this.#lifetime.ready()).greeting).without;
  }

  takeNotices(): string[] {
    const raw = this.#lifetime.child?.takeRaw().trim();
    if (raw) this.#notices.add(`Written to the image's own stdout or stderr:\n${raw}`);
    return this.#notices.take();
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
    try {
      const waitedMs = performance.now() - began;
      const child = caller ?? (await this.#lifetime.ready());
      if (caller === undefined) this.#tellLoss();
      if (options.signal?.aborted) return notStarted();
      return {
        ...(await this.#perform(child, name, args, options)),
        ...(RUNS_CODE.has(name) && { waitedMs }),
      };
    } finally {
      leave();
    }
  }

  #queuesOf(name: string, byCode: boolean): Queue[] {
    return [
      ...(name === 'compile-forms' ? [this.#compilations] : []),
      // What code calls runs within a call that has a place, or for a thread, which is bounded elsewhere.
      ...(byCode ? [] : [RUNS_CODE.has(name) ? this.#queue : this.#lookers]),
    ];
  }

  async #perform<Name extends keyof Operations>(
    child: Child,
    name: Name,
    args: object,
    options: CallOptions,
  ): Promise<Reply<Name>> {
    const began = performance.now();
    const { id, answer } = child.request(name, args);
    const message = await answer.finally(this.#watch(child, id, name, options));
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

  #watch(child: Child, id: number, name: string, { limitMs, signal, onProgress }: CallOptions): () => void {
    const limit = limitMs ?? (name.startsWith('load-') ? LOAD_LIMIT_MS : this.#options.limitMs);
    const unwatch = watch(
      {
        interrupt: (reason) => child.tell('interrupt', { job: id, reason }),
        terminate: () => child.tell('terminate', { job: id }),
        reacts: () => child.request('ping', {}).answer,
        kill: () => child.kill('a call could not be interrupted, so the image had to be replaced'),
      },
      limit,
      signal,
    );
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
      this.#notices.add(`Written by other threads since the last answer:\n${wholeText(background)}`);
  }

  /** Nobody reads the answer of a cancelled call, so the next one tells what became of it. */
  #noteCancelled(ending: Ending, afterMs: number, output: Output | undefined): void {
    const stopped = ending.kind === 'interrupted';
    const how = stopped ? 'was interrupted' : 'had ended before it could be interrupted,';
    const where = stopped && ending.frames[0] ? ` It was at ${ending.frames[0]}.` : '';
    const wrote = output ? ` It had written:\n${wholeText(output)}` : ' It had written nothing.';
    this.#notices.add(
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
    if (tools !== undefined) child.tell('offer-tools', { tools: tools.offered() });
    await this.#loadStartFiles(child);
  }

  async #loadStartFiles(child: Child): Promise<void> {
    for (const file of this.#options.startFiles()) {
      const { ending, output } = await this.#perform(child, 'load-source', { file }, {});
      if (ending.kind === 'done') continue;
      const why = ending.kind === 'condition' ? ending.condition.text : ending.kind;
      this.#notices.add(
        `The start file ${file} was not loaded to its end: ${why}${output ? `\n${wholeText(output)}` : ''}`,
      );
    }
  }

  #register(child: Child, definition: unknown): string {
    // What it registers once its start files are loaded is no longer what they do.
    const atStart = !this.#lifetime.isPrepared(child);
    const { name } = Object(definition) as { name?: unknown };
    const called = this.#options.tools?.register(definition, atStart) ?? String(name);
    if (!atStart) this.#history.registeredTool(called);
    return called;
  }

  /** A loss is told with the first answer of the image that took its place. */
  #tellLoss(): void {
    if (this.#losses.length === 0) return;
    this.#notices.add(
      `This is a new Lisp image; the one before was lost: ${this.#losses.join('; then ')}. ${this.#history.lose()}`,
    );
    this.#losses = [];
  }
}

const WAITING: Progress = { milliseconds: 0, characters: 0, waiting: true };
