// Decides how commands of a shell are measured: `live-lisp eval 1` in a session that runs, beside an empty Node program.

import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runRounds } from './rounds.mjs';
import { compare } from './statistics.mjs';

const run = promisify(execFile);

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'node', title: '`node -e 0`', unit: 'ms' },
  {
    id: 'command',
    title: '`live-lisp eval 1`, session running',
    unit: 'ms',
    baseline: 'node',
    goal: { of: 'ratio', atMost: 1.5 },
  },
];

/**
 * Measures commands in ROUNDS rounds.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} rounds
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureCommands({ place, ours }, rounds) {
  const serving = join(place, 'sessions');
  mkdirSync(serving, { mode: 0o700 });
  const options = { cwd: ours.folder, env: { ...process.env, LIVE_LISP_SERVING: serving } };
  /** @param {string[]} words */
  const live = (...words) => run(process.execPath, [join(place, 'dist', 'live-lisp.js'), ...words], options);
  await live('eval', '1', '--root', ours.folder);
  try {
    const samples = await runRounds(rounds, [
      () => timed('node', () => run(process.execPath, ['-e', '0'], options)),
      () => timed('command', () => live('eval', '1')),
    ]);
    return {
      title: 'A command of a shell',
      note: 'Each sample is a process, timed from its spawn to its exit.',
      ...compare(MEASURES, samples),
    };
  } finally {
    await live('stop');
    rmSync(serving, { recursive: true, force: true });
  }
}

/**
 * @param {string} id
 * @param {() => Promise<unknown>} act
 */
async function timed(id, act) {
  const began = performance.now();
  await act();
  return { [id]: [performance.now() - began] };
}
