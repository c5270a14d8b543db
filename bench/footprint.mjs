// Decides how memory at rest is measured, and the size of what every client reads first.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, connect } from './client.mjs';
import { runRounds } from './rounds.mjs';
import { readRequests } from './search.mjs';
import { compare } from './statistics.mjs';

const REST_MS = 2000;

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'floor', title: 'floor: its node process', unit: 'MB' },
  { id: 'node', title: 'live-lisp: its node process', unit: 'MB', baseline: 'floor' },
  { id: 'sbcl', title: 'live-lisp: its SBCL process', unit: 'MB' },
  { id: 'both', title: 'live-lisp: both processes', unit: 'MB', goal: { of: 'p50', atMost: 105 } },
];

const MODES = ['full', 'lightweight', 'summary', 'search'];

/** @type {import('./statistics.mjs').Measure[]} */
const SIZES = [
  {
    id: 'full',
    title: '`tools/list`, as a client gets it by default',
    unit: 'bytes',
    goal: { of: 'p50', atMost: 27_000 },
  },
  {
    id: 'tool',
    title: 'a tool of that list',
    unit: 'bytes',
    goal: { of: 'p99', atMost: 1400 },
  },
  { id: 'lightweight', title: '`tools/list` with `--list lightweight`', unit: 'bytes' },
  {
    id: 'summary',
    title: '`tools/list` with `--list summary`',
    unit: 'bytes',
    goal: { of: 'p50', atMost: 1500 },
  },
  { id: 'search', title: '`tools/list` with `--list search`', unit: 'bytes' },
  {
    id: 'answer',
    title: 'answer of `search_tools` to a request of the set above',
    unit: 'bytes',
    goal: { of: 'p50', atMost: 2000 },
  },
  { id: 'instructions', title: 'instructions', unit: 'bytes' },
];

/**
 * Measures the resident memory of processes at rest in ROUNDS rounds; nothing where there is no /proc.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} rounds
 * @returns {Promise<import('./statistics.mjs').Section | undefined>}
 */
export async function measureMemory(stage, rounds) {
  if (!existsSync('/proc/self/status')) return undefined;
  const samples = await runRounds(rounds, [
    async () => {
      // They rest side by side: neither has a part in the memory of the other.
      const [floor, ours] = await Promise.all([
        rested(stage.floor, 'echo', { text: '(+ 1 2)' }),
        rested(stage.warm, 'eval_form', { form: '(+ 1 2)' }),
      ]);
      return {
        floor: [floor.own],
        node: [ours.own],
        sbcl: [ours.children],
        both: [ours.own + ours.children],
      };
    },
  ]);
  return {
    title: 'Memory at rest',
    note: 'Resident memory (VmRSS; 1 MB is 1,000,000 bytes) 2 s after the first call of a new process was answered.',
    ...compare(MEASURES, samples),
  };
}

/**
 * Measures what a client gets before its first call, and from searches for each so many requests that EVERY says.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} every
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureSizes(stage, every) {
  /** @type {Record<string, number[]>} */
  const samples = {};
  /** @type {any[]} */
  let listed = [];
  for (const mode of MODES) {
    const client = new Client({ ...stage.warm, args: ['--list', mode] });
    const { instructions } = await client.initialize();
    const { tools } = await client.request('tools/list', {});
    samples[mode] = [octets({ tools })];
    if (mode === 'full') {
      listed = tools;
      samples['tool'] = tools.map(octets);
      samples['instructions'] = [Buffer.byteLength(instructions ?? '')];
      samples['answer'] = await answerSizes(client, every);
    }
    await client.close();
  }
  return {
    title: 'What a model reads',
    note: `In UTF-8, for ${listed.length} tools. The table has the parts of each; the rest of a tool is its name and punctuation.`,
    shares: {
      head: ['tool', 'bytes', 'description', 'parameters', 'hints'],
      rows: listed.map(sizesOf),
    },
    ...compare(SIZES, samples),
  };
}

/**
 * Returns how many bytes VALUE has as JSON.
 * @param {unknown} value
 */
function octets(value) {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

/**
 * Returns the row of TOOL: its name, its size, and the sizes of its parts.
 * @param {any} tool
 */
function sizesOf(tool) {
  const { name, description, inputSchema, annotations, _meta } = tool;
  const hints = octets(annotations) + octets(_meta);
  return [name, ...[octets(tool), octets(description), octets(inputSchema), hints].map(String)];
}

/**
 * Returns the sizes of what search_tools answers to each request, as text.
 * @param {Client} client
 * @param {number} every
 */
async function answerSizes(client, every) {
  const sizes = [];
  for (const { query } of readRequests(every)) {
    const { content } = await client.request('tools/call', { name: 'search_tools', arguments: { query } });
    sizes.push(Buffer.byteLength(content[0].text));
  }
  return sizes;
}

/**
 * Starts CONTESTANT, calls TOOL once, and returns the MB that its processes hold when they have rested.
 * @param {import('./client.mjs').Contestant} contestant
 * @param {string} tool
 * @param {object} args
 */
async function rested(contestant, tool, args) {
  const client = await connect(contestant);
  await client.call(tool, args);
  await sleep(REST_MS);
  const own = residentMegabytes(client.pid);
  const children = childrenOf(client.pid).reduce((sum, pid) => sum + residentMegabytes(pid), 0);
  await client.close();
  return { own, children };
}

/**
 * Returns how much memory of the process PID is resident.
 * @param {number} pid
 */
export function residentMegabytes(pid) {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return (Number(match?.[1]) * 1024) / 1e6;
}

/**
 * Returns the ids of the processes that PID started.
 * @param {number} pid
 */
export function childrenOf(pid) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

/** @param {string} pid */
function parentOf(pid) {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}
