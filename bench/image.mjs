// Decides what is measured within an image that holds libraries, by the image's own clock. Our search and our callers
// stand beside the plain way to the same answer.

import { join } from 'node:path';
import { connect } from './client.mjs';
import { runRounds } from './rounds.mjs';
import { compare } from './statistics.mjs';

/** @typedef {import('./client.mjs').Client} Client */

const SYSTEMS = ['alexandria', 'cl-ppcre', 'hunchentoot'];

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'plain.apropos', title: 'plain: `do-external-symbols`, `search`, sort', unit: 'ms' },
  {
    id: 'our.apropos',
    title: 'live-lisp: search for `list`',
    unit: 'ms',
    baseline: 'plain.apropos',
    goal: { of: 'ratio', atMost: 1 / 20 },
  },
  {
    id: 'changed.apropos',
    title: 'live-lisp: the same, first after a change of exports',
    unit: 'ms',
    baseline: 'plain.apropos',
    goal: { of: 'p50', atMost: 4 },
  },
  { id: 'plain.user', title: 'plain: `sb-introspect:who-calls` of `alexandria:ensure-list`', unit: 'ms' },
  {
    id: 'our.user',
    title: 'live-lisp: callers of `alexandria:ensure-list`',
    unit: 'ms',
    baseline: 'plain.user',
    goal: { of: 'p50', atMost: 0.15 },
  },
  { id: 'plain.cl', title: 'plain: `sb-introspect:who-calls` of `mapcar`', unit: 'ms' },
  {
    id: 'our.cl',
    title: 'live-lisp: callers of `mapcar`',
    unit: 'ms',
    baseline: 'plain.cl',
    goal: { of: 'p50', atMost: 0.2 },
  },
];

/**
 * Returns a client whose image holds the libraries and the reference, both giving the same answers.
 * @param {import('./contestants.mjs').Stage} stage
 */
export async function openLibraryImage(stage) {
  const client = await connect(stage.ours);
  try {
    for (const system of SYSTEMS) await loadSystem(client, system);
    await client.call('load_file', { path: join(import.meta.dirname, 'image.lisp') });
    const differences = await client.call('eval_form', { form: '(live-lisp.bench::differences)' });
    if (differences !== 'NIL') {
      throw new Error(
        `Ours and the reference give other answers, so their times mean nothing: ${differences}`,
      );
    }
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}

/**
 * Has the image of CLIENT load SYSTEM.
 * @param {Client} client
 * @param {string} system
 */
export async function loadSystem(client, system) {
  try {
    await client.call('load_system', { system });
  } catch (error) {
    throw new Error(
      `The bench needs the system ${system} (on Debian: apt-get install cl-${system.replace(/^cl-/, '')}).`,
      { cause: error },
    );
  }
}

/**
 * Measures within the image of CLIENT in ROUNDS blocks of COUNT searches, and of a fifth as many of the rest.
 * @param {Client} client
 * @param {{ rounds: number, count: number }} size
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureImage(client, { rounds, count }) {
  const few = Math.ceil(count / 5);
  const block = (/** @type {string} */ id, /** @type {string} */ name, times = few) => {
    return async () => ({ [id]: await timeInImage(client, `(live-lisp.bench::samples ${times} '${name})`) });
  };
  const samples = await runRounds(rounds, [
    block('plain.apropos', 'live-lisp.bench::plain-apropos', count),
    block('our.apropos', 'live-lisp.bench::our-apropos', count),
    async () => ({
      'changed.apropos': await timeInImage(client, `(live-lisp.bench::samples-after-changes ${few})`),
    }),
    block('plain.user', 'live-lisp.bench::plain-user-callers'),
    block('our.user', 'live-lisp.bench::our-user-callers'),
    block('plain.cl', 'live-lisp.bench::plain-cl-callers'),
    block('our.cl', 'live-lisp.bench::our-cl-callers'),
  ]);
  return {
    title: 'Within the image',
    note: `An image with ${SYSTEMS.join(', ')}, timed in SBCL itself, without transport. Ours and the plain way give the same symbols, and ours all callers that the plain way gives; this is checked before.`,
    ...compare(MEASURES, samples),
  };
}

/**
 * Evaluates FORM, which returns nanoseconds, and returns them as milliseconds.
 * @param {Client} client
 * @param {string} form
 */
export async function timeInImage(client, form) {
  const text = await client.call('eval_form', { form });
  const samples = /^\(([\d\s]+)\)$/.exec(text)?.[1]?.trim().split(/\s+/);
  if (samples === undefined) throw new Error(`The image did not answer with times: ${text}`);
  return samples.map((nanoseconds) => Number(nanoseconds) / 1e6);
}
