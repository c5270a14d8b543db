// Writes tests/slow.json: the files of tests that take long, the longest first, with which a run begins. FILE is what a run of
// all tests says of itself: `npx vitest run --reporter=json --outputFile=FILE`, then `node scripts/slow-tests.mjs FILE`.

import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const PROJECT = join(import.meta.dirname, '..');

/** Milliseconds from which on a file is in the list: the end of a run is no longer than what is begun last. */
const LONG_MS = 5000;

const [, , report] = process.argv;
if (report === undefined) {
  console.error('Name the file that `npx vitest run --reporter=json --outputFile=FILE` has written.');
  process.exit(1);
}
const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
const slow = testResults
  .map(({ name, startTime, endTime }) => ({ path: relative(PROJECT, name), ms: endTime - startTime }))
  .filter(({ ms }) => ms >= LONG_MS)
  .sort((one, other) => other.ms - one.ms)
  .map(({ path }) => path);
writeFileSync(join(PROJECT, 'tests', 'slow.json'), `${JSON.stringify(slow, null, 2)}\n`);
