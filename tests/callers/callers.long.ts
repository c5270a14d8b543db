// who_calls against the sources of many libraries: `make check-long`.
// It writes result.json, of which docs/develop/callers.md is made.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT, startSession } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { writeMeasured } from '../measured.ts';
import { compared, type Row, sum } from './compare.ts';
import { truthOf } from './truth.ts';

/** Systems that are loaded into one image, each of so many callees is asked about, and others of each so many. */
const GROUPS: readonly { systems: string[]; step: number; others: number }[] = [
  {
    systems: libraries('alexandria', 'cl-ppcre', 'hunchentoot', 'drakma', 'esrap', 'fiveam'),
    step: 1,
    others: 20,
  },
  { systems: libraries('closure-common', 'cxml', 'cl-postgres', 's-sql', 'postmodern'), step: 3, others: 40 },
  {
    systems: libraries('ironclad', 'flexi-streams', 'chunga', 'cl-who', 'puri', 'usocket'),
    step: 3,
    others: 60,
  },
  {
    systems: libraries('iterate', 'closer-mop', 'cffi', 'babel', 'chipz', 'split-sequence'),
    step: 1,
    others: 20,
  },
  {
    systems: libraries('local-time', 'lparallel', 'metabang-bind', 'parse-number', 'cl-log'),
    step: 1,
    others: 20,
  },
  {
    systems: [...libraries('cl-containers', 'graph', 'contextl', 'cl-markdown', 'pipes'), 'graph/dot'],
    step: 1,
    others: 20,
  },
  {
    systems: libraries('xmls', 'cl-csv', 'uuid', 'salza2', 'cl-interpol', 'metatilities-base'),
    step: 1,
    others: 20,
  },
  {
    systems: libraries('zpb-ttf', 'py-configparser', 'pg', 'cl-mustache', 'kmrcl', 'lml2'),
    step: 1,
    others: 20,
  },
];

const FILE = join(PROJECT, 'tests', 'callers', 'result.json');
/** The oracle asks Swank too. */
libraries('swank');

test('who_calls tells the callers that the sources of libraries have', async () => {
  const rows: Row[] = [];
  const missed: string[] = [];
  for (const { systems, step, others } of GROUPS) {
    const truth = truthOf(systems, others);
    const session = await startSession();
    for (const system of systems) await session.text('load_system', { system });
    const found = await compared(session, truth, step);
    await session.close();
    const libraries = new Set(rows.map(({ library }) => library));
    rows.push(...found.rows.filter(({ library }) => !libraries.has(library)));
    missed.push(...found.missed, ...found.wrong);
  }
  rows.sort((one, other) => (one.library < other.library ? -1 : 1));
  await writeMeasured(FILE, { rows });
  const { there, found, given, right } = sum(rows.map(({ named }) => named));
  expect(found / there, missed.join('\n')).toBeGreaterThanOrEqual(0.995);
  expect(right / given, missed.join('\n')).toBeGreaterThanOrEqual(0.995);
  const places = sum(rows.map(({ places }) => places));
  expect(places.found / places.there, missed.join('\n')).toBeGreaterThanOrEqual(0.95);
  const count = (kind: 'right' | 'wrong') => rows.reduce((total, { sites }) => total + sites[kind], 0);
  expect(count('right') / (count('right') + count('wrong')), missed.join('\n')).toBeGreaterThanOrEqual(0.99);
  expect(rows.filter(({ falseNone }) => falseNone > 0)).toEqual([]);
});
