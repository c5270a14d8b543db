// Decides how round trips are measured: calls one after the other, in blocks that alternate with the floor's.

import { attachedClient } from './attached.mjs';
import { connect } from './client.mjs';
import { elsewhereClient } from './elsewhere.mjs';
import { runRounds, timeCalls } from './rounds.mjs';
import { compare } from './statistics.mjs';

/** @typedef {import('./client.mjs').Client} Client */

/**
 * @typedef {object} Trip
 * @property {string} id
 * @property {string} tool
 * @property {object} args
 */

/** Calls of the floor, with answers of different lengths. */
const ECHOES = [
  { id: 'echo', args: { text: '(+ 1 2)' } },
  { id: 'echo.long', args: { text: '(+ 1 2)', times: 960 } },
];

/** @type {Trip} */
const EVALUATION = { id: 'eval', tool: 'eval_form', args: { form: '(+ 1 2)' } };

/** @type {Trip[]} */
const PLAIN = [EVALUATION, { id: 'describe', tool: 'describe_symbol', args: { symbol: 'mapcar' } }];

/** @type {Trip[]} */
const LARGE = [
  { id: 'apropos', tool: 'apropos_search', args: { pattern: 'list' } },
  { id: 'callers.user', tool: 'who_calls', args: { name: 'alexandria:ensure-list' } },
  { id: 'callers.sites', tool: 'who_calls', args: { name: 'alexandria:ensure-list', sites: true } },
  { id: 'callers.cl', tool: 'who_calls', args: { name: 'mapcar' } },
];

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'echo', title: 'floor: `echo`', unit: 'ms' },
  {
    id: 'eval',
    title: '`eval_form` of `(+ 1 2)`',
    unit: 'ms',
    baseline: 'echo',
    goal: {
      of: 'ratio',
      atMost: 3.2,
      missed:
        'a call passes four pipes and the floor’s two. Their streams take the largest part of its CPU time, as the table of its parts shows; a thread for each call takes a tenth.',
    },
  },
  {
    id: 'eval.sandboxed',
    title: 'the same in the sandbox',
    unit: 'ms',
    baseline: 'eval',
    goal: { of: 'ratio', atMost: 1.07 },
  },
  {
    id: 'eval.attached',
    title: 'the same in an image that somebody else runs',
    unit: 'ms',
    baseline: 'eval',
    goal: {
      of: 'ratio',
      atMost: 1.1,
      missed:
        'an image of somebody else keeps no spare thread, so each call waits until its thread is made. The server asks Linux before each call whether a signal has stopped the image.',
    },
  },
  {
    id: 'eval.ssh',
    title: 'the same in an image over ssh on loopback',
    unit: 'ms',
    baseline: 'eval',
    goal: { of: 'p50', atMost: 2.7 },
  },
  {
    id: 'describe',
    title: '`describe_symbol` of `mapcar`',
    unit: 'ms',
    baseline: 'echo',
    goal: {
      of: 'ratio',
      atMost: 5,
      missed:
        'it takes what an evaluation takes. To look the symbol up adds 45 µs of CPU in the image, and twice that in Node. That is for a longer answer, its text, where it is defined now, and a limit in time.',
    },
  },
];

/** @type {import('./statistics.mjs').Measure[]} */
const LARGE_MEASURES = [
  { id: 'echo', title: 'floor: `echo`', unit: 'ms' },
  // The answer to this search is as long.
  { id: 'echo.long', title: 'floor: `echo` of 6.7 kB', unit: 'ms' },
  {
    id: 'apropos',
    title: '`apropos_search` for `list`',
    unit: 'ms',
    baseline: 'echo.long',
    goal: {
      of: 'ratio',
      atMost: 3,
      missed:
        'the floor repeats one text, and what an evaluation takes is more than its goal. The search adds 115 µs of CPU in the image, its 200 rows 30 µs as JSON, and their text as much in Node.',
    },
  },
  {
    id: 'callers.user',
    title: '`who_calls` of `alexandria:ensure-list`',
    unit: 'ms',
    baseline: 'echo',
    goal: {
      of: 'ratio',
      atMost: 2,
      missed:
        'the floor has two pipes and one process. What an evaluation takes, with four pipes and the image, is more than the goal already. The index takes 71 µs in the image; of Node’s CPU nearly half is the writes to pipes.',
    },
  },
  {
    id: 'callers.sites',
    title: '`who_calls` of `alexandria:ensure-list` with `sites`',
    unit: 'ms',
    baseline: 'echo',
    goal: {
      of: 'ratio',
      atMost: 6,
      missed:
        'the image unpacks the places of each caller, which take 10.7 kB of JSON. Node looks whether each file is as it was, and finds each use in its text.',
    },
  },
  { id: 'callers.cl', title: '`who_calls` of `mapcar`', unit: 'ms', baseline: 'echo' },
];

/**
 * Measures round trips to a bare image in ROUNDS blocks of COUNT calls.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {{ rounds: number, count: number }} size
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureRoundTrips(stage, size) {
  /** @type {{ close: () => Promise<void> }[]} */
  const open = [];
  /**
   * @template {{ close: () => Promise<void> } | undefined} T
   * @param {T} what
   */
  const closedAtTheEnd = (what) => {
    if (what) open.push(what);
    return what;
  };
  try {
    const ours = closedAtTheEnd(await connect(stage.warm));
    const sandboxed = closedAtTheEnd(stage.sandboxed && (await connect(stage.sandboxed)));
    const attached = closedAtTheEnd(await attachedClient(stage));
    const elsewhere = closedAtTheEnd(await elsewhereClient(stage));
    const overSsh = elsewhere ? [{ client: elsewhere.client, ...EVALUATION, id: 'eval.ssh' }] : [];
    const boxed = sandboxed ? [{ client: sandboxed, ...EVALUATION, id: 'eval.sandboxed' }] : [];
    const trips = [
      ...PLAIN.map((trip) => ({ client: ours, ...trip })),
      ...boxed,
      { client: attached.client, ...EVALUATION, id: 'eval.attached' },
      ...overSsh,
    ];
    const measured = new Set(['echo', ...trips.map(({ id }) => id)]);
    const measures = MEASURES.filter(({ id }) => measured.has(id));
    return {
      title: 'Round trips, bare image',
      note: `Calls one after the other in blocks of ${size.count}, which alternate between the contestants.`,
      ...compare(measures, await timeTrips(stage, trips, size)),
    };
  } finally {
    for (const each of open) await each.close();
  }
}

/**
 * Measures round trips of searches to the image of CLIENT, which holds libraries.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {Client} client
 * @param {{ rounds: number, count: number }} size
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureSearches(stage, client, size) {
  return {
    title: 'Round trips, image with libraries',
    note: 'The same in the image of the section before.',
    ...compare(
      LARGE_MEASURES,
      await timeTrips(
        stage,
        LARGE.map((trip) => ({ client, ...trip })),
        size,
      ),
    ),
  };
}

/**
 * @param {import('./contestants.mjs').Stage} stage
 * @param {(Trip & { client: Client })[]} trips with whom each is asked
 * @param {{ rounds: number, count: number }} size
 */
async function timeTrips(stage, trips, { rounds, count }) {
  const floor = await connect(stage.floor);
  try {
    return await runRounds(rounds, [
      ...ECHOES.map(({ id, args }) => async () => ({
        [id]: await timeCalls(count, () => floor.call('echo', args)),
      })),
      ...trips.map(({ client, id, tool, args }) => async () => ({
        [id]: await timeCalls(count, () => client.call(tool, args)),
      })),
    ]);
  } finally {
    await floor.close();
  }
}
