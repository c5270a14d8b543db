// Decides how a program in the image is compared with a plain SBCL: by the CPU that each takes for the same program.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from './client.mjs';
import { runRounds } from './rounds.mjs';
import { compare } from './statistics.mjs';

/** Both have goals: what the image adds for itself, at most a twentieth. */
const GOAL = /** @type {const} */ ({ of: 'ratio', atMost: 1.05 });

const HEAP = '1GB';

/** FILE is loaded, then the milliseconds that CALL returns are the sample. */
const KEEPS = {
  id: 'heap',
  title: 'A program that keeps 300 MB of a heap of 1 GB',
  note: 'CPU of the image, its garbage collections included, while 2 GB of garbage are made. Each run has a new image.',
  file: join(import.meta.dirname, 'heap.lisp'),
  call: '(live-lisp.bench::keep-and-make 300 2000)',
};
const LOADS = {
  id: 'loads',
  title: 'A program that loads fasls',
  note: 'CPU of the image while the fasls of cl-ppcre are loaded 20 times. Each run has a new image.',
  file: join(import.meta.dirname, 'loads.lisp'),
  call: '(live-lisp.bench::load-again "cl-ppcre" 20)',
};

/** @typedef {typeof KEEPS} Program */
/** @typedef {import('./contestants.mjs').Stage} Stage */

/**
 * @param {Stage} stage
 * @param {number} rounds
 */
export const measureHeap = (stage, rounds) => measureProgram(stage, rounds, KEEPS);

/**
 * @param {Stage} stage
 * @param {number} rounds
 */
export const measureLoads = (stage, rounds) => measureProgram(stage, rounds, LOADS);

/**
 * Measures ROUNDS runs of PROGRAM, each in a new image.
 * @param {Stage} stage
 * @param {number} rounds
 * @param {Program} program
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
async function measureProgram(stage, rounds, program) {
  const [plain, ours] = [`plain.${program.id}`, `our.${program.id}`];
  /** @type {import('./statistics.mjs').Measure[]} */
  const measures = [
    { id: plain, title: 'plain SBCL', unit: 'ms' },
    { id: ours, title: 'live-lisp: the same', unit: 'ms', baseline: plain, goal: GOAL },
  ];
  const samples = await runRounds(rounds, [
    async () => ({ [plain]: [await inPlainSbcl(program)] }),
    async () => ({ [ours]: [await inOurImage(stage.warm, program)] }),
  ]);
  return { title: program.title, note: program.note, ...compare(measures, samples) };
}

/** @param {Program} program */
async function inPlainSbcl({ file, call }) {
  const options = ['--noinform', '--no-sysinit', '--no-userinit', '--non-interactive'];
  const { stdout } = await promisify(execFile)(process.env['LIVE_LISP_SBCL'] || 'sbcl', [
    ...['--dynamic-space-size', HEAP],
    ...options,
    ...['--load', file, '--eval', `(print ${call})`],
  ]);
  return milliseconds(stdout);
}

/**
 * @param {import('./contestants.mjs').Contestant} contestant
 * @param {Program} program
 */
async function inOurImage(contestant, { file, call }) {
  const client = await connect({ ...contestant, args: ['--heap', HEAP, '--eval-timeout', '600'] });
  try {
    await client.call('load_file', { path: file });
    return milliseconds(await client.call('eval_form', { form: call }));
  } finally {
    await client.close();
  }
}

/**
 * Returns the number in the first line of TEXT that has nothing else.
 * @param {string} text
 */
function milliseconds(text) {
  const match = /^\d+ *$/m.exec(text);
  if (match === null) throw new Error(`The program gave no time: ${text}`);
  return Number(match[0]);
}
