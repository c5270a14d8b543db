// In which line a parenthesis is missing or too many, in all libraries of this machine: `make check-long`.

import { expect, test } from 'vitest';
import { installedLibraries, linesNamed, type Named, sourcesOf, sum } from './faults.ts';

/** Part of COUNTS that is right, as a whole number of hundredths. */
function percent(counts: readonly Named[]): number {
  return Math.round((100 * sum(counts.map(({ right }) => right))) / sum(counts.map(({ count }) => count)));
}

test('the line of a fault is named in 9 of 10 cases', () => {
  const found = installedLibraries().map((name) => ({ name, texts: sourcesOf(name) }));
  const tried = found.filter(({ texts }) => texts.length > 0);
  const all = tried.flatMap(({ texts }) => linesNamed(texts, 30, 1));
  const rates = ['( removed', '( added', ') removed', ') added'].map(
    (fault) => `${fault} ${percent(all.filter((each) => each.fault === fault))} %`,
  );
  const count = sum(all.map((each) => each.count));
  console.log(`${count} faults in ${tried.length} libraries: ${percent(all)} %; ${rates.join(', ')}`);
  expect(percent(all)).toBeGreaterThanOrEqual(90);
});
