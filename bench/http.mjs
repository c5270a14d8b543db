// Decides how calls over HTTP are measured: one after the other on a connection that stays open, in blocks that alternate
// with the floor's.

import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { runRounds, timeCalls } from './rounds.mjs';
import { compare } from './statistics.mjs';

const TOKEN = 'x'.repeat(32);
const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'live-lisp-bench', version: '1.0.0' },
};

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'echo', title: 'floor: `echo` over HTTP', unit: 'ms' },
  {
    id: 'eval',
    title: '`eval_form` of `(+ 1 2)` over HTTP',
    unit: 'ms',
    baseline: 'echo',
    goal: {
      of: 'ratio',
      atMost: 1.3,
      missed:
        'the floor stays in one process, and an evaluation goes through the pipes to the image and back, as over stdio. Of Node’s CPU time the write to the image takes a sixth. Before its handler calls the tool, the SDK takes less time here than in the floor, since it gets the body as JSON that was read once.',
    },
  },
];

/**
 * Measures calls over HTTP in ROUNDS blocks of COUNT calls.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {{ rounds: number, count: number }} size
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureHttp(stage, { rounds, count }) {
  const floor = await start(stage.floor, ['--http']);
  const ours = await start(stage.warm, ['serve', '--http', '0']);
  try {
    const samples = await runRounds(rounds, [
      async () => ({ echo: await timeCalls(count, () => floor.call('echo', { text: '(+ 1 2)' })) }),
      async () => ({ eval: await timeCalls(count, () => ours.call('eval_form', { form: '(+ 1 2)' })) }),
    ]);
    return {
      title: 'Round trips over HTTP',
      note: `Calls of the newer era one after the other on one connection, in blocks of ${count}, which alternate. The floor is the SDK’s handler behind Node’s server.`,
      ...compare(MEASURES, samples),
    };
  } finally {
    floor.close();
    ours.close();
  }
}

/**
 * Starts CONTESTANT with WORDS, and returns its client once it listens.
 * @param {import('./client.mjs').Contestant} contestant
 * @param {string[]} words
 */
async function start({ script, args = [], folder, env }, words) {
  const server = spawn(process.execPath, [script, ...words, ...args], {
    cwd: folder,
    env: { ...process.env, ...env, LIVE_LISP_HTTP_TOKEN: TOKEN },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of server.stdout) {
    printed += chunk;
    if (printed.includes('. ')) break;
  }
  const [, url = ''] = /is at (\S+)\. /.exec(printed) ?? [];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let id = 0;
  return {
    /**
     * Calls the tool NAME, and returns the text of its answer.
     * @param {string} name
     * @param {object} given
     * @returns {Promise<string>}
     */
    async call(name, given) {
      const params = { name, arguments: given, _meta: META };
      const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params });
      const { result } = JSON.parse(await post(url, name, agent, body));
      if (result.isError) throw new Error(`${name} failed: ${result.content[0].text}`);
      return result.content[0].text;
    },
    close: () => {
      agent.destroy();
      server.kill();
    },
  };
}

/**
 * @param {string} url
 * @param {string} name
 * @param {Agent} agent
 * @param {string} body
 * @returns {Promise<string>}
 */
function post(url, name, agent, body) {
  const headers = {
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'mcp-protocol-version': VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
