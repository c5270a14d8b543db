// Decides how the search for tools is measured: how often the first answers have the right one, and how long it takes.
// The contract's scoring alone and MiniSearch as it comes stand beside it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import MiniSearch from 'minisearch';
import { runRounds, timeCalls } from './rounds.mjs';
import { compare } from './statistics.mjs';

/** @typedef {{ query: string, tools: string[] }} Request */
/** @typedef {(query: string) => string[]} Finder finds names of tools, the best first */

/** @type {Record<string, string>} */
const FILES = {
  requests: 'requests',
  'held-out': 'requests held out',
  foreign: 'foreign requests',
  'foreign-held-out': 'foreign requests held out',
};
const RANKS = [1, 3, 5];
const GOAL = 0.95;

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'minisearch', title: 'MiniSearch: one request', unit: 'ms' },
  {
    id: 'ours',
    title: 'live-lisp: one request',
    unit: 'ms',
    baseline: 'minisearch',
    goal: { of: 'p50', atMost: 0.3 },
  },
];

const NOTE = `In \`bench/ranking/\`: requests as an agent would make them, written by somebody who did not know the ranking. A second
judge went over the right answers. Those held out were never read while the ranking was tuned. But their score was looked
at ten times, so it flatters a little; the tests do not look at them. MiniSearch has the same texts and its defaults: of
so few tools it answers most to every request. A foreign request is for what no tool here can do; most share a word with
one that can.`;

/**
 * Returns the requests of the file NAME.
 * @param {string} name
 * @returns {Request[]}
 */
export function readRequests(name) {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'ranking', `${name}.json`), 'utf8'));
}

/**
 * Measures the search over the tools of STAGE; the times in ROUNDS rounds.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} rounds
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureSearch(stage, rounds) {
  const { searchTools, TOOL_CATALOG } = await import(pathToFileURL(stage.library).href);
  /** @type {Record<string, Finder>} */
  const finders = {
    'live-lisp': (query) => searchTools({ query }).tools.map(nameOf),
    'the contract alone': (query) =>
      searchTools({ query }).tools.flatMap((/** @type {any} */ tool) => (tool.match ? [] : [tool.name])),
    MiniSearch: plainMiniSearch([...TOOL_CATALOG.values()]),
  };
  return {
    title: 'Finding a tool',
    note: NOTE,
    shares: {
      head: [
        'requests',
        'n',
        ...RANKS.map((rank) => `recall@${rank}`),
        'tools an answer',
        `recall@3 ≥ ${GOAL}`,
      ],
      rows: Object.keys(FILES).flatMap((file) =>
        Object.entries(finders).map(([name, find]) => row(name, file, find)),
      ),
    },
    ...compare(MEASURES, await timeFinders(finders, rounds)),
  };
}

/** @param {{ name: string }} tool */
function nameOf({ name }) {
  return name;
}

/**
 * @param {string} name
 * @param {string} file
 * @param {Finder} find
 */
function row(name, file, find) {
  const requests = readRequests(file);
  const answers = requests.map(({ query, tools }) => ({ tools, found: find(query) }));
  const size = answers.reduce((sum, { found }) => sum + found.length, 0) / answers.length;
  const title = `${name}: ${FILES[file]}`;
  if (file.startsWith('foreign')) {
    const nothing = answers.filter(({ found }) => found.length === 0).length;
    return [title, String(answers.length), '', '', '', size.toFixed(2), `nothing to ${nothing}`];
  }
  const recalls = RANKS.map((rank) => {
    const right = answers.filter(({ tools, found }) =>
      tools.some((tool) => found.slice(0, rank).includes(tool)),
    );
    return right.length / answers.length;
  });
  const verdict = (recalls[1] ?? 0) >= GOAL ? 'met' : 'not met';
  return [title, String(answers.length), ...recalls.map((each) => each.toFixed(3)), size.toFixed(2), verdict];
}

/**
 * Returns MiniSearch with its defaults over all texts of TOOLS.
 * @param {any[]} tools
 * @returns {Finder}
 */
function plainMiniSearch(tools) {
  const fields = ['name', 'keywords', 'shortDescription', 'fullDescription', 'parameters'];
  const search = new MiniSearch({ fields, idField: 'name' });
  search.addAll(
    tools.map((tool) => ({
      ...tool,
      keywords: tool.keywords.join(' '),
      parameters: Object.entries(tool.inputSchema.properties)
        .map(([name, { description }]) => `${name} ${description}`)
        .join(' '),
    })),
  );
  return (query) => search.search(query).map(({ id }) => id);
}

/**
 * @param {Record<string, Finder>} finders
 * @param {number} rounds
 */
async function timeFinders(finders, rounds) {
  const queries = readRequests('requests').map(({ query }) => query);
  const turn = (/** @type {string} */ id, /** @type {Finder | undefined} */ find) => async () => {
    let next = 0;
    return { [id]: await timeCalls(queries.length, async () => find?.(queries[next++] ?? '')) };
  };
  return runRounds(rounds, [turn('minisearch', finders['MiniSearch']), turn('ours', finders['live-lisp'])]);
}
