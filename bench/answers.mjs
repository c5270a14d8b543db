// Measures what the answers of each tool take of a model: calls of ordinary sessions over libraries and a project.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from './client.mjs';
import { quantile } from './statistics.mjs';

/** @typedef {{ session: string, tool: string, args: object }} Call */
/** @typedef {Call & { text: string }} Answered */

const CALLS = join(import.meta.dirname, 'answers', 'calls.jsonl');
const LIBRARIES = '/usr/share/common-lisp/source';
const PROJECT = join(import.meta.dirname, '..', 'fixtures', 'jobs');
/** The session over the project of the fixtures; the others are over the libraries of their names. */
const OWN = 'bakery';
const ALLOWED = [
  'edit_definitions',
  'rename_symbol',
  'write_file',
  'propose_file_edit',
  'restart_image',
].flatMap((tool) => ['--allow', tool]);

/** Returns the calls, in the order of their sessions. */
export function readCalls() {
  /** @type {Call[]} */
  const calls = readFileSync(CALLS, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return calls;
}

/**
 * Makes all calls with the server CONTESTANT, each session in a new copy of what it is about, and returns them with their
 * answers.
 * @param {Pick<import('./client.mjs').Contestant, 'script' | 'env'>} contestant
 * @returns {Promise<Answered[]>}
 */
export async function answeredCalls(contestant) {
  const sessions = grouped(readCalls(), ({ session }) => session);
  const answered = [];
  for (const [name, calls] of sessions) answered.push(...(await inSession(contestant, name, calls)));
  return answered;
}

/**
 * @template T
 * @param {readonly T[]} list
 * @param {(each: T) => string} key
 */
function grouped(list, key) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const each of list) groups.set(key(each), [...(groups.get(key(each)) ?? []), each]);
  return groups;
}

/**
 * @param {Pick<import('./client.mjs').Contestant, 'script' | 'env'>} contestant
 * @param {string} name
 * @param {Call[]} calls
 */
async function inSession({ script, env: given }, name, calls) {
  const place = mkdtempSync(join(tmpdir(), 'live-lisp-answers-'));
  const folder = join(place, name);
  cpSync(name === OWN ? PROJECT : join(LIBRARIES, name), folder, { recursive: true, dereference: true });
  const env = {
    ...given,
    XDG_STATE_HOME: join(place, 'state'),
    ASDF_OUTPUT_TRANSLATIONS: `(:output-translations :ignore-inherited-configuration (t ("${place}/compiled/" :implementation)))`,
  };
  const client = new Client({ script, args: ['--root', '.', '--no-sandbox', ...ALLOWED], folder, env });
  try {
    await client.initialize();
    const answered = [];
    for (const call of calls) {
      const { content } = await client.request('tools/call', { name: call.tool, arguments: call.args });
      const texts = content.map((/** @type {{ text: string }} */ { text }) => text);
      answered.push({ ...call, text: texts.join('\n\n') });
    }
    return answered;
  } finally {
    await client.close();
    rmSync(place, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Returns about how many tokens TEXT has: a quarter of its octets.
 * @param {string} text
 */
export function tokensOf(text) {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/**
 * Returns a row for each tool: its name, how many calls, p50 and p95 of the tokens of its answers before, and after.
 * @param {Answered[]} after
 * @param {Answered[]} [before] answers of another state of the program
 */
export function answerRows(after, before = []) {
  const figures = (/** @type {Answered[]} */ some) => {
    const tokens = some.map(({ text }) => tokensOf(text));
    return [quantile(tokens, 0.5), quantile(tokens, 0.95), tokens.reduce((sum, each) => sum + each, 0)];
  };
  const byTool = grouped(after, ({ tool }) => tool);
  const rows = [...byTool].sort(([one], [other]) => (one < other ? -1 : 1));
  return [...rows, ['all', after]].map(([tool, some]) => {
    const old = before.filter((call) => tool === 'all' || call.tool === tool);
    const cells = old.length === 0 ? figures(some) : [...figures(old), ...figures(some)];
    return [tool, some.length, ...cells].map(String);
  });
}

/**
 * Measures the answers of the program on STAGE.
 * @param {import('./contestants.mjs').Stage} stage
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureAnswers({ warm }) {
  const answered = await answeredCalls(warm);
  return {
    title: 'What answers take of a model',
    note: `${answered.length} calls of ordinary sessions over libraries and a project (\`bench/answers/calls.jsonl\`). A token is counted as four octets.`,
    figures: [],
    shares: { head: ['tool', 'calls', 'p50', 'p95', 'sum'], rows: answerRows(answered) },
  };
}

if (process.argv[1] === import.meta.filename) {
  const [script, against, kept] = process.argv.slice(2).map((path) => path && resolve(path));
  const after = await answeredCalls({ script: script ?? '' });
  const before = against ? await answeredCalls({ script: against }) : [];
  const head = against
    ? ['tool', 'calls', 'p50 before', 'p95 before', 'sum before', 'p50', 'p95', 'sum']
    : ['tool', 'calls', 'p50', 'p95', 'sum'];
  for (const row of [head, ...answerRows(after, before)]) console.log(row.join('\t'));
  if (kept) writeFileSync(kept, JSON.stringify({ before, after }, null, 1));
}
