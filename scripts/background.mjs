// Counts in how many public tools each word stands, and writes that to src/catalog/background.json: node scripts/background.mjs
// FILE.jsonl ..., with a tool in JSON a line. Only files whose licences allow it. It needs the words of the catalog, so it
// bundles them.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PROJECT } from './session.mjs';

/** A stem that fewer tools have says as much as one that is not in the table. */
const LEAST_TOOLS = 3;
/** Fields that public tools hardly have, as long as they usually are. */
const LENGTHS = { keywords: 10, server: 2 };

const OUT = join(PROJECT, 'src', 'catalog', 'background.json');

/** Returns what the catalog makes of texts. */
async function loadTerms() {
  const contents = `export * from './terms.ts'; export { fieldsOf } from './fields.ts';
export { readCatalog } from './open-catalog.ts';`;
  const stdin = { contents, resolveDir: join(PROJECT, 'src', 'catalog'), loader: 'ts' };
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', platform: 'node', write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

const { words, isContentWord, stem, fieldsOf, readCatalog } = await loadTerms();
const counts = new Map();
const lengths = new Map();
let tools = 0;
for (const file of process.argv.slice(2)) {
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const [tool] = readCatalog(line).values();
    const terms = new Set();
    tools += 1;
    for (const [field, text] of Object.entries(fieldsOf(tool))) {
      const list = words(text).filter(isContentWord).map(stem);
      if (list.length > 0) lengths.set(field, [...(lengths.get(field) ?? []), list.length]);
      for (const term of list) terms.add(term);
    }
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
}

const terms = [...counts]
  .filter(([term, count]) => count >= LEAST_TOOLS && /^[a-z]{2,20}$/.test(term))
  .sort(([one], [other]) => (one < other ? -1 : 1))
  .map(([term, count]) => `${term}:${count}`);
const means = [...lengths].map(([field, list]) => [
  field,
  Math.round((list.reduce((sum, each) => sum + each, 0) / list.length) * 10) / 10,
]);
const table = { tools, lengths: { ...Object.fromEntries(means), ...LENGTHS }, terms: terms.join(' ') };
writeFileSync(OUT, `${JSON.stringify(table, null, 2)}\n`);
console.log(`${terms.length} words of ${tools} tools`);
