// Converts the requests and responses of Node to those of the Fetch API, and back.

import type { IncomingMessage, ServerResponse } from 'node:http';

/** Returns REQUEST without its body. The signal of the result aborts when the connection ends before RESPONSE is
 * complete. */
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

/** Writes ANSWER as RESPONSE, no faster than the client reads it. Resolves when all is written. When the connection
 * ends before this, cancels ANSWER and resolves. */
export async function writeAnswer(answer: Response, response: ServerResponse): Promise<void> {
  // The connection has ended already, so RESPONSE emits no further event that could be waited for.
  if (response.destroyed) return answer.body?.cancel();
  const headers = Object.fromEntries(answer.headers);
  // Node itself sets this header, according to the client's request and whether the listener is ending.
  delete headers['connection'];
  if (answer.body === null || headers['content-type'] !== 'text/event-stream') {
    const text = await answer.text();
    response.writeHead(answer.status, { ...headers, 'content-length': Buffer.byteLength(text) });
    // Node sends a string in the same write as the head, but octets in a second write.
    response.end(text);
    return;
  }
  response.writeHead(answer.status, headers);
  response.flushHeaders();
  const reader = answer.body.getReader();
  response.on('close', () => void reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!response.write(value) && !response.destroyed) await drained(response);
  }
  response.end();
}

/** Resolves when RESPONSE can take more data, or when the connection has ended. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}
