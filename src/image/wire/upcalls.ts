// Decides how tools that code in the image calls or registers are dealt with. It bounds how deep calls nest and how
// many run at once, and ends what nobody waits for any more.

import { CallError, messageOf } from '../../errors.ts';
import { DEPTH_LIMIT, FRAME_LIMIT, isDeeper } from './frames.ts';
import type { Told, Upcall } from './messages.ts';
import type { ToolAnswer } from './operations.ts';
import { operationsAround, runFor } from './origin.ts';
import type { Peer } from './peer.ts';

/** What the image can ask of the server. */
export interface Upcalls {
  /** Calls a tool for code, for its data or, with AS_TEXT, what a model would read. Null as an argument stands
   *  for NIL. HOME is the package of the code, unless that is CL-USER. */
  callTool?: (
    tool: string,
    args: { [name: string]: unknown },
    signal: AbortSignal,
    how: { asText: boolean; home: string | undefined },
  ) => Promise<ToolAnswer>;
  /** Makes the tool that DEFINITION, not checked yet, describes one that can be called, and returns how clients call it.
   *  The image knows its handler by REGISTRATION. Throws a CallError that says why it refuses. */
  registerTool?: (definition: unknown, registration: unknown) => string;
  /** Takes TOLD, which tells how a form changed the image, or which form is evaluated again. */
  tell?: (told: Told) => void;
}

/** How deep calls can be nested, so that code that calls itself for ever ends. */
const LEVELS = 16;
/** How many calls of threads that work for no call can be under way; on which level those are is not known. */
const THREAD_CALLS = 256;
/** How many calls can be under way in all, and characters that their arguments can take as JSON. */
const CALLS = 1000;
const CHARACTERS = 64 * 1024 * 1024;
/** Octets of answers that the image has not read, above which no further one is sent. */
const UNREAD = 128 * 1024 * 1024;
/** Stands for the operation of a thread that works for none. */
const THREAD = ['thread'];

/** The tool calls of one peer. */
export class CodeCalls {
  readonly #peer: Peer;
  readonly #upcalls: Upcalls;
  /** The operations of which jobs are part, by their ids, the own one last. */
  readonly #jobs = new Map<number, readonly string[]>();
  readonly #running = new Map<
    number,
    { job: number | undefined; characters: number; controller: AbortController }
  >();
  /** How many of those are of threads that work for no call, and the characters of all. */
  #fromThreads = 0;
  #characters = 0;
  readonly #unread: () => number;

  /** UNREAD returns how many octets PEER has not read yet. */
  constructor(peer: Peer, upcalls: Upcalls, unread = () => 0) {
    this.#peer = peer;
    this.#upcalls = upcalls;
    this.#unread = unread;
  }

  /** Takes UPCALL: a call, a tool to register, or that nobody waits for an answer any more. */
  take(upcall: Upcall): void {
    const { call } = upcall;
    if (upcall.kind === 'left') {
      this.#running.get(call)?.controller.abort();
      return;
    }
    if (upcall.kind === 'register') {
      this.#answer(call, this.#register(upcall.definition, upcall.registration));
      return;
    }
    const characters = JSON.stringify(upcall.args).length;
    const refusal = this.#refusal(upcall, characters);
    if (refusal !== undefined) {
      this.#answer(call, { failure: refusal });
      return;
    }
    const controller = new AbortController();
    this.#count(upcall.job, characters, 1);
    this.#running.set(call, { job: upcall.job, characters, controller });
    void this.#perform(upcall, controller.signal).then((answer) => {
      this.#running.delete(call);
      this.#count(upcall.job, characters, -1);
      if (!controller.signal.aborted) this.#answer(call, answer);
    });
  }

  #count(job: number | undefined, characters: number, sign: 1 | -1): void {
    this.#characters += sign * characters;
    if (job === undefined) this.#fromThreads += sign;
  }

  /** Remembers within what the job ID runs, which begins now to do OPERATION. */
  jobBegan(id: number, operation: string): void {
    this.#jobs.set(id, [...(operationsAround() ?? []), operation]);
  }

  /** Ends the calls that the job ID made, which has ended. */
  jobEnded(id: number): void {
    this.#jobs.delete(id);
    for (const { job, controller } of this.#running.values()) if (job === id) controller.abort();
  }

  /** Ends all calls, because the process has ended. */
  endAll(): void {
    this.#jobs.clear();
    for (const { controller } of this.#running.values()) controller.abort();
  }

  #register(definition: unknown, registration: unknown): ToolAnswer {
    const { registerTool } = this.#upcalls;
    try {
      return { value: registerTool?.(definition, registration) ?? String(Object(definition).name) };
    } catch (error) {
      return { failure: messageOf(error) };
    }
  }

  /** Returns why UPCALL, whose arguments have that many CHARACTERS, is not performed, if it is not. */
  #refusal({ call, job }: Upcall & { kind: 'call' }, characters: number): string | undefined {
    if (this.#running.has(call)) return `There is a tool call with the number ${call} under way.`;
    if (this.#operations(job).length > LEVELS)
      return `Code can nest tool calls ${LEVELS} levels deep, not deeper.`;
    if (job === undefined && this.#fromThreads >= THREAD_CALLS)
      return `Other threads can have ${THREAD_CALLS} tool calls under way, not more.`;
    if (this.#running.size >= CALLS) return `Code can have ${CALLS} tool calls under way, not more.`;
    if (this.#characters + characters > CHARACTERS)
      return `The arguments of tool calls that are under way can take ${CHARACTERS} characters together, not more.`;
    if (this.#upcalls.callTool === undefined) return 'There are no tools to call.';
    return undefined;
  }

  #operations(job: number | undefined): readonly string[] {
    return (job !== undefined && this.#jobs.get(job)) || THREAD;
  }

  async #perform(upcall: Upcall & { kind: 'call' }, signal: AbortSignal): Promise<ToolAnswer> {
    const { job, tool, args, asText, home } = upcall;
    const operations = this.#operations(job);
    const { callTool } = this.#upcalls;
    if (callTool === undefined) return { failure: 'There are no tools to call.' };
    try {
      return await runFor({ peer: this.#peer, operations, job }, () =>
        callTool(tool, args, signal, { asText, home }),
      );
    } catch (error) {
      return { failure: messageOf(error) };
    }
  }

  #answer(call: number, answer: ToolAnswer): void {
    const refuse = (why: string) =>
      this.#peer.tell('called', { call, failure: `Its data cannot be passed to the image: ${why}.` });
    if (this.#unread() > UNREAD) {
      refuse(`${UNREAD} octets of other answers were not read yet`);
      return;
    }
    try {
      this.#peer.tell('called', { call, ...answer });
    } catch (error) {
      if (isDeeper(answer, DEPTH_LIMIT)) refuse(`they are nested more than ${DEPTH_LIMIT} levels deep`);
      else if (error instanceof CallError) refuse(`they take more than ${FRAME_LIMIT} octets on the wire`);
      else refuse(messageOf(error));
    }
  }
}
