// Decides how requests and their answers share one connection to an agent, and what becomes of those without an answer.

import type { Duplex } from 'node:stream';
import { messageOf } from '../../errors.ts';
import type { AgentOperations } from './agent-operations.ts';
import type { Output } from './endings.ts';
import { FRAME_LIMIT, FrameReader, PROTOCOL_VERSION, requestFrame } from './frames.ts';
import { type AgentMessage, type Answer, type Hello, readMessage, readOutput } from './messages.ts';
import type { Peer } from './peer.ts';
import { CodeCalls, type Upcalls } from './upcalls.ts';

/** What whoever has the connection does at the turns of its life. */
export interface Turns {
  /** The agent has greeted. */
  hello(hello: Hello): void;
  /** The image is about to end by itself. */
  exiting(): void;
  /** A call, and no other thread, asks for the end of the image. */
  exits?(): void;
  /** The agent cannot be talked to any more: HOW is part of a sentence, after "the image was lost". */
  broken(how: string): void;
  /** Returns whether the request ID had begun to run in an image that has ended; undefined when that is not known. */
  begun?(id: number): boolean | undefined;
}

/** Parts of an answer that are kept, and characters that those of all answers take as JSON. */
const PARTS = 50_000;
const PARTS_CHARACTERS = FRAME_LIMIT;

/** Messages in one piece, after which all else has its turn. */
const MANY = 32;

/** Octets that the agent has not read yet, above which little is read of it: the more it says, the more is to be answered. */
const UNREAD = 1024 * 1024;
/** Milliseconds after which a little is read all the same: an agent may first have to write before it reads. */
const UNREAD_MS = 20;

export class Channel {
  readonly #stream: Duplex;
  readonly #turns: Turns;
  readonly #upcalls: Upcalls;
  readonly #codeCalls: CodeCalls;
  readonly #reader = new FrameReader();
  readonly #pending = new Map<number, { name: string; resolve: (answer: Answer) => void }>();
  /** What the requests that are pending had written when that was last known. */
  readonly #written = new Map<number, Output>();
  /** What those that are pending were answered in part. */
  readonly #parts = new Map<number, unknown[]>();
  #partsCharacters = 0;
  #features: ReadonlySet<string> = new Set();
  #nextId: number;
  #lost: string | undefined;

  /** Talks on STREAM with the agent of PEER, which code in it asks UPCALLS through. Its first request is FIRST_ID. */
  constructor(stream: Duplex, peer: Peer, upcalls: Upcalls, turns: Turns, firstId = 1) {
    this.#nextId = firstId;
    this.#stream = stream;
    this.#turns = turns;
    this.#upcalls = upcalls;
    this.#codeCalls = new CodeCalls(peer, upcalls, () => stream.writableLength);
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('error', () => {});
  }

  /** Whether it was closed. */
  get closed(): boolean {
    return this.#lost !== undefined;
  }

  /** The features of the image, as Image says. */
  get features(): ReadonlySet<string> {
    return this.#features;
  }

  /** Whether requests wait for an answer. */
  get busy(): boolean {
    return this.#pending.size > 0;
  }

  /** The operations of the requests that wait for an answer. */
  get running(): string[] {
    return [...this.#pending.values()].map(({ name }) => name);
  }

  /** Does what the same function of Peer says. */
  request<Name extends keyof AgentOperations>(
    name: Name,
    args: AgentOperations[Name]['args'],
  ): { id: number; answer: Promise<Answer<Name>> } {
    const id = this.#nextId++;
    const frame = requestFrame(id, name, args);
    const answer = new Promise<Answer<Name>>((resolve) => {
      // What comes back under this id has the data of this operation.
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

  /** Does what the same function of Peer says. */
  tell<Name extends keyof AgentOperations>(name: Name, args: AgentOperations[Name]['args']): void {
    const frame = requestFrame(this.#nextId++, name, args);
    if (this.#lost === undefined) this.#stream.write(frame);
  }

  /** Asks what the request ID has written so far, for its answer if the image ends first. Resolves when the agent has
   *  reacted. */
  async askWritten(id: number): Promise<void> {
    const { data } = await this.request('written', { job: id }).answer;
    this.#keepWritten(id, readOutput(data.value));
  }

  /** Answers all that wait with a loss; HOW is part of a sentence. */
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

  /** Reads on when all else had its turn: what an agent can say without a pause must keep nobody from being served. */
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

  /** Returns ANSWER of the request ID with what it was answered in part, if anything. */
  #withParts(id: number, answer: Answer): Answer {
    const parts = this.#parts.get(id);
    return parts === undefined ? answer : { ...answer, data: { ...answer.data, parts } };
  }

  #keepWritten(id: number, written: Output | undefined): void {
    if (written !== undefined && this.#pending.has(id)) this.#written.set(id, written);
  }
}

/** Returns the answer of a request whose peer went, as HOW says, after it had BEGUN and written OUTPUT. */
function lostAnswer(how: string, begun: boolean, output?: Output): Answer {
  return {
    ending: { kind: 'lost', how, ...(!begun && { notBegun: true }) },
    ...(output && { output }),
    data: {},
  };
}
