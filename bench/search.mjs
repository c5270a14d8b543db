// Decides how the search for tools is measured here: how often the first answers have the right one, and how long it
// takes. The contract's scoring alone, MiniSearch as it comes and a search as clients make it stand beside it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtIn, hostSearch, miniSearch, ourFinder, qualityOf } from './finders.mjs';
import { runRounds, timeCalls } from './rounds.mjs';
import { compare } from './statistics.mjs';

/** @typedef {import('./finders.mjs').Request} Request */
/** @typedef {import('./finders.mjs').Finder} Finder */

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

const NOTE = `The requests of \`bench/ranking/requests.jsonl\` are those that the words of the tools were chosen with, so their figures
flatter. Those of \`unseen.jsonl\` beside it were written before a description was changed, and no word was chosen by them.
\`npm run bench:search -- --queries FILE\` measures others, and with \`--tools FILE\` those of any catalog. A request without a right tool is for what no tool here can do; most share a word with one that can. A weak match is marked so.`;

/**
 * Returns the requests in FILE, by default those by which the words were chosen, or each so many of them that EVERY says.
 * @param {number} every
 * @param {string} [file]
 * @returns {Request[]}
 */
export function readRequests(every, file = 'requests.jsonl') {
  const lines = readFileSync(join(import.meta.dirname, 'ranking', file), 'utf8')
    .trim()
    .split('\n');
  return lines.filter((_, index) => index % every === 0).map((line) => JSON.parse(line));
}

/**
 * Measures the search over the tools of STAGE with each so many requests that EVERY says; the times in ROUNDS rounds.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {{ rounds: number, every: number }} size
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureSearch(stage, { rounds, every }) {
  const requests = readRequests(every);
  const unseen = readRequests(1, 'unseen.jsonl');
  const library = await import(pathToFileURL(stage.library).href);
  const ours = ourFinder(library, library.TOOL_CATALOG);
  const shown = builtIn(library.TOOL_CATALOG);
  /** @type {Record<string, Finder>} */
  const finders = {
    'live-lisp': ours.find,
    'the contract alone': ours.literal,
    MiniSearch: miniSearch(shown),
    "BM25, as clients' own": hostSearch(shown),
  };
  return {
    title: 'Finding a tool',
    note: NOTE,
    shares: {
      head: ['search', 'n', 'right first', 'right among three', 'right among five', 'without an answer'],
      rows: [
        ...Object.entries(finders).map(([name, find]) => row(name, find, requests)),
        foreignRow(ours, requests),
        ...Object.entries(finders).map(([name, find]) => row(`${name}, unseen`, find, unseen)),
        foreignRow(ours, unseen),
      ],
    },
    ...compare(MEASURES, await timeFinders(finders, requests, rounds)),
  };
}

/**
 * @param {string} name
 * @param {Finder} find
 * @param {Request[]} requests
 */
function row(name, find, requests) {
  const answerable = requests.filter(({ gold }) => gold.length > 0);
  const answers = answerable.map(({ query, gold }) => ({
    gold: gold.slice(0, 1),
    all: gold,
    found: find(query),
  }));
  const first = (/** @type {number} */ rank) =>
    answers.filter(({ all, found }) => found.slice(0, rank).some((id) => all.includes(id))).length;
  const recalls = [1, 3, 5].map((rank) => (first(rank) / answers.length).toFixed(3));
  return [name, String(answers.length), ...recalls, String(qualityOf(answers).empty)];
}

/**
 * @param {import('./finders.mjs').OurFinder} ours
 * @param {Request[]} requests
 */
function foreignRow({ find, isSure }, requests) {
  const foreign = requests.filter(({ gold }) => gold.length === 0);
  const unmarked = foreign.filter(({ query }) => isSure(query)).length;
  const empty = foreign.filter(({ query }) => find(query).length === 0).length;
  const title = `live-lisp, of requests for what no tool does (${unmarked} not marked as weak)`;
  return [title, String(foreign.length), '', '', '', String(empty)];
}

/**
 * @param {Record<string, Finder>} finders
 * @param {Request[]} requests
 * @param {number} rounds
 */
async function timeFinders(finders, requests, rounds) {
  const queries = requests.map(({ query }) => query);
  const turn = (/** @type {string} */ id, /** @type {Finder | undefined} */ find) => async () => {
    let next = 0;
    return { [id]: await timeCalls(queries.length, async () => find?.(queries[next++] ?? '')) };
  };
  return runRounds(rounds, [turn('minisearch', finders['MiniSearch']), turn('ours', finders['live-lisp'])]);
}
