// The places of lists in the sources of libraries against SBCL's own form numbers, for each SBCL: `make check-long`. They are
// those that the recorder kept when this image compiled a file, and those that are read again for a fasl of another image.
// It writes the rows of its SBCL to result.json, of which docs/develop/callers.md is made.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSession, temporaryFolder, testSbcl } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { writeMeasured } from '../measured.ts';
import { askSbcl, type Report } from './oracle.ts';

/** Libraries whose files are in the standard syntax, so that the oracle can read them. */
const SYSTEMS = libraries(
  'alexandria',
  'cl-ppcre',
  'hunchentoot',
  'drakma',
  'esrap',
  'fiveam',
  'ironclad',
  'flexi-streams',
  'chunga',
  'split-sequence',
  'usocket',
  'babel',
  'chipz',
  'local-time',
  'lparallel',
  'metabang-bind',
  'cl-containers',
  'cl-markdown',
  'xmls',
  'salza2',
);

/** How many lists of the libraries have a place of their own, none (`within this form`), or another one. */
interface Count {
  reported: number;
  exact: number;
  within: number;
  wrong: number;
}

/** What was counted with an SBCL of files that got into the image in a WAY. */
interface Row extends Count {
  sbcl: string;
  way: string;
}

/** The starts of lists by the file and the number of their top-level form. */
type Starts = Map<string, number[]>;

const RESULT = join(import.meta.dirname, 'result.json');
const FILES = temporaryFolder().path;

/** Writes what was counted by the way into the image to RESULT, in place of the rows of the same SBCL. */
async function keep(counts: Record<string, Count>): Promise<void> {
  const sbcl = execFileSync(testSbcl(), ['--version'], { encoding: 'utf8' }).trim();
  const known = JSON.parse(readFileSync(RESULT, 'utf8')) as { rows: Row[] };
  const others = known.rows.filter((row) => row.sbcl !== sbcl);
  const rows = [...others, ...Object.entries(counts).map(([way, count]) => ({ sbcl, way, ...count }))];
  rows.sort((one, other) => one.sbcl.localeCompare(other.sbcl, 'en', { numeric: true }));
  await writeMeasured(RESULT, { rows });
}

/** Returns where lists begin as an image says that loads SYSTEMS, and compiles them with FORCE. */
async function reportedStarts(force: boolean): Promise<Starts> {
  const output = join(FILES, `told-${force}.txt`);
  const session = await startSession({ args: ['--root', FILES, '--no-sandbox'] });
  const names = SYSTEMS.map((system) => JSON.stringify(system)).join(' ');
  await session.eval(`(load "${join(import.meta.dirname, 'recorded.lisp')}")`);
  await session.eval(`(told-places:report '(${names}) ${force ? 't' : 'nil'} "${output}")`, { timeout: 600 });
  await session.close();
  const starts: Starts = new Map();
  let file = '';
  for (const line of readFileSync(output, 'utf8').split('\n')) {
    const [kind, first = '', ...rest] = line.split(' ');
    if (kind === 'file') file = line.slice('file '.length);
    if (kind === 'form') starts.set(`${file} ${first}`, rest.map(Number));
  }
  return starts;
}

/** Holds STARTS against REPORTS. Adds to WRONG where they differ. */
function compared(reports: readonly Report[], starts: Starts, wrong: string[]): Count {
  const count: Count = { reported: 0, exact: 0, within: 0, wrong: 0 };
  for (const { file, lines } of reports) {
    for (const [form, [, ...lists]] of lines.entries()) {
      const reported = starts.get(`${file} ${form}`) ?? [];
      for (const [number, start] of lists.entries()) {
        if (Number.isNaN(start)) continue;
        const place = reported[number] ?? Number.NaN;
        count.reported++;
        if (place === start) count.exact++;
        else if (Number.isNaN(place)) count.within++;
        else {
          count.wrong++;
          wrong.push(`${file} form ${form}, list ${number}: ${place}, not ${start}`);
        }
      }
    }
  }
  return count;
}

test('lists of libraries have the places that SBCL numbers', async () => {
  const reports = askSbcl(...SYSTEMS.map((system) => `report-system "${system}"`));
  const wrong: string[] = [];
  const counts = {
    compiled: compared(reports, await reportedStarts(true), wrong),
    'from the cache': compared(reports, await reportedStarts(false), wrong),
  };
  console.log(counts, wrong.slice(0, 40).join('\n'));
  await keep(counts);
  for (const { reported, exact } of Object.values(counts)) {
    expect(reported).toBeGreaterThan(50_000);
    expect(exact / reported, wrong.join('\n')).toBeGreaterThanOrEqual(12_819 / 12_839);
  }
  expect(wrong).toEqual([]);
});
