// Decides how tools that code in the image calls or registers are dealt with: how deep and how many calls run at
// once, and that what nobody waits for any more is ended.

import { AsyncLocalStorage } from 'node:async_hooks';
import { CallError, messageOf } from '../errors.ts';
import type { Child } from './child.ts';
import { FRAME_LIMIT, type Message } from './wire.ts';

/** What became of a tool that code called: its data, or the text of its failure, and whether a human could allow it. */
export type ToolAnswer = { value: unknown } | { failure: string; needsApproval?: boolean };

/** What the image can ask of the server. */
export interface Upcalls {
  /** Calls a tool for code, for its data or, with AS_TEXT, what a model would read. Null as an argument stands
   *  for NIL. */
  callTool?: (
    tool: string,
    args: { [name: string]: unknown },
    signal: AbortSignal,
    asText: boolean,
  ) => Promise<ToolAnswer>;
  /** Makes the tool that DEFINITION, not checked yet, describes one that can be called, and returns how clients call
   *  it. Throws a CallError that says why it refuses. */
  registerTool?: (definition: unknown) => string;
}

/** How deep calls can be nested, so that code that calls itself for ever ends. */
const LEVELS = 16;
/** How many calls of threads that work for no call can be under way; on which level those are is not known. */
const THREAD_CALLS = 256;
/** How many calls can be under way in all. */
const CALLS = 1000;
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
  readonly #upcalls: Upcalls;
  /** The levels of the jobs that run for such calls, by their ids. */
  readonly #levels = new Map<number, number>();
  readonly #running = new Map<number, { job: number | undefined; controller: AbortController }>();

  constructor(child: Child, upcalls: Upcalls) {
    this.#child = child;
    this.#upcalls = upcalls;
  }

  /** Takes MESSAGE of the agent: a call, a tool to register, or that nobody waits for an answer any more. */
  take(message: Message): void {
    const number = Number(message['call']);
    if (message['left'] === true) {
      this.#running.get(number)?.controller.abort();
      return;
    }
    if ('register' in message) {
      this.#answer(number, this.#register(message['register']));
      return;
    }
    const job = message['job'] as number | undefined;
    const controller = new AbortController();
    this.#running.set(number, { job, controller });
    void this.#perform(job, message, controller.signal).then((answer) => {
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

  #register(definition: unknown): ToolAnswer {
    const { registerTool } = this.#upcalls;
    try {
      return { value: registerTool?.(definition) ?? String(Object(definition).name) };
    } catch (error) {
      return { failure: messageOf(error) };
    }
  }

  async #perform(job: number | undefined, message: Message, signal: AbortSignal): Promise<ToolAnswer> {
    const { tool, args, text } = message as {
      tool: string;
      args: { [name: string]: unknown };
      text?: boolean;
    };
    const level = 1 + (job === undefined ? 0 : (this.#levels.get(job) ?? 0));
    if (level > LEVELS) return { failure: `Code can nest tool calls ${LEVELS} levels deep, not deeper.` };
    const fromThreads = [...this.#running.values()].filter((each) => each.job === undefined).length;
    if (job === undefined && fromThreads > THREAD_CALLS) {
      return { failure: `Other threads can have ${THREAD_CALLS} tool calls under way, not more.` };
    }
    if (this.#running.size > CALLS) {
      return { failure: `Code can have ${CALLS} tool calls under way, not more.` };
    }
    const { callTool } = this.#upcalls;
    if (callTool === undefined) return { failure: 'There are no tools to call.' };
    try {
      return await caller.run({ child: this.#child, level }, () =>
        callTool(tool, args, signal, text === true),
      );
    } catch (error) {
      return { failure: messageOf(error) };
    }
  }

  #answer(call: number, answer: ToolAnswer): void {
    const refuse = (why: string) =>
      this.#child.tell('called', { call, failure: `Its data cannot be passed to the image: ${why}.` });
    if (isDeeper(answer, DEPTH)) {
      refuse(`they are nested more than ${DEPTH} levels deep`);
      return;
    }
    try {
      this.#child.tell('called', { call, ...answer });
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
