// Decides how starts are measured: from spawn to the answer of initialize, and on to the first tool's answer.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from './client.mjs';
import { runRounds } from './rounds.mjs';
import { compare } from './statistics.mjs';

/** @typedef {import('./client.mjs').Contestant} Contestant */

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'floor.start', title: 'floor: start to `initialize` answered', unit: 'ms' },
  {
    id: 'warm.start',
    title: 'live-lisp: start to `initialize` answered',
    unit: 'ms',
    baseline: 'floor.start',
    goal: {
      of: 'ratio',
      atMost: 0.95,
      missed:
        'half of the time of both is that of Node.js alone. A seventh of ours is the SDK, which the floor has too; the rest goes to more code, and SBCL starts beside.',
    },
  },
  { id: 'floor.first', title: 'floor: start to first `echo` answered', unit: 'ms' },
  {
    id: 'warm.first',
    title: 'live-lisp: start to first `(+ 1 2)` answered, backend in the cache',
    unit: 'ms',
    baseline: 'floor.first',
    goal: { of: 'ratio', atMost: 1.15 },
  },
  {
    id: 'sandboxed.first',
    title: 'live-lisp: the same in the sandbox; above it is `--no-sandbox`',
    unit: 'ms',
    baseline: 'warm.first',
    goal: {
      of: 'ratio',
      atMost: 1.07,
      missed:
        'bubblewrap itself takes 7 ms for a program that does nothing, once to find out whether it works, beside the loading of the server, and once for the image. To look for keys and repositories takes up to 7 ms.',
    },
  },
];

/** @type {import('./statistics.mjs').Measure[]} */
const FIRST_MEASURES = [
  { id: 'floor.first', title: 'floor: start to first `echo` answered', unit: 'ms' },
  {
    id: 'cold.first',
    title: 'live-lisp: start to first `(+ 1 2)` answered, empty cache',
    unit: 'ms',
    baseline: 'floor.first',
    goal: {
      of: 'ratio',
      atMost: 4,
      missed:
        'nearly all of it is SBCL’s compiler. It takes 4 ms for each kB of the backend, in all its rooms alike. What a first call needs is half of these; less optimization saves a twentieth.',
    },
  },
  { id: 'cold.start', title: 'of it: start to `initialize` answered', unit: 'ms' },
  { id: 'cold.compiled', title: 'of it: from there until the backend is compiled', unit: 'ms' },
  { id: 'cold.loaded', title: 'of it: from there until it is loaded and has answered', unit: 'ms' },
  { id: 'cold.core', title: 'after it, beside all else: until the core is kept', unit: 'ms' },
];

/**
 * Measures starts in ROUNDS rounds.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} rounds
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureStarts(stage, rounds) {
  const { sandboxed } = stage;
  const samples = await runRounds(rounds, [
    () => timeStart('floor', stage.floor, echo),
    () => timeStart('warm', stage.warm, evaluate),
    ...(sandboxed ? [() => timeStart('sandboxed', sandboxed, evaluate)] : []),
  ]);
  return {
    title: 'Start',
    note: 'Each sample is a new process, timed from its spawn; the first call is sent when `initialize` is answered.',
    ...compare(
      MEASURES.filter(({ id }) => sandboxed || !id.startsWith('sandboxed')),
      samples,
    ),
  };
}

/**
 * Measures the very first starts on a machine in ROUNDS rounds.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} rounds
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureFirstStarts(stage, rounds) {
  const samples = await runRounds(rounds, [
    () => timeStart('floor', stage.floor, echo),
    async () => {
      const { contestant, remove } = stage.cold();
      return timeFirstStart(contestant).finally(remove);
    },
  ]);
  return {
    title: 'The very first start',
    note: 'The same where nothing is in the cache: the backend is compiled, by a process on each CPU, and then loaded. The core from which later images start is made after that.',
    ...compare(FIRST_MEASURES, samples),
  };
}

/** @param {Client} client */
function echo(client) {
  return client.call('echo', { text: 'hello' });
}

/** @param {Client} client */
export function evaluate(client) {
  return client.call('eval_form', { form: '(+ 1 2)' });
}

/**
 * Starts CONTESTANT once and returns its samples under ids that begin with NAME.
 * @param {string} name
 * @param {Contestant} contestant
 * @param {(client: Client) => Promise<string>} firstCall
 */
export async function timeStart(name, contestant, firstCall) {
  const client = new Client(contestant);
  await client.initialize();
  const started = performance.now();
  await firstCall(client);
  const answered = performance.now();
  await client.close();
  return { [`${name}.start`]: [started - client.began], [`${name}.first`]: [answered - client.began] };
}

/** How often it is looked what is in a cache. */
const LOOK_MS = 5;

/**
 * Starts CONTESTANT, whose cache is empty, and returns its samples.
 * @param {Contestant} contestant
 */
async function timeFirstStart(contestant) {
  const cache = join(contestant.env?.['XDG_CACHE_HOME'] ?? '', 'live-lisp');
  const client = new Client(contestant);
  await client.initialize();
  const started = performance.now();
  const compiling = untilKept(cache, /^backend-.*\.fasl$/);
  await evaluate(client);
  const answered = performance.now();
  const compiled = await compiling;
  const kept = await untilKept(cache, /^image-.*\.core$/);
  await client.close();
  return {
    'cold.first': [answered - client.began],
    'cold.start': [started - client.began],
    'cold.compiled': [compiled - started],
    'cold.loaded': [answered - compiled],
    'cold.core': [kept - answered],
  };
}

/**
 * Waits until the folder CACHE has a file whose name matches WANTED, and returns when that was.
 * @param {string} cache
 * @param {RegExp} wanted
 */
async function untilKept(cache, wanted) {
  while (!namesIn(cache).some((name) => wanted.test(name))) await sleep(LOOK_MS);
  return performance.now();
}

/** @param {string} folder */
function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return []; // It is made when something is kept.
  }
}
