// Decides how the CPU time of a server is read from the system, and put down to the parts of the program. The system
// counts; a profile of V8 only says which share each part has.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @typedef {object} Frame
 * @property {string} functionName
 * @property {string} url
 * @property {number} lineNumber
 */

/**
 * @typedef {object} Profile What V8 noted: which node of a tree each sample was in, and how long.
 * @property {{ id: number, callFrame: Frame, children?: number[] }[]} nodes
 * @property {number[]} samples
 * @property {number[]} timeDeltas
 */

const TICKS_PER_SECOND = 100;
const PROFILED = join(import.meta.dirname, 'profiled.mjs');

/**
 * Returns the milliseconds of CPU that the process PID has had, all its threads, and which it has ended.
 * @param {number} pid
 */
export function processCpu(pid) {
  const [user = 0, system = 0] = fieldsOf(pid).slice(11, 13).map(Number);
  return ((user + system) * 1000) / TICKS_PER_SECOND;
}

/**
 * Returns the milliseconds of CPU that those processes had which PID started and which have ended.
 * @param {number} pid
 */
export function endedCpu(pid) {
  const [user = 0, system = 0] = fieldsOf(pid).slice(13, 15).map(Number);
  return ((user + system) * 1000) / TICKS_PER_SECOND;
}

/**
 * Returns the fields of /proc/PID/stat behind the name.
 * @param {number} pid
 */
function fieldsOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/**
 * Returns the milliseconds of CPU that the main thread of the process PID has had.
 * @param {number} pid
 */
export function mainThreadCpu(pid) {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** Returns whether the system counts CPU as this file reads it. */
export function countsCpu() {
  return existsSync('/proc/self/schedstat');
}

/**
 * Returns CONTESTANT as one that notes where it is, in FILE.
 * @param {import('./client.mjs').Contestant} contestant
 * @param {string} file
 * @returns {import('./client.mjs').Contestant}
 */
export function profiled(contestant, file) {
  const env = { NODE_OPTIONS: `--import ${PROFILED}`, LIVE_LISP_BENCH_PROFILE: file };
  return { ...contestant, env: { ...contestant.env, ...env } };
}

/**
 * Returns what the process PID has noted since the last time, in FILE.
 * @param {number} pid
 * @param {string} file
 * @returns {Promise<Profile>}
 */
export async function takeProfile(pid, file) {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) await sleep(10);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Which part of the program a file is, in their order: the first whose folder it is in. */
const ROOMS = [
  ['node_modules/ajv', 'the SDK and zod'],
  ['node_modules/@modelcontextprotocol', 'the SDK and zod'],
  ['node_modules/zod', 'the SDK and zod'],
  ['node_modules', 'other packages'],
  ['src/image/wire', '`image/wire`: frames, requests'],
  ['src/image/session', '`image/session`: the queue, the limits'],
  ['src/image', '`image`: the rest'],
  ['src/server', '`server`: transport, results'],
  ['src/kernel', '`kernel`: verdict, arguments, limits'],
  ['src/records', '`records`: audit log, history'],
  ['src/tools', '`tools`: arguments, texts'],
  ['src/catalog', '`catalog`'],
];

/** What V8 calls what is no function, and is none of the program. */
const OWN_NAMES = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'Node: its loop, and the system'],
]);

/**
 * Returns a function that returns from which file the line LINE of the bundle in FILE is, which is not minified.
 * @param {string} file
 * @returns {(line: number) => string}
 */
function sourceFinder(file) {
  /** @type {string[]} */
  const sources = [];
  let source = '';
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    source = /^ *\/\/ ((?:\.\.\/)*(?:[\w.-]+\/)*(?:src|node_modules)\/[\w@./-]+)$/.exec(line)?.[1] ?? source;
    sources.push(source);
  }
  return (line) => sources[line] ?? '';
}

/**
 * Returns the share of each part in PROFILES, servers of which run the bundle FILE. Idle time has none.
 * @param {Profile[]} profiles
 * @param {string} file
 * @returns {Map<string, number>}
 */
export function sharesOf(profiles, file) {
  const sourceAt = sourceFinder(file);
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const profile of profiles) addTimes(profile, sourceAt, times);
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  return new Map([...times].map(([part, time]) => [part, time / all]));
}

/**
 * Adds the time of each part in PROFILE to TIMES.
 * @param {Profile} profile
 * @param {(line: number) => string} sourceAt
 * @param {Map<string, number>} times
 */
function addTimes({ nodes, samples, timeDeltas }, sourceAt, times) {
  const parts = new Map();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  /** @param {number} id @param {string} above */
  const enter = (id, above) => {
    const { callFrame, children = [] } = byId.get(id) ?? { callFrame: undefined };
    const part = callFrame ? partOf(callFrame, above, sourceAt) : above;
    parts.set(id, part);
    for (const child of children) enter(child, part);
  };
  enter(nodes[0]?.id ?? 0, 'Node: its loop, and the system');
  samples.forEach((id, index) => {
    const part = parts.get(id);
    if (part !== 'idle') times.set(part, (times.get(part) ?? 0) + Math.max(0, timeDeltas[index] ?? 0));
  });
}

/**
 * Returns the part that FRAME is of, which the part ABOVE called: what is written in C++ is of that.
 * @param {Frame} frame
 * @param {string} above
 * @param {(line: number) => string} sourceAt
 */
function partOf({ functionName, url, lineNumber }, above, sourceAt) {
  if (functionName === '(idle)') return 'idle';
  const own = OWN_NAMES.get(functionName);
  if (own !== undefined) return own;
  if (url === '') return above;
  // What takes the profile is none of the program.
  if (url.endsWith('profiled.mjs') || url === 'node:inspector') return 'idle';
  if (url.startsWith('node:')) return nodePart(url);
  if (/\/(?:live-lisp|start)\.js$/.test(url)) return 'loading the code that V8 kept';
  const source = sourceAt(lineNumber);
  return ROOMS.find(([folder]) => source.includes(folder))?.[1] ?? 'what joins them';
}

/**
 * Returns the part that the file URL of Node is of.
 * @param {string} url
 */
function nodePart(url) {
  if (url === 'node:vm') return 'loading the code that V8 kept';
  if (url.includes('/modules/') || url.includes('/bootstrap/')) return 'Node: loading modules';
  if (url.startsWith('node:fs') || url.includes('/fs/')) return 'Node: files';
  return 'Node: streams, pipes, timers';
}
