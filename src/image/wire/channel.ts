// Sends requests and matches answers on one connection to an agent. When it is lost, answers all open requests.

import type { Duplex } from 'node:stream';
import { messageOf } from '../../errors.ts';
import type { AgentOperations } from './agent-operations.ts';
import type { Output } from './endings.ts';
import { FRAME_LIMIT, FrameReader, PROTOCOL_VERSION, requestFrame } from './frames.ts';
import { type AgentMessage, type Answer, type Hello, readMessage, readOutput } from './messages.ts';
import type { Peer } from './peer.ts';
import { CodeCalls, type Upcalls } from './upcalls.ts';

/** Callbacks to the owner of the connection. */
export interface Turns {
  /** The agent has greeted. */
  hello(hello: Hello): void;
  /** The image is about to exit by itself. */
  exiting(): void;
  /** A call, and no other thread, asks for the end of the image. */
  exits?(): void;
  /** The agent cannot be talked to any more: HOW is part of a sentence, after "the image was lost". */
  broken(how: string): void;
  /** Returns whether the request ID had begun to run in an image that has ended; undefined when that is not known. */
  begun?(id: number): boolean | undefined;
}

/** At most this many parts of an answer are kept, and this many characters (as JSON) of the parts of all answers. */
const PARTS = 50_000;
const PARTS_CHARACTERS = FRAME_LIMIT;

/** After a chunk with more messages than this, all other work gets a turn. */
const MANY = 32;

/** While the agent has more octets than this to read, we read its messages slowly, as each can need an answer. */
const UNREAD = 1024 * 1024;
/** Length of a pause between slow reads. It ends in any case: an agent may have to write before it can read. */
const UNREAD_MS = 20;

export class Channel {
  readonly #stream: Duplex;
  readonly #turns: Turns;
  readonly #upcalls: Upcalls;
  readonly #codeCalls: CodeCalls;
  readonly #reader = new FrameReader();
  readonly #pending = new Map<number, { name: string; resolve: (answer: Answer) => void }>();
  /** Output of pending requests, as last reported. */
  readonly #written = new Map<number, Output>();
  /** Partial answers of pending requests. */
  readonly #parts = new Map<number, unknown[]>();
  #partsCharacters = 0;
  #features: ReadonlySet<string> = new Set();
  #nextId: number;
  #lost: string | undefined;

  /** Serves STREAM, the connection to PEER. UPCALLS answers the requests that code in the image sends. TURNS are called
   *  at events such as the agent's greeting. Request ids begin at FIRST_ID. */
  constructor(stream: Duplex, peer: Peer, upcalls: Upcalls, turns: Turns, firstId = 1) {
    this.#nextId = firstId;
    this.#stream = stream;
    this.#turns = turns;
    this.#upcalls = upcalls;
    this.#codeCalls = new CodeCalls(peer, upcalls, () => stream.writableLength);
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('error', () => {});
  }

  /** True when the channel was closed. */
  get closed(): boolean {
    return this.#lost !== undefined;
  }

  /** The features of the image, as in Image. */
  get features(): ReadonlySet<string> {
    return this.#features;
  }

  /** True while requests wait for an answer. */
  get busy(): boolean {
    return this.#pending.size > 0;
  }

