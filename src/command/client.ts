// Sends MCP requests to a session over its socket, and matches the answers to them.

import type { Socket } from 'node:net';
import { INTERRUPT, OUTPUT_KEY } from '../door/outcome.ts';
import { membersOf } from '../json.ts';

const PROTOCOL_VERSION = '2026-07-28';

/** The result of a request, with unchecked members. */
export type RequestResult = { readonly [member: string]: unknown };

/** The answer of a session: a result, or the text of an error. Undefined when the connection has ended
 *  before the answer. */
export type SessionReply = { result: RequestResult } | { error: string } | undefined;

export class SessionClient {
  readonly #socket: Socket;
  readonly #meta: object;
  readonly #waiting = new Map<number, (reply: SessionReply) => void>();
  readonly #onProgress: (message: string) => void;
  readonly #onOutput: ((text: string) => void) | undefined;
  #lastId = 0;
  #rest = '';

  /** VERSION is the version of this program. CAN_ASK says whether its user can answer questions.
   *  ON_PROGRESS receives texts on the progress of a running call. ON_OUTPUT receives the output of the
   *  call, and the answer then leaves out this output. */
  constructor(
    socket: Socket,
    {
      version,
      canAsk,
      onProgress,
      onOutput,
    }: {
      version: string;
      canAsk: boolean;
      onProgress: (message: string) => void;
      onOutput?: ((text: string) => void) | undefined;
    },
  ) {
    this.#socket = socket;
    this.#onProgress = onProgress;
    this.#onOutput = onOutput;
    this.#meta = {
      'io.modelcontextprotocol/protocolVersion': PROTOCOL_VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'live-lisp-command', version },
      'io.modelcontextprotocol/clientCapabilities': canAsk ? { elicitation: { form: {} } } : {},
      ...(onOutput && { [OUTPUT_KEY]: true }),
    };
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => this.#read(chunk));
    socket.on('close', () => {
      for (const resolve of this.#waiting.values()) resolve(undefined);
      this.#waiting.clear();
    });
  }

  /** Sends the request METHOD with PARAMS. */
  request(method: string, params: object = {}): Promise<SessionReply> {
    const id = ++this.#lastId;
    const meta = { ...this.#meta, progressToken: id };
    this.#socket.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })}\n`,
    );
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
    });
  }

  /** Asks the session to interrupt the call of the last request. The answer to that request says how the
   *  call ended. */
  interrupt(): void {
    const params = { requestId: this.#lastId };
    this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', method: INTERRUPT, params })}\n`);
  }

  /** Closes the connection without waiting for the session, which may hang. */
  end(): void {
    this.#socket.end();
    this.#socket.unref();
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#receive(line);
  }

  #receiveProgress({ message, _meta }: RequestResult): void {
    const output = (_meta as RequestResult | undefined)?.[OUTPUT_KEY];
    if (typeof output === 'string') this.#onOutput?.(output);
    else this.#onProgress(String(message));
  }

  #receive(line: string): void {
    const { id, method, params, result, error } = membersOf(line);
    if (id === undefined && method === undefined) this.#socket.destroy(); // The other side is no session.
    if (method === 'notifications/progress') this.#receiveProgress(params as RequestResult);
    if (method !== undefined || typeof id !== 'number') return;
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error !== undefined) resolve?.({ error: String((error as RequestResult)['message']) });
    else resolve?.({ result: Object(result) as RequestResult });
  }
}
