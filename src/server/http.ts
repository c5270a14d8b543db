// Runs the server process over HTTP. Serves clients of both eras of MCP, if they send the token.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createMcpHandler, isJsonContentType, isLegacyRequest } from '@modelcontextprotocol/server';
import { type ListenOptions, listen, readBody, refuse } from '../http/listen.ts';
import { tokenCheck } from '../http/token.ts';
import { webRequest, writeAnswer } from '../http/web.ts';
import type { Members } from '../json.ts';
import { HttpSessions, messagesIn, rpcError } from './http-sessions.ts';
import { isTooDeep, TOO_DEEP } from './nesting.ts';
import { announceChanges, createServer, type ServerOptions } from './server.ts';

interface EndpointOptions extends ServerOptions {
  token: string;
}

interface HttpServerOptions extends EndpointOptions, Omit<ListenOptions, 'handle'> {
  /** Called before the process exits. The exit waits for the promise, which resolves when the running calls are
   * interrupted. */
  onEnd: () => Promise<void>;
}

/** The path of the MCP endpoint. */
const PATH = '/mcp';
const METHODS = ['GET', 'POST', 'DELETE'];
/** Maximum number of octets in the body of an HTTP request. */
const BODY_LIMIT = 4 * 1024 * 1024;
/** Maximum number of messages in the body of an HTTP request. */
const BATCH_LIMIT = 100;
/** Milliseconds to wait until the answers of the interrupted calls are written. */
const LAST_ANSWERS_MS = 100;

/** Serves MCP over HTTP until a signal ends the process. Resolves with the URL for clients when it listens. Throws a
 * SetupError when it is not possible to listen there. */
export async function serveHttp(options: HttpServerOptions): Promise<string> {
  const endpoint = new Endpoint(options);
  const listener = await listen({
    ...options,
    handle: (request, response) => endpoint.handle(request, response),
  });
  const end = async () => {
    endpoint.refuseFurther();
    await options.onEnd();
    await endpoint.close();
    await listener.end(LAST_ANSWERS_MS);
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
  return `${listener.origin}${PATH}`;
}

/** Answers the requests of an HTTP listener. */
export class Endpoint {
  readonly #mayUse: (authorization: string | undefined) => boolean;
  readonly #sessions: HttpSessions;
  readonly #modern;
  /** A promise for each running call. It resolves when the call is answered. */
  readonly #calls = new Set<Promise<void>>();
  #ends = false;

  constructor(options: EndpointOptions) {
    this.#mayUse = tokenCheck(options.token);
    this.#sessions = new HttpSessions(() => createServer(options));
    // For newer versions of MCP (see `isModern` in approvals.ts), a server object exists for one request only. The
    // client listens for changes in another request.
    const changes = announceChanges(options, async () => this.#modern.notify.toolsChanged());
    const connect = () => createServer(options, changes);
    this.#modern = createMcpHandler(connect, { legacy: 'reject', maxRequestBodySize: BODY_LIMIT });
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.split('?', 1)[0] !== PATH) {
      return refuse(response, 404, `There is nothing here. MCP is at ${PATH}.`);
    }
    if (!this.#mayUse(request.headers.authorization)) {
      return refuse(response, 401, NO_TOKEN, { 'www-authenticate': 'Bearer' });
    }
    if (!METHODS.includes(request.method ?? '')) {
      return refuse(response, 405, `MCP uses ${METHODS.join(', ')} only.`, { allow: METHODS.join(', ') });
    }
    const body = request.method === 'POST' ? await jsonIn(request) : undefined;
    // The server can begin to end while the body of the request arrives.
    if (this.#ends) return refuse(response, 503, 'This server ends. Start it again.');
    if (body instanceof Response) return writeAnswer(body, response);
    const answered = this.#answer(webRequest(request, response), body).then((answer) =>
      writeAnswer(answer, response),
    );
    if (messagesIn(body).some(isCall)) {
      this.#calls.add(answered);
      void answered.finally(() => this.#calls.delete(answered)).catch(() => {});
    }
    return answered;
  }

  async #answer(request: Request, body: unknown): Promise<Response> {
    // For isLegacyRequest, every GET and DELETE is legacy. One without a session id goes to the SDK, which refuses it.
    const mayBeLegacy = request.method === 'POST' || request.headers.has('mcp-session-id');
    return mayBeLegacy && (await isLegacyRequest(request, body))
      ? this.#sessions.answer(request, body)
      : this.#modern.fetch(request, { parsedBody: body });
  }

  refuseFurther(): void {
    this.#ends = true;
  }

  /** Waits up to LAST_ANSWERS_MS for the answers of interrupted calls, then ends all sessions and streams. */
  async close(): Promise<void> {
    await Promise.race([Promise.allSettled(this.#calls), delay(LAST_ANSWERS_MS)]);
    await Promise.all([this.#sessions.close(), this.#modern.close()]);
  }
}

const NO_TOKEN =
  'This request lacks the token of this server. Send the header Authorization: Bearer TOKEN, with the token from the file that the server named at its start.';

function isCall(message: unknown): boolean {
  return (Object(message) as Members)['method'] === 'tools/call';
}

/** Returns the JSON in the body of REQUEST. If REQUEST must be refused, returns the response that refuses it. */
async function jsonIn(request: IncomingMessage): Promise<unknown> {
  if (!isJsonContentType(request.headers['content-type'] ?? null)) {
    return rpcError(415, -32600, 'The header Content-Type must be application/json.');
  }
  const octets = await readBody(request, BODY_LIMIT);
  if (octets === undefined) {
    return rpcError(
      413,
      -32600,
      `The request has more than ${BODY_LIMIT} octets, so nothing was done. Put long texts into files, and give their paths.`,
    );
  }
  let body: unknown;
  try {
    body = JSON.parse(octets.toString('utf8'));
  } catch {
    return rpcError(
      400,
      -32700,
      'The request is not JSON, so nothing was done. Correct it and send it again.',
    );
  }
  if (isTooDeep(body, octets.length)) return rpcError(400, -32600, `The request is ${TOO_DEEP}`);
  // The SDK has the same limit, but checks every message of a batch before it compares the number of messages with the
  // limit.
  if (messagesIn(body).length > BATCH_LIMIT) {
    return rpcError(
      400,
      -32600,
      `The batch has more than ${BATCH_LIMIT} messages, so nothing was done. Send them in several requests.`,
    );
  }
  return withoutNullArguments(body);
}

/** Returns BODY, with null `arguments` removed. The SDK refuses a call with them. */
function withoutNullArguments(body: unknown): unknown {
  for (const message of messagesIn(body)) {
    const params = Object((Object(message) as Members)['params']) as { arguments?: unknown };
    if (params.arguments === null) delete params.arguments;
  }
  return body;
}
