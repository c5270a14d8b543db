// A JSON-RPC connection to an editor, with one message per line, as in MCP over stdio.

import type { Socket } from 'node:net';
import { messageOf } from '../errors.ts';
import { membersOf } from '../json.ts';

/** The parameters of a message, with unchecked values. */
export type Params = { readonly [name: string]: unknown };

/** Performs a request of the editor, and returns its result. Throws an error whose message is sent to the
 *  editor. */
type Handler = (method: string, params: Params) => unknown;

/** Maximum number of characters of a line. A connection with a longer one is closed. */
const LINE_LIMIT = 1024 * 1024;
/** A connection is closed when the editor has more unread octets than this. */
const UNREAD_LIMIT = 16 * 1024 * 1024;

/** The error codes of JSON-RPC for a line that is no message, and for a request that failed. */
const NO_MESSAGE = -32600;
const FAILED = -32000;

export class EditorConnection {
  readonly #socket: Socket;
  readonly #handle: Handler;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #lastId = 0;
  #rest = '';
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;

  constructor(socket: Socket, handle: Handler) {
    this.#socket = socket;
    this.#handle = handle;
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

  notify(method: string, params: Params): void {
    this.#send({ method, params });
  }

  /** Resolves with the result of the request METHOD. Resolves with undefined when the editor reports an
   *  error, disconnects, or does not answer within MS milliseconds. */
  request(method: string, params: Params, ms: number): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(undefined), ms);
      const done = (result: unknown) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(result);
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
    if (this.#rest.length > LINE_LIMIT) this.end();
  }

  #receive(line: string): void {
    const { id, method, params, result } = membersOf(line);
    if (typeof method === 'string') this.#answer(id, method, Object(params) as Params);
    else if (typeof id === 'number') this.#waiting.get(id)?.(result);
    else
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
    if (this.#socket.writableLength > UNREAD_LIMIT) this.end();
  }
}
