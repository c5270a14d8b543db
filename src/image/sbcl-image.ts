// Decides how our own SBCL serves calls: started when needed, replaced when it died, its losses told once.

import { messageOf, SetupError } from '../errors.ts';
import { type AgentOptions, agentArguments, agentEnvironment, cacheUsable } from './agent.ts';
import { Child, type Death } from './child.ts';
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
import { frozenAfter, listenToHeart, watch } from './limits.ts';
import type { Operations } from './operations.ts';
import { enterAll, Queue } from './queue.ts';
import { findSbcl } from './sbcl.ts';
import type { Message } from './wire.ts';

export interface SbclOptions extends AgentOptions {
  /** The sbcl to start; the one on PATH when absent. */
  sbcl: string | undefined;
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
const PROGRESS_MS = 1000;
/** Milliseconds for the user's own start files, and for any load. */
const LOAD_LIMIT_MS = 600_000;
const START_LIMIT_MS = 60_000;

const RUNS_CODE: ReadonlySet<string> = new Set(
  'evaluate macroexpand compile-forms load-file load-source load-system run-tool'.split(' '),
);

export class SbclImage implements Image {
  readonly #options: SbclOptions;
  readonly #queue = new Queue(PLACES);
  /** What one compilation takes back must not be what another has just defined. */
  readonly #compilations = new Queue(1);
  readonly #history = new History();
  #notices: string[] = [];
  #losses: string[] = [];
  #current: Promise<Child> | undefined;
  #child: Child | undefined;
  /** The one whose start files are loaded: what it registers now is no longer what they do. */
  #started: Child | undefined;
  #closed = false;

  constructor(options: SbclOptions) {
    this.#options = options;
  }

  get running(): boolean {
    return this.#current !== undefined;
  }

  start(): void {
    this.#ready().catch(() => {});
  }

  async started(): Promise<void> {
    await this.#current?.catch(() => {});
  }

  close(): void {
    this.#closed = true;
    this.#child?.kill('the server ended');
  }

  /** Returns the names of the abilities that this SBCL lacks; the agent does without them. */
  async missingAbilities(): Promise<string[]> {
    return (await (await this.#ready()).greeting).without;
  }

  takeNotices(): string[] {
    const raw = this.#child?.takeRaw().trim();
    if (raw) this.#notices.push(`Written to the image's own stdout or stderr:\n${raw}`);
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
    try {
      const waitedMs = performance.now() - began;
      const child = caller ?? (await this.#ready());
      if (caller === undefined) this.#tellLoss();
      if (options.signal?.aborted) return notStarted();
      return { ...(await this.#perform(child, name, args, options)), ...(queues.length > 0 && { waitedMs }) };
    } finally {
      leave();
    }
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
    const { id, answer } = child.request(name, args);
    const message = await answer.finally(this.#watch(child, id, name, options));
    const afterMs = performance.now() - began;
    const ending = endingOf(message, afterMs);
    if ('fault' in message) await child.fail(String(message['fault']));
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
        interrupt: (reason) => void child.request('interrupt', { job: id, reason }),
        terminate: () => void child.request('terminate', { job: id }),
        reacts: () => child.askWritten(id),
        collecting: child.collector(),
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

  /** Returns a child that has greeted and loaded the user's start files, starting one when there is none. */
  #ready(): Promise<Child> {
    if (this.#closed) return Promise.reject(new SetupError('The server is ending.'));
    this.#current ??= this.#startChild().catch((error: unknown) => {
      this.#current = undefined;
      throw error;
    });
    return this.#current;
  }

  async #startChild(): Promise<Child> {
    const sbcl = findSbcl(this.#options.sbcl);
    const cached = cacheUsable(this.#options.cacheFolder);
    // A cached fasl that does not load ends the process, so the second try is from source.
    const child = await this.#spawn(sbcl, cached).catch((error: unknown) => {
      if (!cached) throw error;
      return this.#spawn(sbcl, false);
    });
    this.#child = child;
    const stopListening = listenToHeart(
      {
        busy: () => child.busy,
        ping: () => child.request('ping', {}).answer,
        collecting: child.collector(),
        kill: () => child.kill('it was frozen: it did not react any more'),
      },
      frozenAfter(this.#options.heapMb),
    );
    void child.ended.then((death) => {
      stopListening();
      this.#lost(child, death);
    });
    const { tools } = this.#options;
    if (tools !== undefined) child.request('offer-tools', { tools: tools.offered() });
    await this.#loadStartFiles(child);
    this.#started = child;
    return child;
  }

  async #spawn(sbcl: string, cached: boolean): Promise<Child> {
    const { root, callTool } = this.#options;
    const child: Child = new Child(
      sbcl,
      agentArguments(this.#options, cached),
      root,
      agentEnvironment(this.#options),
      {
        ...(callTool && { callTool }),
        registerTool: (definition) => this.#register(child, definition),
      },
    );
    this.#child = child;
    const timer = setTimeout(() => child.kill('it did not greet in time'), START_LIMIT_MS);
    try {
      await child.greeting;
      return child;
    } catch (error) {
      child.takeRaw(); // The error's message has it.
      throw new SetupError(
        `The Lisp image did not start: ${messageOf(error)}. Run live-lisp doctor to find the step that fails.`,
      );
    } finally {
      clearTimeout(timer);
    }
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
    const atStart = child !== this.#started;
    const { name } = Object(definition) as { name?: unknown };
    const called = this.#options.tools?.register(definition, atStart) ?? String(name);
    if (!atStart) this.#history.registeredTool(called);
    return called;
  }

  #lost(child: Child, { lost }: Death): void {
    if (this.#child !== child || this.#closed) return;
    this.#current = undefined;
    this.#options.tools?.clear();
    this.#losses.push(lost);
  }

  /** A loss is told with the first answer of the image that took its place. */
  #tellLoss(): void {
    if (this.#losses.length === 0) return;
    this.#notices.push(
      `This is a new Lisp image; the one before was lost: ${this.#losses.join('; then ')}. ${this.#history.lose()}`,
    );
    this.#losses = [];
  }
}

const WAITING: Progress = { milliseconds: 0, characters: 0, waiting: true };
