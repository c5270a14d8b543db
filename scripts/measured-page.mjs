// Writes pages of docs/ from what was measured, and checks that they are fresh.

import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Returns a table of Markdown with HEAD and ROWS, which are lists of cells. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** Returns TEXT as the cell of a table: not longer than MOST, on one line, and nothing in it marked up. */
export function cell(text, most = 110) {
  const short = text.length > most ? `${text.slice(0, most - 3)}...` : text;
  return short
    .toWellFormed()
    .replace(/[\\|`*_<>#[\]]/g, '\\$&')
    .replace(/[\s\p{Cc}]+/gu, ' ');
}

/** Writes what MAKE returns to PAGE, a path in the project. With --check the process fails instead when PAGE has another
 *  text, or when CHECK, which looks whether all was measured, throws. The script that calls this is named like PAGE. */
export async function measuredPage(page, make, check = () => {}) {
  const name = basename(page, '.md');
  const file = join(import.meta.dirname, '..', page);
  try {
    const text = make();
    if (!process.argv.includes('--check')) {
      writeFileSync(file, text);
      return;
    }
    await check();
    if (readFileSync(file, 'utf8') !== text) {
      throw new Error(`${page} is stale; node scripts/${name}.mjs writes it.`);
    }
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
