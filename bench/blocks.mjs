// Decides how it is measured for how long the server keeps its client waiting while a tool works on 1 MB: by the CPU time of
// its main thread until it answers a ping.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import { Client } from './client.mjs';
import { countsCpu, mainThreadCpu } from './cpu.mjs';
import { quantile } from './statistics.mjs';

/** @typedef {import('./client.mjs').Contestant} Contestant */
/** @typedef {Record<string, (size: number) => string>} Shapes */
/** @typedef {{ tool: string, what: string, shape: string, args: object }} Call */
/** @typedef {{ call: Call, ms: number }} Sample */

/** Characters of a text. */
const SIZE = 1_000_000;
/** Milliseconds that the main thread may be occupied. */
const MOST_MS = 100;
/** How often a call that is above is tried: what disturbs a measurement only makes it longer. */
const TRIES = 3;
/** Milliseconds between two pings. */
const PAUSE_MS = 2;

/** Calls that are named. */
const SHOWN_LIMIT = 10;

/** What stands for the other arguments that a tool needs. */
const PLAIN = { string: 'foo', integer: 1, number: 1, boolean: false };

/** Tools that end or occupy the image, whose arguments are names of things in it. */
const LEFT_OUT = ['restart_image', 'interrupt'];

/**
 * Measures each tool with each string among its arguments of each shape, and with files of each shape; with every EVERYth shape.
 * @param {import('./contestants.mjs').Stage} stage
 * @param {{ every: number }} size
 * @returns {Promise<import('./statistics.mjs').Section | undefined>}
 */
export async function measureBlocks({ warm }, { every }) {
  if (!countsCpu()) return undefined;
  const shapes = Object.entries(await readShapes()).filter((_, index) => index % every === 0);
  const folder = mkdtempSync(join(warm.folder, 'blocks-'));
  const client = new Client({
    ...warm,
    folder,
    args: [...(warm.args ?? []), '--root', folder, '--eval-timeout', '5'],
  });
  try {
    await client.initialize({ elicitation: { form: {} } });
    const { tools } = await client.request('tools/list', {});
    /** @type {Sample[]} */
    const samples = [];
    for (const call of [...fileCalls(folder, shapes), ...argumentCalls(tools, shapes)])
      samples.push({ call, ms: await longest(client, call) });
    return section(samples);
  } finally {
    await client.close();
  }
}

/** @returns {Promise<Shapes>} */
async function readShapes() {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '../tests/attacks/shapes.ts')],
    bundle: true,
    format: 'esm',
    write: false,
  });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  return (await import(`data:text/javascript;base64,${code}`)).SHAPES;
}

/**
 * Returns calls about files of SHAPES, which are made in FOLDER.
 * @param {string} folder
 * @param {[string, (size: number) => string][]} shapes
 * @returns {Call[]}
 */
function fileCalls(folder, shapes) {
  return shapes.flatMap(([shape, make]) => {
    const name = shape.replace(/\W+/g, '-');
    const text = make(SIZE);
    mkdirSync(join(folder, name));
    const path = `${name}/${name}.lisp`;
    writeFileSync(join(folder, path), text);
    const start = text.slice(0, 40);
    /** @type {[string, object][]} */
    const calls = [
      ['read_file', { path }],
      ['search_in_buffer', { buffer: `${name}.lisp`, pattern: start }],
      ['search_in_buffer', { buffer: `${name}.lisp`, pattern: text.slice(0, 300), code: true }],
      ['search_in_buffer', { buffer: `${name}.lisp`, pattern: '(a+)+$', regex: true }],
      ['read_definition', { path }],
      ['read_definition', { name: 'foo', path }],
      ['load_file', { path, check: true, timeout: 5 }],
      ['propose_file_edit', { path, original: start, modified: 'x' }],
      ['propose_file_edit', { path, original: text.slice(0, 2000), modified: `${text.slice(0, 1999)}!` }],
      ['write_file', { path, content: `${text}\n(a)` }],
      ['write_file', { path, content: text.replaceAll('a', 'b').replaceAll('(', '[') }],
      ['edit_definitions', { edits: [{ path, definition: 'foo', text: '(defun foo () 1)' }] }],
      ['edit_definitions', { edits: [{ path, after: 'end', text: '(defun foo () 1)' }] }],
      ['rename_symbol', { name: 'foo', to: 'bar', dry_run: true }],
    ];
    return calls.map(([tool, args]) => ({ tool, what: 'a file', shape, args }));
  });
}

