// A model on loopback that follows a script of tool calls, in the dialect in which it is asked.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Action, type Asked, DIALECTS, Json } from './dialects.ts';

/** Decides what the model does next when it is asked ASKED. */
export type Next = (asked: Asked) => Action | Promise<Action>;

/** A model that is there until it is closed. */
export interface Model {
  url: string;
  /** What it was asked by whoever gave it tools, in order. */
  asked: Asked[];
  close: () => Promise<void>;
}

/** Starts a model that does what NEXT says. Who asks it without tools, or with a text that ASIDE matches, as for a title,
 *  gets a text. */
export async function startModel(next: Next, aside = /^$/): Promise<Model> {
  const all: Asked[] = [];
  const server = createServer((request, response) => {
    answer(request, response, { next, aside, all }).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: all, close: () => closed(server) };
}

interface Asking {
  next: Next;
  aside: RegExp;
  all: Asked[];
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { next, aside, all }: Asking,
): Promise<void> {
  const path = request.url?.split('?')[0] ?? '';
  const body = new Json(parsed(await text(request)));
  const dialect = request.method === 'POST' ? DIALECTS.find((each) => each.path.test(path)) : undefined;
  if (dialect === undefined) {
    // Lists of models and counts of tokens: nobody needs them.
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ object: 'list', data: [], models: [], input_tokens: 100, totalTokens: 100 }),
    );
    return;
  }
  const asked = dialect.read(body);
  if (asked.tools.length === 0 || aside.test(asked.texts)) {
    dialect.write({ kind: 'text', text: 'A title' }, response, body);
    return;
  }
  all.push(asked);
  dialect.write(await next(asked), response, body);
}

function parsed(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
