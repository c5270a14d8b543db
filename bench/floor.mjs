// Decides the floor that we are compared with: the least that an MCP server on the same SDK can do.

import { createServer as createHttpServer } from 'node:http';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const ECHO = {
  name: 'echo',
  description: 'Return the text, as often as asked.',
  inputSchema: {
    type: /** @type {const} */ ('object'),
    properties: { text: { type: 'string' }, times: { type: 'integer' } },
    required: ['text'],
  },
};

function createServer() {
  const server = new Server({ name: 'floor', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools: [ECHO] }));
  server.setRequestHandler('tools/call', async ({ params }) => ({
    content: [
      { type: 'text', text: String(params.arguments?.text).repeat(Number(params.arguments?.times ?? 1)) },
    ],
  }));
  return server;
}

/** Serves HTTP with what the SDK and Node have for that, and prints the URL. */
function serveHttp() {
  const handler = createMcpHandler(createServer);
  const server = createHttpServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = /** @type {Record<string, string>} */ (request.headers);
    const init = { method: request.method ?? 'POST', headers, body: Buffer.concat(chunks) };
    const answer = await handler.fetch(new Request(`http://localhost${request.url}`, init));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    console.log(`MCP over HTTP is at http://127.0.0.1:${port}/mcp. `);
  });
}

if (process.argv.includes('--http')) serveHttp();
else serveStdio(createServer);
process.stdin.once('end', () => process.exit(0));
