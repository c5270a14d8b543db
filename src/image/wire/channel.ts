// Sends requests over one connection to the backend, the Lisp side of live-lisp in an image, and assigns the answers to
// them. Does not notice when the connection is lost. The owner of the connection notices this and calls `close`, which
// answers all open requests.

import type { Duplex } from 'node:stream';
import { messageOf } from '../../errors.ts';
import type { FarPaths } from './far-paths.ts';
import { FRAME_LIMIT, FrameReader, PROTOCOL_VERSION, requestFrame } from './frames.ts';
import { type Answer, type BackendMessage, type Hello, readMessage, readOutput } from './messages.ts';
import type { BackendOperations, Output, TestPart } from './operations.ts';
import type { Peer } from './peer.ts';
import { CodeCalls, type Upcalls } from './upcalls.ts';

/** Functions that are called for events of the connection. */
export interface ChannelCallbacks {
  hello(hello: Hello): void;
  /** The image is about to exit, and the server has not requested this. */
  exiting(): void;
  /** Code in the image has stopped the backend. The image continues to run without it. */
  stopped(): void;
  /** No more messages can be exchanged. `how` is the reason; it continues the sentence "the image was lost". */
  broken(how: string): void;
  /** Called when the image has ended. Returns true when the request `id` had begun to run, and false when it had not;
   * undefined when this is unknown. */
  hasStarted?(id: number): boolean | undefined;
}

const MAX_PARTS = 50_000;
/** Maximum number of characters, as JSON, of the partial results of all requests together. */
const MAX_PARTS_CHARACTERS = FRAME_LIMIT;

/** Maximum number of reports about failures of a backend that the server writes to its log, and maximum number of
 * characters of each. */
const MAX_FAILURES = 20;
const MAX_FAILURE_CHARACTERS = 64_000;

/** When a chunk contains more messages than this, reading is paused once, so that other work can run. */
const MANY_MESSAGES = 32;

/** While more than this many octets wait to be sent to the backend, the server reads the backend's messages slowly.
 * Each of these can need an answer, which would have to wait too. */
const UNREAD_LIMIT = 1024 * 1024;
/** Milliseconds of each pause while the server reads slowly. The pause must end even if the backend has read nothing,
 * because the backend may have to write before it can read. */
const PAUSE_MS = 20;

export class Channel {
  readonly #stream: Duplex;
  readonly #callbacks: ChannelCallbacks;
  readonly #upcalls: Upcalls;
  readonly #paths: FarPaths | undefined;
  readonly #codeCalls: CodeCalls;
  readonly #reader = new FrameReader();
  readonly #pending = new Map<number, { name: string; resolve: (answer: Answer) => void }>();
  /** Maps the id of a pending request to its output, as the backend reported it last. */
  readonly #outputs = new Map<number, Output>();
  /** Maps the id of a pending request to its partial results. */
  readonly #parts = new Map<number, TestPart[]>();
  #partsCharacters = 0;
  #features: ReadonlySet<string> = new Set();
  #failures = 0;
  #nextId: number;
  #closeReason: string | undefined;

  /** Exchanges messages with PEER on STREAM. UPCALLS handles requests of code in the image. CALLBACKS are called for
   * events such as the backend's greeting. The first request gets the id FIRST_ID. PATHS converts the paths in
   * messages, if the image has another file system. */
  constructor(
    stream: Duplex,
    peer: Peer,
    upcalls: Upcalls,
    callbacks: ChannelCallbacks,
    { firstId = 1, paths }: { firstId?: number; paths?: FarPaths | undefined } = {},
  ) {
    this.#nextId = firstId;
    this.#paths = paths;
    this.#stream = stream;
    this.#callbacks = callbacks;
    this.#upcalls = upcalls;
    this.#codeCalls = new CodeCalls(peer, upcalls, () => stream.writableLength);
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    // An error without a listener would end the server. The owner notices the loss and calls `close`.
    stream.on('error', () => {});
  }

  get closed(): boolean {
    return this.#closeReason !== undefined;
  }

  get features(): ReadonlySet<string> {
    return this.#features;
  }

  get busy(): boolean {
    return this.#pending.size > 0;
  }

