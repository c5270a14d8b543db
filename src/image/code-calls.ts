// Decides how tools that code in the image calls are run: how deep and how many at once, and that what nobody
// waits for any more is ended.

import { AsyncLocalStorage } from 'node:async_hooks';
import { CallError, messageOf } from '../errors.ts';
import type { Child } from './child.ts';
import { FRAME_LIMIT, type Message } from './wire.ts';

/** What became of a tool that code called: its data, or the text of its failure. */
export type ToolAnswer = { value: unknown } | { failure: string };

/** Calls a tool for code. Null as an argument stands for NIL. */
export type CallTool = (
  tool: string,
  args: { [name: string]: unknown },
  signal: AbortSignal,
) => Promise<ToolAnswer>;

/** How deep calls can be nested, so that code that calls itself for ever ends. */
const LEVELS = 16;
/** How many calls of threads that work for no call can be under way; on which level those are is not known. */
const THREAD_CALLS = 256;
/** How deep data may be nested: the agent's stack is bounded. */
const DEPTH = 100;

/** The process whose code asked for what runs now, and on which level. */
const caller = new AsyncLocalStorage<{ child: Child; level: number }>();

/** Returns the process whose code asked for what runs now, or undefined when a client did. */
export function codeCaller(): Child | undefined {
  return caller.getStore()?.child;
}

/** The tool calls of one process. */
export class CodeCalls {
  readonly #child: Child;
  readonly #callTool: CallTool | undefined;
  /** The levels of the jobs that run for such calls, by their ids. */
  readonly #levels = new Map<number, number>();
  readonly #running = new Map<number, { job: number | undefined; controller: AbortController }>();

  constructor(child: Child, callTool: CallTool | undefined) {
    this.#child = child;
    this.#callTool = callTool;
  }

  /** Takes MESSAGE of the agent: a call, or that nobody waits for one any more. */
  take(message: Message): void {
    const number = Number(message['call']);
    if (message['left'] === true) {
      this.#running.get(number)?.controller.abort();
      return;
    }
    const job = message['job'] as number | undefined;
    const controller = new AbortController();
    this.#running.set(number, { job, controller });
    const { tool, args } = message as { tool: string; args: { [name: string]: unknown } };
    void this.#perform(job, tool, args, controller.signal).then((answer) => {
      this.#running.delete(number);
      if (!controller.signal.aborted) this.#answer(number, answer);
    });
  }

  /** Remembers on which level the job ID runs, which begins now. */
  jobBegan(id: number): void {
    const level = caller.getStore()?.level;
    if (level !== undefined) this.#levels.set(id, level);
  }

  /** Ends the calls that the job ID made, which has ended. */
  jobEnded(id: number): void {
    this.#levels.delete(id);
    for (const { job, controller } of this.#running.values()) if (job === id) controller.abort();
  }

  /** Ends all calls, because the process has ended. */
  endAll(): void {
    this.#levels.clear();
    for (const { controller } of this.#running.values()) controller.abort();
  }

  async #perform(
    job: number | undefined,
    tool: string,
    args: { [name: string]: unknown },
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const level = 1 + (job === undefined ? 0 : (this.#levels.get(job) ?? 0));
    if (level > LEVELS) return { failure: `Code can nest tool calls ${LEVELS} levels deep, not deeper.` };
    const fromThreads = [...this.#running.values()].filter((each) => each.job === undefined).length;
    if (job === undefined && fromThreads > THREAD_CALLS) {
      return { failure: `Other threads can have ${THREAD_CALLS} tool calls under way, not more.` };
    }
    const callTool = this.#callTool;
    if (callTool === undefined) return { failure: 'There are no tools to call.' };
    try {
      return await caller.run({ child: this.#child, level }, () => callTool(tool, args, signal));
    } catch (error) {
      return { failure: messageOf(error) };
    }
  }

  #answer(call: number, answer: ToolAnswer): void {
    const refuse = (why: string) =>
      this.#child.request('called', { call, failure: `Its data cannot be passed to the image: ${why}.` });
    if (isDeeper(answer, DEPTH)) {
      refuse(`they are nested more than ${DEPTH} levels deep`);
      return;
    }
    try {
      this.#child.request('called', { call, ...answer });
    } catch (error) {
      const large = error instanceof CallError;
      refuse(large ? `they take more than ${FRAME_LIMIT} octets on the wire` : messageOf(error));
    }
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels < 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