/**
 * Returns calls of TOOLS with a text of each of SHAPES for each string that they take.
 * @param {{ name: string, inputSchema: any }[]} tools
 * @param {[string, (size: number) => string][]} shapes
 * @returns {Call[]}
 */
function argumentCalls(tools, shapes) {
  return tools
    .filter(({ name }) => !LEFT_OUT.includes(name))
    .flatMap(({ name: tool, inputSchema }) =>
      placesOf(inputSchema).flatMap(({ what, fill }) =>
        shapes.map(([shape, make]) => ({ tool, what, shape, args: fill(make(SIZE)) })),
      ),
    );
}

/**
 * Returns each string that SCHEMA, of an object, has room for: its name, and what makes the arguments that have a text there.
 * @param {any} schema
 * @returns {{ what: string, fill: (text: string) => object }[]}
 */
function placesOf({ properties = {}, required = [] }) {
  const base = Object.fromEntries(
    required.map((/** @type {string} */ name) => [name, plain(properties[name])]),
  );
  return Object.entries(properties).flatMap(([name, property]) =>
    textsIn(property).map(({ what, value }) => ({
      what: [name, what].filter(Boolean).join(' '),
      fill: (/** @type {string} */ text) => ({ ...base, [name]: value(text) }),
    })),
  );
}

/**
 * @param {any} property
 * @returns {{ what: string, value: (text: string) => unknown }[]}
 */
function textsIn(property) {
  if (property.type === 'string') return property.enum ? [] : [{ what: '', value: (text) => text }];
  if (property.type === 'array')
    return textsIn(property.items ?? {}).map(({ what, value }) => ({ what, value: (text) => [value(text)] }));
  if (property.type === 'object') return placesOf(property).map(({ what, fill }) => ({ what, value: fill }));
  return [];
}

/**
 * @param {any} property
 * @returns {unknown}
 */
function plain({ type, enum: values, items, properties = {}, required = [] }) {
  if (values) return values[0];
  if (type === 'array') return [plain(items ?? {})];
  if (type === 'object')
    return Object.fromEntries(required.map((/** @type {string} */ name) => [name, plain(properties[name])]));
  return /** @type {Record<string, unknown>} */ (PLAIN)[type] ?? 'foo';
}

/**
 * Returns the milliseconds of the slowest ping while CALL is made: the least of some tries when that is long.
 * @param {Client} client
 * @param {Call} call
 */
async function longest(client, call) {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && least > MOST_MS; tries++)
    least = Math.min(least, await slowestPing(client, call));
  return least;
}

/**
 * @param {Client} client
 * @param {Call} call
 */
async function slowestPing(client, { tool, args }) {
  let [slowest, done] = [0, false];
  const answer = client.request('tools/call', { name: tool, arguments: args });
  const end = () => {
    done = true;
  };
  answer.then(end, end);
  while (!done) {
    const before = mainThreadCpu(client.pid);
    await client.request('ping', {});
    slowest = Math.max(slowest, mainThreadCpu(client.pid) - before);
    await pause(PAUSE_MS);
  }
  return slowest;
}

/**
 * @param {Sample[]} samples
 * @returns {import('./statistics.mjs').Section}
 */
function section(samples) {
  const tools = [...new Set(samples.map(({ call }) => call.tool))].sort();
  const ofTool = (/** @type {string} */ tool) => samples.filter(({ call }) => call.tool === tool);
  const figures = [['all tools', samples], ...tools.map((tool) => [`\`${tool}\``, ofTool(tool)])].map(
    ([title, of]) => figure(String(title), /** @type {Sample[]} */ (of)),
  );
  return {
    title: 'How long 1 MB occupies the server',
    note: `CPU time of the server’s main thread until it answers a ping, while a tool has a text of ${SIZE.toLocaleString('en')} characters as an argument or as a file, one call a shape. The goal is ${MOST_MS} ms; a call above that is tried ${TRIES} times, and the least counts.`,
    figures,
    shares: {
      head: ['the longest', 'ms'],
      rows: samples
        .toSorted((one, other) => other.ms - one.ms)
        .slice(0, SHOWN_LIMIT)
        .map(({ call: { tool, what, shape }, ms }) => [`\`${tool}\`, ${what}: ${shape}`, ms.toFixed(0)]),
    },
  };
}

/**
 * @param {string} title
 * @param {Sample[]} samples
 * @returns {import('./statistics.mjs').Figure}
 */
function figure(title, samples) {
  const times = samples.map(({ ms }) => ms);
  const [p50, p99] = [0.5, 0.99].map((part) => quantile(times, part));
  return { id: title, title, unit: 'ms', n: times.length, p50: p50 ?? 0, p99: p99 ?? 0 };
}
