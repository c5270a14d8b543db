// Decides how one call and one start are taken apart: what CPU time each part of both processes has.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '../scripts/program.mjs';
import { connect } from './client.mjs';
import { childrenOf } from './footprint.mjs';
import { timeInImage } from './image.mjs';
import { countsCpu, mainThreadCpu, processCpu, profiled, sharesOf, takeProfile } from './profile.mjs';
import { quantile } from './statistics.mjs';

/** @typedef {import('./client.mjs').Client} Client */
/** @typedef {import('./client.mjs').Contestant} Contestant */
/** @typedef {import('./contestants.mjs').Stage} Stage */
/** @typedef {[part: string, milliseconds: number]} Row */

const HERE = import.meta.dirname;
const WARM_CALLS = 2000;

/** The parts of a call within the image: the function that each is, with its package. */
const SEAMS = [
  ['reader: takes the frame, parses its JSON', 'BASE', 'RECEIVE'],
  ['reader: makes a job, hands it over', 'JOBS', 'PERFORM'],
  ['reader: makes the next thread', 'JOBS', 'KEEP-SPARE'],
  ['job: streams, restarts, limits', 'JOBS', 'RUN-JOB'],
  ['job: reads the form', 'EVALUATE', 'MAP-FORMS'],
  ['job: the session and its values', 'EVALUATE', 'EVALUATE-FORM'],
  ['job: evaluates, and looks what that changed', 'JOURNAL', 'EVALUATE-TELLING'],
  ['job: prints the values', 'EVALUATE', 'VALUES-DATA'],
  ['job: packs the answer', 'JOBS', 'ANSWER-FRAME'],
  ['job: writes the frame', 'BASE', 'SEND-FRAME'],
];

/**
 * Takes an evaluation apart that is called COUNT times; nothing where the system does not count CPU as Linux does.
 * @param {Stage} stage
 * @param {number} count
 * @returns {Promise<import('./statistics.mjs').Section | undefined>}
 */
export async function measureSeams(stage, count) {
  if (!countsCpu()) return undefined;
  const { contestant, code, file } = await readable(stage);
  const plain = await connect(stage.warm);
  const { node, main, sbcl } = await cpuPerCall(plain, count).finally(() => plain.close());
  const watched = await connect(profiled(contestant, file));
  try {
    await evaluate(watched, WARM_CALLS);
    await takeProfile(watched.pid, file);
    await evaluate(watched, count);
    const shares = sharesOf([await takeProfile(watched.pid, file)], code);
    const inImage = await sharesInImage(watched, count);
    const rows = [
      ...named('Node', [...rowsOf(shares, main), ['other threads of Node', node - main]]),
      ...named('SBCL', rowsOf(inImage, sbcl)),
    ];
    return {
      title: 'One evaluation, part by part',
      note: `CPU time of both processes for a warm \`eval_form\` of \`(+ 1 2)\`, the mean of ${count} calls, as the system counts it. Further calls say which share each part has. Of Node’s main thread a profile of V8 says it. In SBCL functions of the agent note what their threads had. Where others use the machine too, a profile gives more to what waits for the system.`,
      figures: [],
      shares: tableOf(rows, 'µs', 1000),
    };
  } finally {
    await watched.close();
  }
}

/**
 * Takes COUNT starts apart, until `initialize` is answered; nothing where the system does not count CPU as Linux does.
 * @param {Stage} stage
 * @param {number} count
 * @returns {Promise<import('./statistics.mjs').Section | undefined>}
 */
export async function measureStartParts(stage, count) {
  if (!countsCpu()) return undefined;
  const { contestant, code, file } = await readable(stage);
  const alone = { script: join(HERE, 'alone.mjs'), folder: contestant.folder };
  const profiles = [];
  /** @type {Record<string, number[]>} */
  const cpu = { floor: [], ours: [], alone: [] };
  for (let round = -1; round < count; round++) {
    const profile = await startProfile(profiled(contestant, file), file);
    const times = {
      floor: await startCpu(stage.floor),
      ours: await startCpu(stage.warm),
      alone: await startCpu(alone),
    };
    if (round < 0) continue;
    profiles.push(profile);
    for (const [id, time] of Object.entries(times)) cpu[id]?.push(time);
  }
  const median = (/** @type {string} */ id) => quantile(cpu[id] ?? [], 0.5);
  const ours = median('ours');
  const rows = [['Node alone', median('alone')], ...rowsOf(sharesOf(profiles, code), ours - median('alone'))];
  return {
    title: 'A start, part by part',
    note: `CPU time of the main thread until \`initialize\` is answered, the median of ${count} starts. The floor takes ${median('floor').toFixed(1)} ms. Behind Node alone, a profile of V8 says which share each part has.`,
    figures: [],
    shares: tableOf(named('Node', rows), 'ms', 1),
  };
}

