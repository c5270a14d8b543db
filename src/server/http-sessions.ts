// Serves clients of MCP's legacy era (see isModern in approvals.ts) over HTTP. Each of them has a session.

import { randomUUID } from 'node:crypto';
import {
  type EventStore,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  type Server,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Members } from '../json.ts';

/** Maximum number of sessions. One more session ends the session that was unused for the longest time. */
const SESSIONS_LIMIT = 100;
/** Number of a session's last messages that are kept. A client gets them again when it reconnects after its connection
 * broke. */
const KEPT_MESSAGES = 20;

export class HttpSessions {
  /** The sessions by id. The one that was used least recently comes first. */
  readonly #sessions = new Map<string, HttpSession>();
  readonly #connect: () => Server;

  /** CONNECT returns a new server, which serves one client. */
  constructor(connect: () => Server) {
    this.#connect = connect;
  }

  /** Answers REQUEST in the session that it names, or in a new one. BODY is the parsed JSON of the request. */
  async answer(request: Request, body: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) {
      return isInitialize(body)
        ? this.#begin(request, body)
        : rpcError(400, NO_SESSION, 'This request has no Mcp-Session-Id. Send initialize first.');
    }
    const session = this.#sessions.get(id);
    if (session === undefined) {
      return rpcError(404, SESSION_ENDED, 'There is no such session, or it has ended. Send initialize anew.');
    }
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session.answer(request, body);
  }

  async #begin(request: Request, body: unknown): Promise<Response> {
    if (this.#sessions.size >= SESSIONS_LIMIT && !(await this.#endUnused())) {
      return rpcError(
        503,
        SESSION_ENDED,
        `${SESSIONS_LIMIT} sessions are in use, and this server takes no more. End one of them, and try again.`,
      );
    }
    const session = new HttpSession({
      begun: (id) => void this.#sessions.set(id, session),
      ended: (id) => void this.#sessions.delete(id),
    });
    await this.#connect().connect(session);
    const answer = await session.answer(request, body);
    // The SDK refused the request, so no client knows the id of this session. If the session were not closed, its
    // server would stay.
    if (session.sessionId === undefined) await session.close();
    return answer;
  }

  /** Ends the least recently used session without a running call. Resolves with false when there is no such session. */
  async #endUnused(): Promise<boolean> {
    const unused = [...this.#sessions.values()].find((session) => !session.isBusy);
    await unused?.close();
    return unused !== undefined;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }
}

const NO_SESSION = -32000;
const SESSION_ENDED = -32001;

function isInitialize(body: unknown): boolean {
  return (Object(body) as Members)['method'] === 'initialize';
}

interface SessionEvents {
  begun: (id: string) => void;
  ended: (id: string) => void;
}

/** The session of one client. The SDK's transport accepts a second request with the id of a running request, and then
 * confuses their answers. This class refuses the second request. */
class HttpSession extends WebStandardStreamableHTTPServerTransport {
  readonly #running = new Set<RequestId>();
  readonly #events: SessionEvents;

  constructor(events: SessionEvents) {
    super({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: events.begun,
      eventStore: new LastMessages(),
    });
    this.#events = events;
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  async answer(request: Request, body: unknown): Promise<Response> {
    const ids = requestsIn(body);
    const double = ids.find((id, index) => this.#running.has(id) || ids.indexOf(id) !== index);
    if (double !== undefined) {
      return rpcError(
        400,
        -32600,
        `Invalid request: a request with the id ${JSON.stringify(double)} is not answered yet, so nothing was done. Send this one with another id.`,
      );
    }
    for (const id of ids) this.#running.add(id);
    const answer = await this.handleRequest(request, { parsedBody: body });
    // The SDK refused the requests, so `send` will not see their answers.
    if (answer.status !== 200) for (const id of ids) this.#running.delete(id);
    for (const id of cancelledIn(body)) await this.#answerCancelled(id);
    return answer;
  }

  /** Answers a cancelled request, because the SDK does not. Without an answer, the stream of the request would stay
   * open until the session ends. */
  async #answerCancelled(id: RequestId): Promise<void> {
    if (!this.#running.has(id)) return;
    await this.send({ jsonrpc: '2.0', id, error: { code: -32000, message: 'The request was cancelled.' } });
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    await super.send(message, options);
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message))
      this.#running.delete(message.id as RequestId);
  }

  /** The SDK also calls this method, when the client ends its session with a DELETE request. */
  override async close(): Promise<void> {
    if (this.sessionId !== undefined) this.#events.ended(this.sessionId);
    await super.close();
  }
}

/** Returns a response with STATUS and a JSON-RPC error that does not belong to a request. */
export function rpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });
}

/** Returns the messages in BODY, which is one message or a batch. */
export function messagesIn(body: unknown): unknown[] {
  return Array.isArray(body) ? body : [body];
}

function requestsIn(body: unknown): RequestId[] {
  return messagesIn(body).flatMap((message) => (isJSONRPCRequest(message) ? [message.id] : []));
}

function cancelledIn(body: unknown): RequestId[] {
  return messagesIn(body).flatMap((message) => {
    const { method, params } = Object(message) as Members;
    const { requestId } = Object(params) as Members;
    return method === 'notifications/cancelled' ? [requestId as RequestId] : [];
  });
}

/** Stores the last messages of a session, for a client that reconnects after its connection broke. The id of an event
 * is that of its stream, followed by the number of the event. Notifications are not stored, because they could displace
 * answers. */
class LastMessages implements EventStore {
  readonly #kept: { streamId: string; number: number; message: JSONRPCMessage }[] = [];
  #count = 0;

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const number = ++this.#count;
    if ('id' in message) this.#kept.push({ streamId, number, message });
    if (this.#kept.length > KEPT_MESSAGES) this.#kept.shift();
    return `${streamId}.${number}`;
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return partsOf(eventId)?.streamId;
  }

  async replayEventsAfter(
    eventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const last = partsOf(eventId);
    for (const { streamId, number, message } of this.#kept)
      if (streamId === last?.streamId && number > last.number) await send(`${streamId}.${number}`, message);
    return last?.streamId ?? '';
  }
}

function partsOf(eventId: string): { streamId: string; number: number } | undefined {
  const [, streamId, number] = /^([\w-]+)\.(\d{1,15})$/.exec(eventId) ?? [];
  return streamId === undefined ? undefined : { streamId, number: Number(number) };
}
