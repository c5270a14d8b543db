// Translates between the requests and responses of Node and those of the Fetch API.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';

/** Returns REQUEST without its body. Its signal aborts when the connection ends before RESPONSE. */
export function webRequest(request: IncomingMessage, response: ServerResponse): Request {
  const gone = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return new Request(`http://localhost${request.url ?? '/'}`, {
    method: request.method ?? 'GET',
    headers,
    signal: gone.signal,
  });
}

/** Writes ANSWER as RESPONSE, no faster than the client reads it. Resolves at its end, or at the end of the
 *  connection, when ANSWER is cancelled. */
export async function writeAnswer(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response).catch(() => {});
}
