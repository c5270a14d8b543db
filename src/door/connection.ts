// Defines a JSON-RPC connection between a session and an editor or a command. Each message is one line, as in MCP over
// stdio.

import type { Socket } from 'node:net';
import { messageOf } from '../errors.ts';
import { membersOf } from '../json.ts';

/** The parameters of a message. Their values are not checked. */
export type Params = { readonly [name: string]: unknown };

/** The answer to a request: a result, or the message of an error. Undefined when the connection ended or the time limit
 * passed before an answer came. */
export type Answered = { result: unknown } | { error: string } | undefined;

/** Handles a request of the other side, and returns the result. If it throws, the other side gets the message of the
 * error. */
type Handler = (method: string, params: Params) => unknown;

/** The connection is closed when a received line has more than `line` characters, or when more than `unread` octets are
 * sent but not yet read by the other side. */
interface Limits {
  line: number;
  unread: number;
}
const EDITOR_LIMITS: Limits = { line: 2 * 1024 * 1024, unread: 16 * 1024 * 1024 };

/** Error codes of JSON-RPC: for a line that is not a message, and for a request that failed. */
const NO_MESSAGE = -32600;
const FAILED = -32000;

export class Connection {
  readonly #socket: Socket;
  readonly #handle: Handler;
  readonly #limits: Limits;
  readonly #waiting = new Map<number, (answered: Answered) => void>();
  #lastId = 0;
  #rest = '';
  readonly ended: Promise<void>;

  constructor(socket: Socket, handle: Handler, limits = EDITOR_LIMITS) {
    this.#socket = socket;
    this.#handle = handle;
    this.#limits = limits;
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => this.#read(chunk));
    socket.on('error', () => {}); // The event 'close' follows.
    this.ended = new Promise((resolve) => {
      socket.on('close', () => {
        for (const resolveRequest of this.#waiting.values()) resolveRequest(undefined);
        this.#waiting.clear();
        resolve();
      });
    });
  }

  get lastId(): number {
    return this.#lastId;
  }

  notify(method: string, params: Params): void {
    this.#send({ method, params });
  }

  /** Sends the request METHOD, and resolves with the answer. With MS, resolves with undefined when no answer comes
   * within MS milliseconds. */
  request(method: string, params: Params, ms?: number): Promise<Answered> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => done(undefined), ms);
      const done = (answered: Answered) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(answered);
      };
      this.#waiting.set(id, done);
      this.#send({ id, method, params });
    });
  }

  end(): void {
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#receive(line);
    if (this.#rest.length > this.#limits.line) this.end();
  }

  #receive(line: string): void {
    const { id, method, params, result, error } = membersOf(line);
    if (typeof method === 'string') this.#answer(id, method, Object(params) as Params);
    else if (typeof id === 'number')
      this.#waiting.get(id)?.(error === undefined ? { result } : { error: String(Object(error).message) });
    // Errors are not answered. Otherwise both sides could answer each other's errors without end.
    else if (error === undefined)
      this.#send({ id: null, error: { code: NO_MESSAGE, message: 'The line is no message of JSON-RPC.' } });
  }

  #answer(id: unknown, method: string, params: Params): void {
    try {
      const result = this.#handle(method, params) ?? null;
      if (id !== undefined) this.#send({ id, result });
    } catch (error) {
      if (id !== undefined) this.#send({ id, error: { code: FAILED, message: messageOf(error) } });
    }
  }

  #send(message: object): void {
    if (this.#socket.destroyed) return;
    this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    if (this.#socket.writableLength > this.#limits.unread) this.end();
  }
}
