// Listens for HTTP requests. Refuses requests that a web page of another site can have caused, and limits the resources
// that a client can use.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { SetupError } from '../errors.ts';

/** The limits of a listener. Tests use shorter times. */
export interface HttpLimits {
  /** Maximum number of connections. When a client opens one more, the server closes the oldest connection without a
   * running request, but keeps those whose last request was accepted. So it may close the new connection. */
  connections: number;
  /** Milliseconds in which the headers of a request must arrive. */
  headersMs: number;
  /** Milliseconds in which a whole request must arrive. */
  requestMs: number;
  /** Milliseconds without traffic after which a connection is closed, if no request is running on it or if its client
   * does not read the answer. */
  idleMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  connections: 512,
  headersMs: 10_000,
  requestMs: 60_000,
  idleMs: 30_000,
};

const HEADERS_OCTETS = 16 * 1024;

export interface ListenOptions {
  /** A host name or IP address of this machine. */
  host: string;
  /** The port number; 0 for any free port. */
  port: number;
  handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
  /** Reports an error that `handle` threw, as one line. */
  complain: (line: string) => void;
  limits?: HttpLimits;
}

export interface HttpListener {
  /** The URL of the listener, without a path or a final slash. */
  origin: string;
  /** Accepts no more connections, waits at most `ms` milliseconds for the running answers, and closes all
   * connections. */
  end: (ms: number) => Promise<void>;
}

/** Listens at the host and port in OPTIONS, and passes each request to the function `handle` in OPTIONS. Throws a
 * SetupError when it is not possible to listen there. */
export async function listen(options: ListenOptions): Promise<HttpListener> {
  const { host, port, limits = HTTP_LIMITS } = options;
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(limits.headersMs, 1000),
    maxHeaderSize: HEADERS_OCTETS,
  });
  server.on('request', (request, response) => void answer(options, request, response));
  const closeAllIdle = limitConnections(server, limits);
  await opened(server, host, port);
  const { address, family, port: own } = server.address() as AddressInfo;
  const authority = family === 'IPv6' ? `[${address}]` : address;
  return { origin: `http://${authority}:${own}`, end: (ms) => endOf(server, closeAllIdle, ms) };
}

function opened(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // This listener is not removed: without one, an error of a later connection would end the process.
    server.on('error', ({ code }: NodeJS.ErrnoException) =>
      reject(
        new SetupError(
          code === 'EADDRINUSE'
            ? `Another program listens at ${host}:${port}. Give another port, or end that program.`
            : `The server cannot listen at ${host}:${port} (${code}). Give an address of this machine and a port that you may use.`,
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
}

async function answer(
  { host, handle, complain }: ListenOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = foreignCause(request, host);
  if (refusal !== undefined) return refuse(response, 403, refusal);
  try {
    await handle(request, response);
  } catch (error) {
    if (request.destroyed && !request.complete) return; // The client is gone.
    complain(`An HTTP request failed: ${String(error)}`.replace(/\s+/g, ' '));
    if (response.headersSent) response.destroy();
    else refuse(response, 500, 'The server failed to answer this request. Send it again.');
  }
}

/** Answers with STATUS, and TEXT as plain text. */
export function refuse(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  const octets = Buffer.from(`${text}\n`);
  const usual = { 'content-type': 'text/plain; charset=utf-8', 'content-length': octets.length };
  response.writeHead(status, { ...usual, ...headers });
  response.end(octets);
}

/** Returns the reason to refuse a request with these HEADERS when a web page of another site can have caused it, else
 * undefined. Such a page can make a name of its own resolve to this machine (DNS rebinding), but then the request does
 * not name localhost or an address. Browsers also send the origin of the page with each request that can change
 * something. */
function foreignCause({ headers }: IncomingMessage, listeningHost: string): string | undefined {
  const { host = '', origin } = headers;
  const name = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::\d+)?$/i.exec(host)?.[1]?.toLowerCase() ?? '';
  const known =
    isIP(name.replace(/^\[|\]$/g, '')) > 0 || ['localhost', listeningHost.toLowerCase()].includes(name);
  if (!known) {
    return 'The header Host names another machine. Use an address, localhost, or the name at which this server listens.';
  }
  if (origin === undefined || /^https?:\/\/(.*)$/.exec(origin)?.[1] === host) return undefined;
  return 'The header Origin names another site. Only a page of this server may send requests from a browser.';
}

/** Returns the body of REQUEST; undefined when it has more than LIMIT octets. Throws when the client ends the
 * connection before the body is complete. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = Number(request.headers['content-length'] ?? 0) > limit ? Number.POSITIVE_INFINITY : 0;
  if (size <= limit) {
    // Without this option, `break` would close the connection, and the client would get no answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += (chunk as Buffer).length;
      if (size > limit) break;
      chunks.push(chunk as Buffer);
    }
  }
  if (size <= limit) return Buffer.concat(chunks);
  // A client reads the answer only after it has sent its whole body. So the rest of the body is read and ignored.
  request.resume();
  return undefined;
}

/** Makes SERVER keep the limits `connections` and `idleMs` (see HttpLimits). Once SERVER accepts no more connections,
 * closes each one after its last answer. Returns a function that closes all connections without a running request. */
function limitConnections(server: Server, { connections, idleMs }: HttpLimits): () => void {
  /** The number of running requests of each connection, the oldest connection first. */
  const requestCounts = new Map<Socket, number>();
  /** The connections whose last answer had no error status. */
  const accepted = new WeakSet<Socket>();
  const adjust = (socket: Socket, by: 1 | -1) =>
    requestCounts.set(socket, (requestCounts.get(socket) ?? 0) + by);
  server.on('connection', (socket) => {
    requestCounts.set(socket, 0);
    socket.on('close', () => requestCounts.delete(socket));
    if (requestCounts.size <= connections) return;
    // Programs without the token could otherwise take all connections, and send nothing on them.
    for (const [each, requests] of requestCounts) {
      if (requests > 0 || accepted.has(each)) continue;
      requestCounts.delete(each);
      each.destroy();
      return;
    }
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    adjust(socket, 1);
    response.on('close', () => {
      if (response.statusCode < 400) accepted.add(socket);
      else accepted.delete(socket);
      if (requestCounts.has(socket)) adjust(socket, -1);
      if (!server.listening && !requestCounts.get(socket)) socket.end();
    });
  });
  server.setTimeout(idleMs, (socket) => {
    if (!requestCounts.get(socket) || socket.writableLength > 0) socket.destroy();
  });
  // Node's closeIdleConnections does not close connections on which nothing was sent yet, so it is not used.
  return () => {
    for (const [socket, requests] of requestCounts) if (requests === 0) socket.destroy();
  };
}

async function endOf(server: Server, closeAllIdle: () => void, ms: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  closeAllIdle();
  const timer = setTimeout(() => server.closeAllConnections(), ms);
  await closed;
  clearTimeout(timer);
}
