// Decides how reading the records is measured, where their files are as large as they get.

import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from './client.mjs';
import { runRounds, timeCalls } from './rounds.mjs';
import { compare } from './statistics.mjs';

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'echo', title: 'floor: `echo`', unit: 'ms' },
  {
    id: 'history',
    title: '`get_repl_history`',
    unit: 'ms',
    baseline: 'echo',
    goal: { of: 'p50', atMost: 10 },
  },
  { id: 'audit', title: '`get_audit_log`', unit: 'ms', baseline: 'echo', goal: { of: 'p50', atMost: 10 } },
];

/** All that the files of each kind may take together; they are moved aside as they are written to. */
const OCTETS = { history: 6_000_000, audit: 25_000_000 };
const EVALUATIONS = 100;

/**
 * Measures calls that read the records, in ROUNDS blocks of COUNT calls.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {{ rounds: number, count: number }} size
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureRecords(stage, { rounds, count }) {
  await fillRecords(stage.warm);
  const [ours, floor] = [await connect(stage.warm), await connect(stage.floor)];
  try {
    const samples = await runRounds(rounds, [
      async () => ({ echo: await timeCalls(count, () => floor.call('echo', { text: '(+ 1 2)' })) }),
      async () => ({ history: await timeCalls(count, () => ours.call('get_repl_history', {})) }),
      async () => ({ audit: await timeCalls(count, () => ours.call('get_audit_log', {})) }),
    ]);
    return {
      title: 'Reading the records',
      note: 'History of 6 MB and audit log of 25 MB, the most that is kept of each.',
      ...compare(MEASURES, samples),
    };
  } finally {
    await ours.close();
    await floor.close();
  }
}

/**
 * Has CONTESTANT write records, and writes the same again until there is as much as can be.
 * @param {import('./contestants.mjs').Contestant} contestant
 */
async function fillRecords(contestant) {
  const client = await connect(contestant);
  await timeCalls(EVALUATIONS, () => client.call('eval_form', { form: '(list 1 2 3)' }));
  await client.close();
  const state = join(contestant.env?.XDG_STATE_HOME ?? '', 'live-lisp');
  const histories = join(state, 'repl-history');
  for (const name of readdirSync(histories)) fill(join(histories, name), OCTETS.history);
  fill(join(state, 'audit.jsonl'), OCTETS.audit);
}

/**
 * @param {string} file
 * @param {number} octets
 */
function fill(file, octets) {
  const lines = readFileSync(file);
  while (statSync(file).size + lines.length <= octets) appendFileSync(file, lines);
}