/**
 * Returns the built program once more, from code in the file CODE that tells of each line where it is from. The other file is
 * for its profile.
 * @param {Stage} stage
 */
async function readable({ warm, place }) {
  const folder = join(place, 'readable');
  for (const part of ['lisp', 'package.json']) {
    cpSync(join(place, part), join(folder, part), { recursive: true });
  }
  await buildProgram('src/program.ts', join(folder, 'dist'), false);
  return {
    contestant: { ...warm, script: join(folder, 'dist', 'live-lisp.js') },
    code: join(folder, 'dist', 'program.cjs'),
    file: join(place, 'profile.json'),
  };
}

/**
 * Returns the milliseconds of CPU that an evaluation takes: Node's process, its main thread, and SBCL's.
 * @param {Client} client
 * @param {number} count
 */
async function cpuPerCall(client, count) {
  await evaluate(client, WARM_CALLS);
  const [image = -1] = childrenOf(client.pid);
  const now = () => [processCpu(client.pid), mainThreadCpu(client.pid), processCpu(image)];
  const before = now();
  await evaluate(client, count);
  const [node = 0, main = 0, sbcl = 0] = now().map((time, index) => (time - (before[index] ?? 0)) / count);
  return { node, main, sbcl };
}

/**
 * Has CLIENT evaluate COUNT times, one after the other.
 * @param {Client} client
 * @param {number} count
 */
async function evaluate(client, count) {
  for (let call = 0; call < count; call++) await client.call('eval_form', { form: '(+ 1 2)' });
}

/**
 * Returns the share that each part has of the CPU time of the image of CLIENT, in COUNT calls.
 * @param {Client} client
 * @param {number} count
 */
async function sharesInImage(client, count) {
  const functions = SEAMS.map(([, room, name]) => `("LIVE-LISP.${room}" "${name}")`).join(' ');
  const [image = -1] = childrenOf(client.pid);
  await client.call('load_file', { path: join(HERE, 'seams.lisp') });
  await client.call('eval_form', { form: `(live-lisp.seams::watch-seams '(${functions}))` });
  await evaluate(client, count / 10);
  await timeInImage(client, '(live-lisp.seams::take-seams)');
  const before = processCpu(image);
  await evaluate(client, count);
  const whole = processCpu(image) - before;
  const times = await timeInImage(client, '(live-lisp.seams::take-seams)');
  const known = times.reduce((sum, time) => sum + time, 0);
  return new Map([
    ...SEAMS.map(([part = ''], index) => /** @type {const} */ ([part, (times[index] ?? 0) / whole])),
    ['threads begin and end, garbage, all else', Math.max(0, whole - known) / whole],
  ]);
}

/**
 * Starts CONTESTANT and returns the milliseconds of CPU that its main thread had when it answered.
 * @param {Contestant} contestant
 */
async function startCpu(contestant) {
  const client = await connect(contestant);
  const cpu = mainThreadCpu(client.pid);
  await client.close();
  return cpu;
}

/**
 * Starts CONTESTANT and returns what it has noted in FILE until it answered.
 * @param {Contestant} contestant
 * @param {string} file
 */
async function startProfile(contestant, file) {
  const client = await connect(contestant);
  const profile = await takeProfile(client.pid, file);
  await client.close();
  return profile;
}

/**
 * Returns a row for each part, whose SHARES of the milliseconds WHOLE are given, the largest first.
 * @param {Map<string, number>} shares
 * @param {number} whole
 * @returns {Row[]}
 */
function rowsOf(shares, whole) {
  return [...shares].sort(([, one], [, other]) => other - one).map(([part, share]) => [part, share * whole]);
}

/**
 * Returns ROWS with PROCESS before each part.
 * @param {string} process
 * @param {Row[]} rows
 */
function named(process, rows) {
  return rows.map(([part, time]) => ({ process, part, time }));
}

/**
 * Returns ROWS as a table with their sum, in UNIT, of which a millisecond has FACTOR.
 * @param {{ process: string, part: string, time: number }[]} rows
 * @param {string} unit
 * @param {number} factor
 * @returns {import('./statistics.mjs').Table}
 */
function tableOf(rows, unit, factor) {
  const whole = rows.reduce((sum, { time }) => sum + time, 0);
  const cells = (/** @type {number} */ time) => [
    (factor * time).toFixed(1),
    `${((100 * time) / whole).toFixed(1)} %`,
  ];
  return {
    head: ['part', 'process', unit, 'share'],
    rows: [
      ...rows.map(({ process, part, time }) => [part, process, ...cells(time)]),
      ['all', '', ...cells(whole)],
    ],
  };
}
