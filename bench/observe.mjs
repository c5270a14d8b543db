// Decides how what observe and coverage cost is measured: by the CPU of calls, of a form and of tests, with it and
// without.

import { connect } from './client.mjs';
import { residentMegabytes } from './footprint.mjs';
import { runRounds } from './rounds.mjs';
import { compare } from './statistics.mjs';

/** @type {import('./statistics.mjs').Measure[]} */
const MEASURES = [
  { id: 'plain.calls', title: '10,000 calls', unit: 'ms' },
  {
    id: 'probed.calls',
    title: 'the same, recorded by `observe`',
    unit: 'ms',
    goal: { of: 'p50', atMost: 6 },
  },
  {
    id: 'million.memory',
    title: 'what the server takes more while a million calls are recorded',
    unit: 'MB',
    goal: { of: 'p50', atMost: 5 },
  },
  { id: 'plain.work', title: 'a form that computes and makes lists', unit: 'ms' },
  {
    id: 'profiled.work',
    title: 'the same, with a profile of the CPU',
    unit: 'ms',
    baseline: 'plain.work',
    goal: { of: 'ratio', atMost: 1.03 },
  },
  { id: 'plain.tests', title: 'the tests of alexandria, by `run_tests`', unit: 'ms' },
  {
    id: 'covered.tests',
    title: 'the same, with `coverage`',
    unit: 'ms',
    baseline: 'plain.tests',
  },
];

const PROGRAM = `(defun observed-call (x) x)
(defun observed-work () (let ((all '())) (dotimes (i 200000 (length all)) (push (mod (* i i) 1000003) all))))`;
const CPU = (/** @type {string} */ body) =>
  `(let ((begun (get-internal-run-time))) ${body} (/ (- (get-internal-run-time) begun) 1000.0))`;
const CALLS = CPU('(dotimes (i 10000) (observed-call i))');
const MILLION = '(dotimes (i 1000000) (observed-call (list i "a string")))';
const OBSERVED = { functions: ['observed-call'], limit: 1, package: 'live-lisp-user' };
/** How often the memory of the server is looked at meanwhile. */
const LOOK_MS = 10;
const WORK = `(/ ${CPU('(dotimes (i 500) (observed-work))')} 500)`;
const PROFILED =
  '(gethash "cpu" (call-tool "observe" :form "(observed-work)" :mode "cpu" :package "live-lisp-user"))';
const TESTS = (/** @type {string} */ more) => CPU(`(call-tool "run_tests" :system "alexandria"${more})`);

/**
 * Measures ROUNDS times what observe, and coverage, cost.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {number} rounds
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureObserving(stage, rounds) {
  const client = await connect(stage.warm);
  try {
    await client.call('eval_form', { form: PROGRAM, package: 'live-lisp-user' });
    const evaluated = async (/** @type {string} */ form) =>
      numberIn(await client.call('eval_form', { form, package: 'live-lisp-user' }));
    const samples = await runRounds(rounds, [
      async () => ({ 'plain.calls': [await evaluated(CALLS)] }),
      async () => ({
        'probed.calls': [numberIn(await client.call('observe', { ...OBSERVED, form: CALLS }), 'Value: ')],
      }),
      async () => ({ 'million.memory': [await memoryGained(client)] }),
      async () => ({ 'plain.work': [await evaluated(WORK)] }),
      async () => ({ 'profiled.work': [await evaluated(PROFILED)] }),
      async () => ({ 'plain.tests': [await evaluated(TESTS(''))] }),
      async () => ({ 'covered.tests': [await evaluated(TESTS(' :coverage t'))] }),
    ]);
    return {
      title: 'Observing a run',
      note: 'CPU of the image while calls are recorded, while a profile is taken, and while tests run.',
      ...compare(MEASURES, samples),
    };
  } finally {
    await client.close();
  }
}

/**
 * Returns how many MB of memory the server of CLIENT has gained at most while a million calls were recorded.
 * @param {import('./client.mjs').Client} client
 */
async function memoryGained(client) {
  const before = residentMegabytes(client.pid);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, residentMegabytes(client.pid));
  }, LOOK_MS);
  await client.call('observe', { ...OBSERVED, form: MILLION }).finally(() => clearInterval(timer));
  return Math.max(most, residentMegabytes(client.pid)) - before;
}

/**
 * Returns the number in TEXT that stands behind LABEL.
 * @param {string} text
 * @param {string} [label]
 */
function numberIn(text, label = '') {
  const match = /^[\d.]+/.exec(text.slice(text.indexOf(label) + label.length).trim());
  if (match === null) throw new Error(`There is no number: ${text}`);
  return Number(match[0]);
}
