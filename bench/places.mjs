// Decides how what the places of a file cost is measured: by the CPU of loads with them and without, and by their octets.

import { join } from 'node:path';
import { connect } from './client.mjs';
import { runRounds } from './rounds.mjs';
import { compare } from './statistics.mjs';

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'plain', title: 'five systems are compiled and loaded, no places recorded', unit: 'ms' },
  {
    id: 'recorded',
    title: 'the same, with the places of all lists',
    unit: 'ms',
    baseline: 'plain',
    goal: { of: 'ratio', atMost: 1.01 },
  },
  { id: 'file', title: 'the places of a source file, on average', unit: 'bytes' },
  { id: 'character', title: 'the same, for each character of the source', unit: 'bytes' },
];

/**
 * Measures ROUNDS loads with places and as many without, in turns in one image.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} rounds
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measurePlaces(stage, rounds) {
  const client = await connect(stage.ours);
  const numbers = async (/** @type {string} */ name) => {
    const form = `(live-lisp.bench::${name})`;
    const text = await client.call('eval_form', { form, timeout: 600 });
    if (!/^[\d\s()]+$/.test(text)) throw new Error(`The image did not answer with numbers: ${text}`);
    return (text.match(/\d+/g) ?? []).map(Number);
  };
  try {
    await client.call('load_file', { path: join(import.meta.dirname, 'places.lisp'), timeout: 600 });
    const samples = await runRounds(rounds, [
      async () => ({ plain: await numbers('load-without-places') }),
      async () => ({ recorded: await numbers('load-sources') }),
    ]);
    const [files = 0, octets = 0, characters = 0] = await numbers('places-cost');
    return {
      title: 'The places of lists',
      note: `CPU of the image while alexandria, cl-ppcre, hunchentoot, local-time and iterate are compiled and loaded, ${files} files in one process. For each list of a file the image keeps where it begins and ends.`,
      ...compare(MEASURES, { ...samples, file: [octets / files], character: [octets / characters] }),
    };
  } finally {
    await client.close();
  }
}
