// Decides how another SBCL, which NEWER_SBCL names, is held against the one of all other sections. Both take turns.

import { join } from 'node:path';
import { connect } from './client.mjs';
import { loadSystem, timeInImage } from './image.mjs';
import { sbclVersion } from './machine.mjs';
import { runRounds, timeCalls } from './rounds.mjs';
import { evaluate, timeStart } from './start.mjs';
import { compare } from './statistics.mjs';

/** @typedef {import('./client.mjs').Client} Client */
/** @typedef {import('./contestants.mjs').Contestant} Contestant */

/** Parts of a thousand functions. */
const PARTS = 10;

/** What is measured, by the end of its id. */
const TITLES = {
  start: 'start to `initialize` answered',
  first: 'start to first `(+ 1 2)` answered, backend in the cache',
  eval: '`eval_form` of `(+ 1 2)`',
  callers: '`who_calls` of `alexandria:ensure-list`',
  sites: 'the same with `sites`',
  popular: `callers of what ${PARTS * 100} of ${PARTS},000 functions call, in the image`,
  changed: 'the same, first after a definition',
};

/** @type {[id: string, tool: string, args: object][]} */
const TRIPS = [
  ['eval', 'eval_form', { form: '(+ 1 2)' }],
  ['callers', 'who_calls', { name: 'alexandria:ensure-list' }],
  ['sites', 'who_calls', { name: 'alexandria:ensure-list', sites: true }],
];

/**
 * Measures STARTS starts, and calls in ROUNDS blocks of COUNT. Returns nothing when no other SBCL is named.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} starts
 * @param {{ rounds: number, count: number }} size
 * @returns {Promise<import('./statistics.mjs').Section | undefined>}
 */
export async function measureNewer({ warm, newer }, starts, size) {
  if (newer === undefined) return undefined;
  const samples = {
    ...(await runRounds(starts, [
      () => timeStart('warm', warm, evaluate),
      () => timeStart('newer', newer, evaluate),
    ])),
    ...(await timeTrips(warm, newer, size)),
  };
  const [usual, other] = [sbclVersion(), sbclVersion(newer.env?.['LIVE_LISP_SBCL'])];
  const measures = Object.entries(TITLES).flatMap(([id, title]) => [
    { id: `warm.${id}`, title: `${usual}: ${title}`, unit: /** @type {const} */ ('ms') },
    {
      id: `newer.${id}`,
      title: `${other}: ${title}`,
      unit: /** @type {const} */ ('ms'),
      baseline: `warm.${id}`,
    },
  ]);
  return {
    title: 'A newer SBCL',
    note: 'The same with another SBCL, in turns with that of all other sections.',
    ...compare(measures, samples),
  };
}

/**
 * @param {Contestant} warm
 * @param {Contestant} newer
 * @param {{ rounds: number, count: number }} size
 */
async function timeTrips(warm, newer, { rounds, count }) {
  const clients = [await open(warm), await open(newer)];
  try {
    const turns = clients.flatMap((client, index) => turnsOf(index === 0 ? 'warm' : 'newer', client, count));
    return await runRounds(rounds, turns);
  } finally {
    for (const client of clients) await client.close();
  }
}

/**
 * Returns a client of CONTESTANT whose image has a library and a program.
 * @param {Contestant} contestant
 */
async function open(contestant) {
  const client = await connect(contestant);
  await loadSystem(client, 'alexandria');
  await client.call('load_file', { path: join(import.meta.dirname, 'generated.lisp') });
  await client.call('eval_form', { form: `(live-lisp.bench::make-program ${PARTS})`, timeout: 600 });
  return client;
}

/**
 * @param {string} name
 * @param {Client} client
 * @param {number} count
 */
function turnsOf(name, client, count) {
  const inImage = (/** @type {string} */ id, /** @type {string} */ timer) => async () => ({
    [`${name}.${id}`]: await timeInImage(client, `(live-lisp.bench::${timer} ${Math.ceil(count / 5)})`),
  });
  return [
    ...TRIPS.map(([id, tool, args]) => async () => ({
      [`${name}.${id}`]: await timeCalls(count, () => client.call(tool, args)),
    })),
    inImage('popular', 'popular-times'),
    inImage('changed', 'times-after-definitions'),
  ];
}
