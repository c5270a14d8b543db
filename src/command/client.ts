// Sends the MCP requests of a command to a session over its socket.

import type { Socket } from 'node:net';
import { Connection, type Params } from '../door/connection.ts';
import { INTERRUPT, OUTPUT_KEY } from '../door/outcome.ts';

const PROTOCOL_VERSION = '2026-07-28';

export class SessionClient {
  readonly #connection: Connection;
  readonly #meta: object;

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

  /** Sends the request METHOD with PARAMS. Its answer must come within MS milliseconds, if MS is given. */
  request(method: string, params: object = {}, ms?: number) {
    return this.#connection.request(method, { ...params, _meta: this.#meta }, ms);
  }

  /** Asks the session to interrupt the call of the last request. The answer to that request says how the
   *  call ended. */
  interrupt(): void {
    this.#connection.notify(INTERRUPT, { requestId: this.#connection.lastId });
  }

  end(): void {
    this.#connection.end();
  }
}