  /** The names of the operations whose requests wait for an answer. */
  get running(): string[] {
    return [...this.#pending.values()].map(({ name }) => name);
  }

  /** Requests the operation NAME with ARGS (see Peer). Returns the id of the request and a promise of the answer. After
   * `close`, sends nothing; the answer is then that the image was lost before the request began to run. If FOLLOW is
   * true, the server must fetch the output in parts with the operation `take-written`. When much output is waiting, the
   * job writes no more until then, so that no output is lost. */
  request<Name extends keyof BackendOperations>(
    name: Name,
    args: BackendOperations[Name]['args'],
    follow = false,
  ): { id: number; answer: Promise<Answer<Name>> } {
    const id = this.#nextId++;
    const frame = requestFrame(id, name, this.#paths?.request(name, args) ?? args, follow);
    const answer = new Promise<Answer<Name>>((resolve) => {
      // The cast is safe, because an answer with this id has the data of this operation.
      const settle = (received: Answer) => resolve(received as Answer<Name>);
      if (this.#closeReason === undefined) this.#pending.set(id, { name, resolve: settle });
      else settle(lostAnswer(this.#closeReason, false));
    });
    if (this.#closeReason === undefined) {
      this.#codeCalls.jobBegan(id, name);
      this.#stream.write(frame);
    }
    return { id, answer };
  }

  /** Requests the operation NAME with ARGS, and ignores the answer. After `close`, sends nothing. */
  notify<Name extends keyof BackendOperations>(name: Name, args: BackendOperations[Name]['args']): void {
    const frame = requestFrame(this.#nextId++, name, this.#paths?.request(name, args) ?? args);
    if (this.#closeReason === undefined) this.#stream.write(frame);
  }

  /** Asks the backend for the output of the request ID so far. If the image is lost before this request ends, the
   * answer to it will contain this output. Resolves when the backend has answered. */
  async requestOutput(id: number): Promise<void> {
    const { data } = await this.request('written', { job: id }).answer;
    this.#keepOutput(id, readOutput(data.value));
  }

  /** Answers all pending requests: the image was lost. HOW is the reason; it continues the sentence "the image was
   * lost". */
  close(how: string): void {
    this.#closeReason ??= how;
    for (const [id, { resolve }] of this.#pending) {
      // When this is unknown, the request may have had effects, so it counts as begun.
      const started = this.#callbacks.hasStarted?.(id) !== false;
      resolve(this.#withParts(id, lostAnswer(this.#closeReason, started, this.#outputs.get(id))));
    }
    this.#pending.clear();
    this.#outputs.clear();
    this.#parts.clear();
    this.#codeCalls.endAll();
    this.#stream.destroy();
  }

  #receive(chunk: Buffer): void {
    let count = 0;
    try {
      const messages = this.#reader.push(chunk);
      count = messages.length;
      for (const message of messages) {
        this.#dispatch(readMessage(this.#paths?.message(message) ?? message));
      }
    } catch (error) {
      this.#callbacks.broken(`its answers could not be understood (${messageOf(error)})`);
    }
    if (count > MANY_MESSAGES || this.#stream.writableLength > UNREAD_LIMIT) this.#pauseReading();
  }

  /** Pauses reading so that other work can run. Otherwise a backend that writes without end could block the server. */
  #pauseReading(): void {
    const stream = this.#stream;
    stream.pause();
    if (stream.writableLength > UNREAD_LIMIT) setTimeout(() => stream.resume(), PAUSE_MS);
    else setImmediate(() => stream.resume());
  }

  #dispatch(message: BackendMessage): void {
    switch (message.kind) {
      case 'hello':
        this.#greeted(message);
        break;
      case 'written':
        this.#keepOutput(message.id, message.output);
        break;
      case 'exiting':
        this.#keepOutput(message.id, message.output);
        this.#callbacks.exiting();
        break;
      case 'stopped':
        this.#callbacks.stopped();
        break;
      case 'built':
      case 'reached':
        this.#upcalls.report?.(message);
        break;
      case 'fault':
        this.#callbacks.broken(`its backend failed: ${message.fault.slice(0, 500).replace(/\.$/, '')}`);
        break;
      case 'failure':
        this.#reportFailure(message.report);
        break;
      case 'features':
        this.#features = new Set(message.features);
        break;
      case 'part':
        this.#keepPart(message.id, message.part);
        break;
      case 'answer':
        this.#answered(message.id, message.answer);
        break;
      // An Upcall.
      default:
        this.#codeCalls.handle(message);
    }
  }

  #reportFailure(report: string): void {
    this.#failures += 1;
    if (this.#failures <= MAX_FAILURES) this.#upcalls.failed?.(report.slice(0, MAX_FAILURE_CHARACTERS));
  }

  #greeted(hello: Hello): void {
    // The other side may be a program that is not a backend, so it can send anything.
    const version = JSON.stringify(hello.version).slice(0, 40);
    if (hello.version === PROTOCOL_VERSION) this.#callbacks.hello(hello);
    else this.#callbacks.broken(`its backend uses protocol version ${version}, not ${PROTOCOL_VERSION}`);
  }

  #answered(id: number, answer: Answer): void {
    this.#pending.get(id)?.resolve(this.#withParts(id, answer));
    this.#pending.delete(id);
    this.#outputs.delete(id);
    this.#parts.delete(id);
    if (this.#parts.size === 0) this.#partsCharacters = 0;
    this.#codeCalls.jobEnded(id);
  }

  #keepPart(id: number, part: unknown): void {
    const parts = this.#parts.get(id) ?? [];
    if (!this.#pending.has(id) || parts.length >= MAX_PARTS) return;
    this.#partsCharacters += JSON.stringify(part).length;
    if (this.#partsCharacters > MAX_PARTS_CHARACTERS) return;
    // Neither the parts nor the data of an answer are checked for their types.
    parts.push(part as TestPart);
    this.#parts.set(id, parts);
  }

  #withParts(id: number, answer: Answer): Answer {
    const parts = this.#parts.get(id);
    return parts === undefined ? answer : { ...answer, data: { ...answer.data, parts } };
  }

  #keepOutput(id: number, output: Output | undefined): void {
    if (output !== undefined && this.#pending.has(id)) this.#outputs.set(id, output);
  }
}

/** Returns the answer to a request whose peer was lost. HOW is the reason, as part of a sentence. STARTED is true when
 * the request had begun to run. OUTPUT is its output so far. */
function lostAnswer(how: string, started: boolean, output?: Output): Answer {
  return {
    ending: { kind: 'lost', how, ...(!started && { notBegun: true }) },
    ...(output && { output }),
    data: {},
  };
}
