// Handles the tool calls, and the registrations of tools, that code in the image requests. Limits how deep they are
// nested and how many run. Aborts a call when the code no longer waits for it.

import { CallError, messageOf } from '../../errors.ts';
import { isDeeper } from '../../json.ts';
import { DEPTH_LIMIT, FRAME_LIMIT } from './frames.ts';
import type { JobReport, Upcall } from './messages.ts';
import type { ToolAnswer } from './operations.ts';
import { enclosingOperations, runFor } from './origin.ts';
import type { Peer } from './peer.ts';

/** The handlers for the requests that an image can send to the server. */
export interface Upcalls {
  /** Calls `tool` with `args` for code in the image. Resolves with the data of the tool or, if `asText` is true, with
   * the text for a model. An argument that is null means NIL. `home` is the package of the code; undefined for
   * CL-USER. */
  callTool?: (
    tool: string,
    args: { [name: string]: unknown },
    signal: AbortSignal,
    how: { asText: boolean; home: string | undefined },
  ) => Promise<ToolAnswer>;
  /** Registers the tool that `definition`, an unchecked value, describes, and returns its name for clients.
   * `registration` is the key by which the image finds the tool's handler. Throws a CallError with the reason when the
   * tool is refused. */
  registerTool?: (definition: unknown, registration: unknown) => string;
  /** Called with a report about a job: how a form changed the image, or which form a replay has reached. */
  report?: (report: JobReport) => void;
  /** Called with the details of an error in the backend's own code: what the backend did, the error and its frames. */
  failed?: (report: string) => void;
}

/** Maximum depth of calls within calls: code that a tool runs can call a tool, and so on. It stops endless
 * recursion. */
const MAX_LEVELS = 16;
/** Maximum number of running tool calls from threads that belong to no call of the server. MAX_LEVELS cannot stop
 * their recursion, because it is unknown which calls they are within. */
const MAX_THREAD_CALLS = 256;
const MAX_CALLS = 1000;
/** Maximum number of characters, as JSON, of the arguments of all running calls together. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** While the image has more than this many octets still to read, each answer is replaced by a short failure. The call
 * was performed nevertheless. */
const UNREAD_LIMIT = 128 * 1024 * 1024;
/** The value of #operations for a tool call whose thread belongs to no call of the server. */
const THREAD = ['thread'];

export class CodeCalls {
  readonly #peer: Peer;
  readonly #upcalls: Upcalls;
  /** Maps the id of a job to the names of operations: last the one that the job performs, and before it those whose
   * code called the tool that needs the job. */
  readonly #jobs = new Map<number, readonly string[]>();
  readonly #running = new Map<
    number,
    { job: number | undefined; characters: number; controller: AbortController }
  >();
  #fromThreads = 0;
  #characters = 0;
  readonly #unread: () => number;

  /** PEER is the image whose code makes the calls. UPCALLS has the functions that perform them. UNREAD returns the
   * number of octets that PEER has still to read. */
  constructor(peer: Peer, upcalls: Upcalls, unread = () => 0) {
    this.#peer = peer;
    this.#upcalls = upcalls;
    this.#unread = unread;
  }

  /** Handles UPCALL: a tool call, a registration, or a message that the code no longer waits for a call. */
  handle(upcall: Upcall): void {
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
    this.#adjustCounts(upcall.job, characters, 1);
    this.#running.set(call, { job: upcall.job, characters, controller });
    void this.#perform(upcall, controller.signal).then((answer) => {
      this.#running.delete(call);
      this.#adjustCounts(upcall.job, characters, -1);
      if (!controller.signal.aborted) this.#answer(call, answer);
    });
  }

  #adjustCounts(job: number | undefined, characters: number, sign: 1 | -1): void {
    this.#characters += sign * characters;
    if (job === undefined) this.#fromThreads += sign;
  }

  /** Records that job ID begins to perform OPERATION. The caller runs within runFor when code requested the job. */
  jobBegan(id: number, operation: string): void {
    this.#jobs.set(id, [...(enclosingOperations() ?? []), operation]);
  }

  jobEnded(id: number): void {
    this.#jobs.delete(id);
    for (const { job, controller } of this.#running.values()) if (job === id) controller.abort();
  }

  endAll(): void {
    this.#jobs.clear();
    for (const { controller } of this.#running.values()) controller.abort();
  }

  /** Registers the tool of DEFINITION. Without `registerTool`, nothing is registered, and the answer is the tool's own
   * name. */
  #register(definition: unknown, registration: unknown): ToolAnswer {
    const { registerTool } = this.#upcalls;
    try {
      return { value: registerTool?.(definition, registration) ?? String(Object(definition).name) };
    } catch (error) {
      return { failure: messageOf(error) };
    }
  }

  /** Returns the reason why a tool call is refused; undefined when it is allowed. CHARACTERS is the length of its
   * arguments as JSON. */
  #refusal({ call, job }: Upcall & { kind: 'call' }, characters: number): string | undefined {
    if (this.#running.has(call)) return `A tool call with the number ${call} is already under way.`;
    if (this.#operations(job).length > MAX_LEVELS)
      return `Code can nest tool calls at most ${MAX_LEVELS} levels deep.`;
    if (job === undefined && this.#fromThreads >= MAX_THREAD_CALLS)
      return `Background threads can run at most ${MAX_THREAD_CALLS} tool calls at a time.`;
    if (this.#running.size >= MAX_CALLS) return `Code can run at most ${MAX_CALLS} tool calls at a time.`;
    if (this.#characters + characters > MAX_CHARACTERS)
      return `The arguments of all running tool calls can have at most ${MAX_CHARACTERS} characters together.`;
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
      this.#peer.notify('called', { call, failure: `Its result cannot be passed to the image: ${why}.` });
    if (this.#unread() > UNREAD_LIMIT) {
      refuse(`${UNREAD_LIMIT} octets of earlier answers are still unread`);
      return;
    }
    try {
      this.#peer.notify('called', { call, ...answer });
    } catch (error) {
      if (isDeeper(answer, DEPTH_LIMIT)) refuse(`it is nested more than ${DEPTH_LIMIT} levels deep`);
      else if (error instanceof CallError) refuse(`it takes more than ${FRAME_LIMIT} octets on the wire`);
      else refuse(messageOf(error));
    }
  }
}
