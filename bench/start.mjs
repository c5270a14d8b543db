// Decides how starts are measured: from spawn to the answer of initialize, and on to the first tool's answer.

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
        'half of the time of both is that of Node.js alone. The rest of ours goes to more code, and SBCL starts beside.',
    },
  },
  { id: 'floor.first', title: 'floor: start to first `echo` answered', unit: 'ms' },
  {
    id: 'warm.first',
    title: 'live-lisp: start to first `(+ 1 2)` answered, agent in the cache',
    unit: 'ms',
    baseline: 'floor.first',
    goal: { of: 'ratio', atMost: 1.15 },
  },
  {
    id: 'sandboxed.first',
    title: 'live-lisp: the same with `--sandbox`',
    unit: 'ms',
    baseline: 'warm.first',
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
        'compiling the agent takes about 6 s of CPU, which all CPUs share. No part of the compiler stands out, and less optimization saves little.',
    },
  },
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
      return timeStart('cold', contestant, evaluate).finally(remove);
    },
  ]);
  return {
    title: 'The very first start',
    note: 'The same where nothing is in the cache: the agent is compiled, by a process on each CPU, and then loaded. The core from which later images start is made after that.',
    ...compare(FIRST_MEASURES, samples),
  };
}

/** @param {Client} client */
function echo(client) {
  return client.call('echo', { text: 'hello' });
}

/** @param {Client} client */
function evaluate(client) {
  return client.call('eval_form', { form: '(+ 1 2)' });
}

/**
 * Starts CONTESTANT once and returns its samples under ids that begin with NAME.
 * @param {string} name
 * @param {Contestant} contestant
 * @param {(client: Client) => Promise<string>} firstCall
 */
async function timeStart(name, contestant, firstCall) {
  const client = new Client(contestant);
  await client.initialize();
  const started = performance.now();
  await firstCall(client);
  const answered = performance.now();
  await client.close();
  return { [`${name}.start`]: [started - client.began], [`${name}.first`]: [answered - client.began] };
}
