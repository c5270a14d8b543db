// Sends MCP requests to a session over its socket, for the commands of a shell.

import type { Socket } from 'node:net';
import { Connection, type Params } from '../door/connection.ts';
import { INTERRUPT, OUTPUT_KEY } from '../door/outcome.ts';

const PROTOCOL_VERSION = '2026-07-28';

export class SessionClient {
  readonly #connection: Connection;
  readonly #meta: object;

  /** VERSION is the version of this program. CAN_ASK is true when the user can answer questions. ON_PROGRESS is called
   * with texts about the progress of the running call. ON_OUTPUT is called with the call's output, which the answer
   * then does not contain. */
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
    const receive = (method: string, { message, _meta }: Params) => {
      if (method !== 'notifications/progress') return;
      const output = Object(_meta)[OUTPUT_KEY];
      if (typeof output === 'string') onOutput?.(output);
      else onProgress(String(message));
    };
    const { POSITIVE_INFINITY: unlimited } = Number;
    this.#connection = new Connection(socket, receive, { line: unlimited, unread: unlimited });
    this.#meta = {
      'io.modelcontextprotocol/protocolVersion': PROTOCOL_VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'live-lisp-command', version },
      'io.modelcontextprotocol/clientCapabilities': canAsk ? { elicitation: { form: {} } } : {},
      progressToken: 1, // A command has one call at a time.
      ...(onOutput && { [OUTPUT_KEY]: true }),
    };
  }

  /** Sends the request METHOD with PARAMS, and resolves with the answer. With MS, resolves with undefined when no
   * answer has come within MS milliseconds. */
  request(method: string, params: object = {}, ms?: number) {
    return this.#connection.request(method, { ...params, _meta: this.#meta }, ms);
  }

  /** Asks the session to interrupt the call of the last request. That request is still answered; the answer says how
   * the call ended. */
  interrupt(): void {
    this.#connection.notify(INTERRUPT, { requestId: this.#connection.lastId });
  }

  end(): void {
    this.#connection.end();
  }
}
