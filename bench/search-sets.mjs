// Decides how the search is measured over any tools with any requests: npm run bench:search -- --queries FILE.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import v8 from 'node:v8';
import vm from 'node:vm';
import { builtIn, grown, hostSearch, idOf, miniSearch, ourFinder, overlap, qualityOf } from './finders.mjs';

/** @typedef {import('./finders.mjs').Tool} Tool */
/** @typedef {import('./finders.mjs').Request} Request */
/** @typedef {import('./finders.mjs').Finder} Finder */

const USAGE = `npm run bench:search -- --queries FILE.jsonl [--tools FILE.jsonl] [--grow N] [--json]

--tools    a line a tool: {"name", "description", "inputSchema"?, "keywords"?, "category"?, "server"?, "id"?};
           without it, the built-in tools
--queries  a line a request: {"query", "gold": [ids]}; an id is the "id" or the "name"; without gold no tool serves it
--grow     adds tools like these until there are N, to measure times and memory; ours alone is measured then
--json     prints JSON`;

const BUCKETS = /** @type {const} */ ([
  ['low', 0, 0.2],
  ['middle', 0.2, 0.6],
  ['high', 0.6, 1.1],
]);

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc');

/**
 * @param {string} file
 * @returns {any[]}
 */
function readLines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
}

/** Milliseconds of CPU that this process has used. */
function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Megabytes that live in this process. */
function memory() {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1024 / 1024;
}

/**
 * Returns the figures of the finder that MAKE makes, with REQUESTS for TOOLS.
 * @param {() => Finder} make
 * @param {readonly Request[]} requests
 * @param {ReadonlyMap<string, Tool>} tools
 */
function measure(make, requests, tools) {
  const [used, began] = [memory(), cpu()];
  const find = make();
  const build = cpu() - began;
  const held = memory() - used;
  // The program is compiled while it runs, so the first searches do not count.
  for (const { query } of requests.slice(0, 100)) find(query);
  const answers = requests.map(({ query, gold }) => ({ query, gold, found: find(query) }));
  const times = timesOf(find, requests).sort((one, other) => one - other);
  const answerable = answers.filter(({ gold }) => gold.length > 0);
  const at = (/** @type {number} */ part) =>
    times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  const buckets = BUCKETS.map(([name, from, to]) => {
    const some = answerable.filter((request) => {
      const share = overlap(request, tools);
      return share >= from && share < to;
    });
    return [name, some.length === 0 ? undefined : qualityOf(some)];
  });
  const whole = qualityOf(answerable);
  return { ...whole, buckets: Object.fromEntries(buckets), p50: at(0.5), p99: at(0.99), build, memory: held };
}

/** How often each request is timed. */
const PASSES = 5;

/**
 * Returns how long FIND takes for each of REQUESTS: the least of some passes. In any one the threads of V8 compile and
 * collect garbage, and the request that runs meanwhile would be charged for that.
 * @param {Finder} find
 * @param {readonly Request[]} requests
 */
function timesOf(find, requests) {
  const least = requests.map(() => Number.POSITIVE_INFINITY);
  for (let pass = 0; pass < PASSES; pass++) {
    requests.forEach(({ query }, at) => {
      const start = cpu();
      find(query);
      least[at] = Math.min(least[at] ?? 0, cpu() - start);
    });
  }
  return least;
}

/**
 * Returns TOOL as the package's catalogs have it.
 * @param {Tool} tool
 */
function metadataOf(tool) {
  const { name, description = '', inputSchema = {}, keywords = [], category = '', server } = tool;
  const [shortDescription = ''] = /^.*?\.(?=\s|$)|^.*/s.exec(description) ?? [];
  return {
    name,
    shortDescription,
    fullDescription: description,
    category: 'utility',
    categories: category === '' ? [] : [category],
    complexity: 'simple',
    tokenCost: { min: 1, max: 1 },
    hasCEMCPDirective: false,
    keywords,
    words: [],
    server,
    id: tool.id,
    safetyLevel: 'cautious',
    alwaysLoad: false,
    inputSchema: { ...inputSchema, properties: inputSchema.properties ?? {} },
  };
}