  /** The operations of the requests that wait for an answer. */
  get running(): string[] {
    return [...this.#pending.values()].map(({ name }) => name);
  }

  /** As in Peer. */
  request<Name extends keyof AgentOperations>(
    name: Name,
    args: AgentOperations[Name]['args'],
  ): { id: number; answer: Promise<Answer<Name>> } {
    const id = this.#nextId++;
    const frame = requestFrame(id, name, args);
    const answer = new Promise<Answer<Name>>((resolve) => {
      // The answer with this id has the data of this operation.
      const answered = (told: Answer) => resolve(told as Answer<Name>);
      if (this.#lost === undefined) this.#pending.set(id, { name, resolve: answered });
      else answered(lostAnswer(this.#lost, false));
    });
    if (this.#lost === undefined) {
      this.#codeCalls.jobBegan(id, name);
      this.#stream.write(frame);
    }
    return { id, answer };
  }

  /** As in Peer. */
  tell<Name extends keyof AgentOperations>(name: Name, args: AgentOperations[Name]['args']): void {
    const frame = requestFrame(this.#nextId++, name, args);
    if (this.#lost === undefined) this.#stream.write(frame);
  }

  /** Asks for the output of the request ID so far, to be in its answer if the image ends first. Resolves once the agent
   *  has reacted. */
  async askWritten(id: number): Promise<void> {
    const { data } = await this.request('written', { job: id }).answer;
    this.#keepWritten(id, readOutput(data.value));
  }

  /** Answers all pending requests with a loss; HOW is part of a sentence. */
  close(how: string): void {
    this.#lost ??= how;
    for (const [id, { resolve }] of this.#pending) {
      const begun = this.#turns.begun?.(id) !== false;
      resolve(this.#withParts(id, lostAnswer(this.#lost, begun, this.#written.get(id))));
    }
    this.#pending.clear();
    this.#written.clear();
    this.#parts.clear();
    this.#codeCalls.endAll();
    this.#stream.destroy();
  }

  #receive(chunk: Buffer): void {
    let count = 0;
    try {
      const messages = this.#reader.push(chunk);
      count = messages.length;
      for (const message of messages) this.#dispatch(readMessage(message));
    } catch (error) {
      this.#turns.broken(`its answers could not be understood (${messageOf(error)})`);
    }
    if (count > MANY || this.#stream.writableLength > UNREAD) this.#rest();
  }

  /** Pauses reading while all other work gets a turn: an agent that never stops writing must not block the server. */
  #rest(): void {
    const stream = this.#stream;
    stream.pause();
    if (stream.writableLength > UNREAD) setTimeout(() => stream.resume(), UNREAD_MS);
    else setImmediate(() => stream.resume());
  }

  #dispatch(message: AgentMessage): void {
    switch (message.kind) {
      case 'hello':
        this.#greeted(message);
        break;
      case 'written':
        this.#keepWritten(message.id, message.output);
        break;
      case 'exiting':
        this.#keepWritten(message.id, message.output);
        this.#turns.exiting();
        break;
      case 'exits':
        this.#turns.exits?.();
        break;
      case 'built':
      case 'reached':
        this.#upcalls.tell?.(message);
        break;
      case 'fault':
        this.#turns.broken(`its agent failed: ${message.fault.slice(0, 500).replace(/\.$/, '')}`);
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
      default:
        this.#codeCalls.take(message);
    }
  }

  #greeted(hello: Hello): void {
    const version = String(hello.version);
    if (hello.version === PROTOCOL_VERSION) this.#turns.hello(hello);
    else this.#turns.broken(`its agent speaks version ${version} of the protocol, not ${PROTOCOL_VERSION}`);
  }

  #answered(id: number, answer: Answer): void {
    this.#pending.get(id)?.resolve(this.#withParts(id, answer));
    this.#pending.delete(id);
    this.#written.delete(id);
    this.#parts.delete(id);
    if (this.#parts.size === 0) this.#partsCharacters = 0;
    this.#codeCalls.jobEnded(id);
  }

  #keepPart(id: number, part: unknown): void {
    const parts = this.#parts.get(id) ?? [];
    if (!this.#pending.has(id) || parts.length >= PARTS) return;
    this.#partsCharacters += JSON.stringify(part).length;
    if (this.#partsCharacters > PARTS_CHARACTERS) return;
    parts.push(part);
    this.#parts.set(id, parts);
  }

  /** Returns ANSWER of the request ID together with its partial answers, if any. */
  #withParts(id: number, answer: Answer): Answer {
    const parts = this.#parts.get(id);
    return parts === undefined ? answer : { ...answer, data: { ...answer.data, parts } };
  }

  #keepWritten(id: number, written: Output | undefined): void {
    if (written !== undefined && this.#pending.has(id)) this.#written.set(id, written);
  }
}

/** Returns the answer of a request whose peer was lost, as HOW says, after it had BEGUN and written OUTPUT. */
function lostAnswer(how: string, begun: boolean, output?: Output): Answer {
  return {
    ending: { kind: 'lost', how, ...(!begun && { notBegun: true }) },
    ...(output && { output }),
    data: {},
  };
}
