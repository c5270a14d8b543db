// Decides what one run of the bench measures, how often, and where the figures go.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setStage } from './contestants.mjs';
import { measureMemory, measureSizes } from './footprint.mjs';
import { measureImage, openLibraryImage } from './image.mjs';
import { busyLine, describeMachine } from './machine.mjs';
import { terminalTable, writeDocuments } from './report.mjs';
import { measureRoundTrips, measureSearches } from './roundtrip.mjs';
import { measureSearch } from './search.mjs';
import { measureStarts } from './start.mjs';
import { measureTasks } from './tasks.mjs';

const USAGE = `Usage: node bench/run.mjs [--quick] [--json FILE] [--write]

  --quick      a few rounds, to see that the bench works
  --json FILE  write all figures to FILE
  --write      write docs/benchmarks.md and the list in README.md`;

const FULL = {
  starts: 40,
  trips: { rounds: 25, count: 100 },
  image: { rounds: 20, count: 25 },
  searches: { rounds: 20, count: 5 },
  memory: 5,
  ranking: 20,
};
const QUICK = {
  starts: 2,
  trips: { rounds: 2, count: 10 },
  image: { rounds: 2, count: 5 },
  searches: { rounds: 2, count: 2 },
  memory: 1,
  ranking: 1,
};

/**
 * Measures all sections, printing each when it is done.
 * @param {typeof FULL} sizes
 */
async function measure(sizes) {
  const stage = await setStage();
  /** @type {import('./statistics.mjs').Section[]} */
  const sections = [];
  const add = (/** @type {import('./statistics.mjs').Section | undefined} */ section) => {
    if (section === undefined) return;
    sections.push(section);
    console.log(terminalTable(section));
  };
  try {
    add(await measureStarts(stage, sizes.starts));
    add(await measureRoundTrips(stage, sizes.trips));
    const client = await openLibraryImage(stage);
    try {
      add(await measureImage(client, sizes.image));
      add(await measureSearches(stage, client, sizes.searches));
    } finally {
      await client.close();
    }
    add(await measureTasks(stage));
    add(await measureMemory(stage, sizes.memory));
    add(await measureSearch(stage, sizes.ranking));
    add(await measureSizes(stage));
  } finally {
    stage.remove();
  }
  return sections;
}

async function main() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean' },
      json: { type: 'string' },
      write: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return console.log(USAGE);
  const machine = describeMachine();
  console.log(`${machine}\n${busyLine()}`);
  const sections = await measure(values.quick ? QUICK : FULL);
  const run = { machine, command: `node bench/run.mjs${values.quick ? ' --quick' : ''} --write`, sections };
  if (values.json) writeFileSync(values.json, `${JSON.stringify(run, null, 2)}\n`);
  if (values.write) writeDocuments(run);
}

try {
  await main();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`);
  if (error instanceof Error && error.cause instanceof Error) console.error(error.cause.message);
  process.exitCode = 1;
}
