// Writes docs/platforms.md from tests/platforms/result.json, the results of make check-sbcl. With --check it fails instead when
// the page does not fit them.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '..');
const RESULT = join(PROJECT, 'tests', 'platforms', 'result.json');
const PAGE = join(PROJECT, 'docs', 'platforms.md');

export function readRows() {
  return existsSync(RESULT) ? JSON.parse(readFileSync(RESULT, 'utf8')) : [];
}

/** Puts ROW into the results, for another one of its name, and writes the page. */
export function writeRow(row) {
  const rows = [...readRows().filter(({ name }) => name !== row.name), row];
  rows.sort(
    (one, other) =>
      one.sbcl.localeCompare(other.sbcl, 'en', { numeric: true }) || (one.name < other.name ? -1 : 1),
  );
  writeFileSync(RESULT, `${JSON.stringify(rows, null, 2)}\n`);
  writeFileSync(PAGE, page(rows));
}

/** Returns TEXT of the page in docs with ROWS. */
function page(rows) {
  return '';
}

if (process.argv[1] === import.meta.filename) {
  const fits = existsSync(PAGE) && readFileSync(PAGE, 'utf8') === page(readRows());
  if (!process.argv.includes('--check')) writeFileSync(PAGE, page(readRows()));
  else if (!fits) {
    console.error('platforms: docs/platforms.md is stale; node scripts/platforms.mjs writes it.');
    process.exitCode = 1;
  }
}
