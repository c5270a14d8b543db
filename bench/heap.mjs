// Decides how the guard of the heap is measured: by the CPU of a program that keeps much, here and in a plain SBCL.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from './client.mjs';
import { runRounds } from './rounds.mjs';
import { compare } from './statistics.mjs';

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'plain.heap', title: 'plain SBCL', unit: 'ms' },
  {
    id: 'our.heap',
    title: 'live-lisp: the same',
    unit: 'ms',
    baseline: 'plain.heap',
    goal: { of: 'ratio', atMost: 1.05 },
  },
];

const HEAP = '1GB';
const PROGRAM = join(import.meta.dirname, 'heap.lisp');
const CALL = '(live-lisp.bench::keep-and-make 300 2000)';

/**
 * Measures ROUNDS runs of the program, each in a new image.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} rounds
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureHeap(stage, rounds) {
  const samples = await runRounds(rounds, [
    async () => ({ 'plain.heap': [await inPlainSbcl()] }),
    async () => ({ 'our.heap': [await inOurImage(stage.warm)] }),
  ]);
  return {
    title: 'A program that keeps 300 MB of a heap of 1 GB',
    note: 'CPU of the image, its garbage collections included, while 2 GB of garbage are made. Each run has a new image.',
    ...compare(MEASURES, samples),
  };
}

async function inPlainSbcl() {
  const options = ['--noinform', '--no-sysinit', '--no-userinit', '--non-interactive'];
  const { stdout } = await promisify(execFile)(process.env['LIVE_LISP_SBCL'] || 'sbcl', [
    ...['--dynamic-space-size', HEAP],
    ...options,
    ...['--load', PROGRAM, '--eval', `(print ${CALL})`],
  ]);
  return milliseconds(stdout);
}

/** @param {import('./contestants.mjs').Contestant} contestant */
async function inOurImage(contestant) {
  const client = await connect({ ...contestant, args: ['--heap', HEAP, '--eval-timeout', '600'] });
  try {
    await client.call('load_file', { path: PROGRAM });
    return milliseconds(await client.call('eval_form', { form: CALL }));
  } finally {
    await client.close();
  }
}

/**
 * Returns the number in the first line of TEXT that has any.
 * @param {string} text
 */
function milliseconds(text) {
  const match = /^\d+/.exec(text.trim());
  if (match === null) throw new Error(`The program gave no time: ${text}`);
  return Number(match[0]);
}