/**
 * @param {any} library
 * @param {readonly Tool[] | undefined} tools undefined for the built-in ones
 */
function ourCatalog({ TOOL_CATALOG }, tools) {
  if (tools === undefined) return TOOL_CATALOG;
  const catalog = new Map(tools.map((tool) => [idOf(tool), metadataOf(tool)]));
  // The package does not export the ranking. A map without one would be indexed again by each search.
  const { constructor: Ranking } = TOOL_CATALOG.ranking;
  return Object.assign(catalog, { ranking: new Ranking(catalog.values()) });
}

async function main() {
  const { values } = parseArgs({
    options: {
      tools: { type: 'string' },
      queries: { type: 'string' },
      grow: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  if (values.queries === undefined) throw new Error(USAGE);
  const library = await import(join(import.meta.dirname, '..', 'dist', 'index.js'));
  const given = values.tools === undefined ? undefined : readLines(values.tools);
  const tools = given && grown(given, Number(values.grow ?? 0));
  const shown = tools ?? builtIn(library.TOOL_CATALOG);
  /** @type {Request[]} */
  const requests = readLines(values.queries).map(({ query, gold = [] }) => ({ query, gold }));
  const byId = new Map(shown.map((tool) => [idOf(tool), tool]));
  /** @type {any} */
  let ours;
  const finders = {
    'live-lisp': () => {
      ours = ourFinder(library, ourCatalog(library, tools));
      return ours.find;
    },
    'the contract alone': () => ours.literal,
    'MiniSearch, defaults': () => miniSearch(shown),
    "BM25, as clients' own": () => hostSearch(shown),
  };
  const measured = values.grow === undefined ? Object.entries(finders) : Object.entries(finders).slice(0, 1);
  const figures = measured.map(([name, make]) => ({ name, ...measure(make, requests, byId) }));
  const foreign = requests.filter(({ gold }) => gold.length === 0);
  const answerable = requests.filter(({ gold }) => gold.length > 0);
  const marks = {
    foreign: foreign.length,
    unmarked: foreign.filter(({ query }) => ours.isSure(query)).length,
    answerable: answerable.length,
    weak: answerable.filter(({ query }) => !ours.isSure(query)).length,
  };
  if (values.json) console.log(JSON.stringify({ tools: shown.length, figures, marks }, null, 2));
  else print(shown.length, figures, marks);
}

/**
 * @param {number} count
 * @param {any[]} figures
 * @param {{ foreign: number, unmarked: number, answerable: number, weak: number }} marks
 */
function print(count, figures, marks) {
  const number = (/** @type {number} */ each) => each.toFixed(3);
  const row = (/** @type {string[]} */ cells) => console.log(`| ${cells.join(' | ')} |`);
  console.log(
    `${count} tools; ${marks.answerable} requests that one serves, ${marks.foreign} that none does\n`,
  );
  row([
    'search',
    'R@1',
    'R@3',
    'R@5',
    'R@10',
    'any@1',
    'any@3',
    'nDCG@10',
    'MRR',
    'empty',
    'p50 ms',
    'p99 ms',
    'build ms',
    'MB',
  ]);
  row(Array(14).fill('---'));
  for (const each of figures) {
    const quality = [each[1], each[3], each[5], each[10], each.any1, each.any3, each.ndcg, each.mrr].map(
      number,
    );
    const times = [each.p50, each.p99].map(number);
    row([each.name, ...quality, String(each.empty), ...times, each.build.toFixed(0), each.memory.toFixed(1)]);
  }
  console.log('\nBy how much of the names a request has:\n');
  row(['search', ...BUCKETS.map(([name]) => `${name}: n, R@5, nDCG@10`)]);
  row(Array(4).fill('---'));
  for (const { name, buckets } of figures) {
    const cell = (/** @type {any} */ each) =>
      each ? `${each.of}, ${number(each[5])}, ${number(each.ndcg)}` : '';
    row([name, ...BUCKETS.map(([bucket]) => cell(buckets[bucket]))]);
  }
  console.log(
    `\nMarked as weak: ${marks.weak} of ${marks.answerable} that a tool serves; not marked: ${marks.unmarked} of ${marks.foreign} that none does.`,
  );
}

await main();
