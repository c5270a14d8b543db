// Decides the floor that we are compared with: the least that an MCP server on the same SDK can do.

import { Server } from '@modelcontextprotocol/server';
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

serveStdio(createServer);
process.stdin.once('end', () => process.exit(0));
