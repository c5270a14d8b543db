// Decides how the index of callers is measured where there is much: 100,000 functions, and the libraries of twelve systems.

import { join } from 'node:path';
import { connect } from './client.mjs';
import { loadSystem, timeInImage } from './image.mjs';
import { summarize } from './statistics.mjs';

/** @typedef {import('./client.mjs').Client} Client */

const THREE = ['alexandria', 'cl-ppcre', 'hunchentoot'];
const OTHERS = [
  'drakma',
  'esrap',
  'fiveam',
  'cxml',
  'postmodern',
  'ironclad',
  'iterate',
  'local-time',
  'lparallel',
];

/** Parts of a thousand functions. */
const PARTS = 100;

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'three.time', title: `${THREE.length} systems: the index is made, CPU`, unit: 'ms' },
  { id: 'three.memory', title: 'its memory', unit: 'MB', goal: { of: 'p50', atMost: 5 } },
  { id: 'twelve.time', title: `${THREE.length + OTHERS.length} systems: the index is made, CPU`, unit: 'ms' },
  { id: 'twelve.memory', title: 'its memory', unit: 'MB', goal: { of: 'p50', atMost: 15 } },
  { id: 'many.time', title: `${PARTS},000 functions: the index is made, CPU`, unit: 'ms' },
  { id: 'many.memory', title: 'its memory', unit: 'MB' },
  { id: 'many.rare', title: 'callers of one of them', unit: 'ms', goal: { of: 'p50', atMost: 0.15 } },
  { id: 'many.popular', title: `callers of what ${PARTS * 100} of them call, 200 rows`, unit: 'ms' },
  {
    id: 'many.changed',
    title: 'the same, first after a definition',
    unit: 'ms',
    baseline: 'many.popular',
  },
];

/**
 * Measures the index COUNT times, and ten times as many look-ups.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} count
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureCallers(stage, count) {
  const samples = { ...(await inLibraries(stage, count)), ...(await inProgram(stage, count)) };
  return {
    title: 'The index of callers',
    note: 'Timed in the image, without transport. Systems come with all that they need. Memory is what a full garbage collection leaves, the most of all indices that were made.',
    figures: summarize(MEASURES, samples),
  };
}

/**
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} count
 */
async function inLibraries(stage, count) {
  const client = await connect(stage.ours);
  try {
    for (const system of THREE) await loadSystem(client, system);
    await client.call('load_file', { path: join(import.meta.dirname, 'generated.lisp') });
    const three = await indexCosts(client, count, 'three');
    for (const system of OTHERS) await loadSystem(client, system);
    return { ...three, ...(await indexCosts(client, count, 'twelve')) };
  } finally {
    await client.close();
  }
}

/**
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} count
 */
async function inProgram(stage, count) {
  const client = await connect(stage.ours);
  try {
    await client.call('load_file', { path: join(import.meta.dirname, 'generated.lisp') });
    await client.call('eval_form', { form: `(live-lisp.bench::make-program ${PARTS})`, timeout: 600 });
    return {
      ...(await indexCosts(client, count, 'many')),
      'many.rare': await timeInImage(client, `(live-lisp.bench::who-calls-times ${PARTS} ${count * 10})`),
      'many.popular': await timeInImage(client, `(live-lisp.bench::popular-times ${count * 10})`),
      'many.changed': await timeInImage(client, `(live-lisp.bench::times-after-definitions ${count * 10})`),
    };
  } finally {
    await client.close();
  }
}

/**
 * Returns the milliseconds and megabytes of COUNT indices of the image of CLIENT, under ids that begin with ID.
 * @param {Client} client
 * @param {number} count
 * @param {string} id
 */
async function indexCosts(client, count, id) {
  const times = [];
  const sizes = [];
  for (let index = 0; index < count; index++) {
    const text = await client.call('eval_form', { form: '(live-lisp.bench::index-cost)', timeout: 600 });
    const [time = Number.NaN, octets = Number.NaN] = (text.match(/\d+/g) ?? []).map(Number);
    times.push(time);
    sizes.push(octets / 1e6);
  }
  // The collector heeds what looks like a pointer on a stack, so the index before can live on and its room be counted off.
  return { [`${id}.time`]: times, [`${id}.memory`]: [Math.max(...sizes)] };
}
