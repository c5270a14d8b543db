// Decides what one run of the bench measures, how often, and where the figures go.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureAnswers } from './answers.mjs';
import { measureBlocks } from './blocks.mjs';
import { measureCallers } from './callers.mjs';
import { measureCommands } from './command.mjs';
import { setStage } from './contestants.mjs';
import { measureMemory, measureSizes } from './footprint.mjs';

import { measureHttp } from './http.mjs';
import { measureImage, openLibraryImage } from './image.mjs';
import { describeMachine, loadNow } from './machine.mjs';
import { measureNewer } from './newer.mjs';
import { measureObserving } from './observe.mjs';
import { measurePlaces } from './places.mjs';
import { measureHeap, measureLoads } from './programs.mjs';
import { measureRecords } from './records.mjs';
import { terminalTable, writeDocuments, writeSections } from './report.mjs';
import { measureRoundTrips, measureSearches } from './roundtrip.mjs';
import { measureSearch } from './search.mjs';
import { measureFirstStarts, measureStarts } from './start.mjs';
import { holdToGoals } from './statistics.mjs';
import { measureTasks } from './tasks.mjs';

/** @typedef {import('./contestants.mjs').Stage} Stage */
/** @typedef {import('./statistics.mjs').Section} Section */
/** @typedef {typeof FULL} Sizes */

const FULL = {
  starts: 40,
  firsts: 10,
  trips: { rounds: 25, count: 100 },
  image: { rounds: 20, count: 25 },
  searches: { rounds: 20, count: 25 },
  memory: 5,
  heap: 9,
  loads: 9,
  callers: 5,
  observe: 7,
  places: 9,
  blocks: { every: 8 },
  ranking: { rounds: 20, every: 1 },
};
const QUICK = {
  starts: 4,
  firsts: 1,
  trips: { rounds: 6, count: 100 },
  image: { rounds: 2, count: 5 },
  searches: { rounds: 4, count: 25 },
  memory: 1,
  heap: 1,
  loads: 1,
  callers: 1,
  observe: 1,
  places: 1,
  blocks: { every: 50 },
  ranking: { rounds: 2, every: 10 },
};

/** A baseline that moved by more than this between the halves of a section says that the machine was not steady. */
const STEADY = 0.15;
/** How often a whole run measures a section at most until its baselines are steady. */
const TRIES = 3;

/**
 * How each section is measured.
 * @type {Record<string, (stage: Stage, sizes: Sizes) => Promise<Section | undefined>>}
 */
const SECTIONS = {
  start: (stage, { starts }) => measureStarts(stage, starts),
  first: (stage, { firsts }) => measureFirstStarts(stage, firsts),
  command: (stage, { starts }) => measureCommands(stage, starts),
  trips: (stage, { trips }) => measureRoundTrips(stage, trips),
  http: (stage, { trips }) => measureHttp(stage, trips),
  image: (stage, { image }) => withLibraries(stage, (client) => measureImage(client, image)),
  libraries: (stage, { searches }) =>
    withLibraries(stage, (client) => measureSearches(stage, client, searches)),
  tasks: (stage) => measureTasks(stage),
  records: (stage, { searches }) => measureRecords(stage, searches),
  memory: (stage, { memory }) => measureMemory(stage, memory),
  heap: (stage, { heap }) => measureHeap(stage, heap),
  loads: (stage, { loads }) => measureLoads(stage, loads),
  callers: (stage, { callers }) => measureCallers(stage, callers),
  observe: (stage, { observe }) => measureObserving(stage, observe),
  places: (stage, { places }) => measurePlaces(stage, places),
  blocks: (stage, { blocks }) => measureBlocks(stage, blocks),
  newer: (stage, { starts, trips }) => measureNewer(stage, starts, trips),
  ranking: (stage, { ranking }) => measureSearch(stage, ranking),
  sizes: (stage, { ranking }) => measureSizes(stage, ranking.every),
  answers: (stage) => measureAnswers(stage),
};

const USAGE = `Usage: node bench/run.mjs [--quick] [--only SECTION,...] [--json FILE] [--write] [--strict]

  --quick      a few rounds, to see that the bench works
  --only       these sections of ${Object.keys(SECTIONS).join(', ')}
  --json FILE  write all figures to FILE
  --write      write docs/develop/benchmarks.md and the list in README.md; with --only, these sections of the page alone
  --strict     fail when memory or a length is over twice its goal`;

/**
 * @template T
 * @param {Stage} stage
 * @param {(client: import('./client.mjs').Client) => Promise<T>} measure
 */
async function withLibraries(stage, measure) {
  const client = await openLibraryImage(stage);
  return measure(client).finally(() => client.close());
}

/**
 * Measures a section until its baselines are steady, TRIES times at most. Returns the steadiest, which says how far they
 * moved.
 * @param {() => Promise<Section | undefined>} measure
 * @param {number} tries
 */
async function steadiest(measure, tries) {
  /** @type {Section | undefined} */
  let best;
  for (let round = 0; round < tries; round++) {
    const section = await measure();
    if (section === undefined) return undefined;
    if ((section.drift ?? 0) <= STEADY) return section;
    if (best === undefined || (section.drift ?? 0) < (best.drift ?? 0)) best = section;
  }
  return best;
}

/**
 * Measures the sections NAMES, printing each when it is done.
 * @param {string[]} names
 * @param {Sizes} sizes
 * @param {number} tries of each section at most
 */
async function measure(names, sizes, tries) {
  const stage = await setStage();
  /** @type {Section[]} */
  const sections = [];
  try {
    for (const name of names) {
      const section = await steadiest(async () => SECTIONS[name]?.(stage, sizes), tries);
      if (section === undefined) continue;
      sections.push(section);
      console.log(terminalTable(section));
    }
  } finally {
    stage.remove();
  }
  return sections;
}

/**
 * Returns the sections that ONLY, the value of --only, names; all when it is undefined.
 * @param {string | undefined} only
 */
function sectionNames(only) {
  const names = only === undefined ? Object.keys(SECTIONS) : only.split(',');
  const unknown = names.find((name) => !(name in SECTIONS));
  if (unknown === undefined) return names;
  throw new Error(`There is no section ${unknown}. There are: ${Object.keys(SECTIONS).join(', ')}.`);
}

/**
 * Prints which sizes of SECTIONS are over twice their goals, which makes the run fail, and how many are not.
 * @param {Section[]} sections
 */
function judge(sections) {
  const { goals, over } = holdToGoals(sections, 2);
  for (const text of over) console.error(text);
  console.log(`${goals - over.length} passed, ${over.length} failed`);
  if (over.length > 0) process.exitCode = 1;
}

async function main() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean' },
      only: { type: 'string' },
      json: { type: 'string' },
      write: { type: 'boolean' },
      strict: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return console.log(USAGE);
  const names = sectionNames(values.only);
  const machine = describeMachine();
  const before = loadNow();
  console.log(`${machine}, load ${before}\n`);
  const sections = await (values.quick ? measure(names, QUICK, 1) : measure(names, FULL, TRIES));
  const command = `node bench/run.mjs${values.quick ? ' --quick' : ''} --write`;
  const run = { machine, load: { before, after: loadNow() }, command, sections };
  if (values.json) writeFileSync(values.json, `${JSON.stringify(run, null, 2)}\n`);
  if (values.write && values.only) writeSections(sections);
  else if (values.write) writeDocuments(run);
  if (values.strict) judge(sections);
}

try {
  await main();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`);
  if (error instanceof Error && error.cause instanceof Error) console.error(error.cause.message);
  // What a section started would keep this process waiting.
  process.exit(1);
}
