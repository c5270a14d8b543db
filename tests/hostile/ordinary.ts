// Decides what ordinary calls are, and measures that processes do not grow with their number.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LONG } from '../long.ts';
import { until } from '../server/processes.ts';
import { type Arena, statusOf } from './arena.ts';

/** What one look at a server and its image found. */
export interface Sample {
  calls: number;
  serverKb: number;
  /** What the server and the image use of their heaps. */
  serverHeapKb: number;
  imageKb: number;
  imageHeapKb: number;
}

/** What a process or the folder of temporary files holds. */
export interface Holdings {
  serverDescriptors: number;
  serverThreads: number;
  imageDescriptors: number;
  imageThreads: number;
  temporaryFiles: number;
}

/** By how many kB a thousand calls made the processes and their heaps grow, after the warm-up; all garbage was collected
 *  before each look. */
export interface Slopes {
  serverSlope: number;
  serverHeapSlope: number;
  imageSlope: number;
  imageHeapSlope: number;
}

export interface Flatness extends Slopes {
  calls: number;
  samples: Sample[];
  before: Holdings;
  after: Holdings;
  /** What was answered otherwise than it must be. */
  wrong: string[];
}

type Call = [tool: string, args: Record<string, unknown>, answer: RegExp];

/** The calls that are made in turn. */
const CALLS: readonly ((n: number) => Call)[] = [
  (n) => ['eval_form', { form: `(+ ${n} 1)` }, new RegExp(`^${n + 1}$`)],
  () => ['apropos_search', { pattern: 'mapcar', package: 'cl' }, /^Found 1 symbol/],
  (n) => ['eval_form', { form: `(progn (print ${n}) :printed)` }, /^:PRINTED\n\nOutput:\n/],
  () => ['describe_symbol', { symbol: 'cl:car' }, /^COMMON-LISP::CAR \[FUNCTION\]/],
  (n) => ['eval_form', { form: `(defun ordinary-${n % 20} (x) (list x ${n}))` }, /^ORDINARY-\d+/],
  () => ['who_calls', { name: 'ordinary-4' }, /ORDINARY-4/],
  (n) => ['eval_form', { form: `(error "Number ~d." ${n})` }, /^Error: Number \d+\./],
  () => ['function_arglist', { symbol: 'cl:mapcar' }, /MAPCAR/i],
  (n) => ['compile_form', { form: `(defun compiled-${n % 20} (x) (1+ x))` }, /./],
  () => ['eval_form', { form: '(list 1' }, /cannot be read/],
  () => ['search_tools', { query: 'evaluate' }, /eval_form/],
  (n) => ['eval_form', { form: `(loop for i below ${n % 500} sum i)` }, /^\d+$/],
  () => ['macroexpand_form', { form: '(when a b)' }, /IF A/],
  () => ['get_last_error', {}, /./],
  () => ['eval_form', { form: '(make-array 100000)', package: 'cl-user' }, /^#\(0 0/],
  () => ['class_slots', { class: 'cl:type-error' }, /DATUM/],
];

/** Each takes a collection of both heaps. */
const SAMPLES = LONG ? 40 : 12;

/** Makes COUNT ordinary calls in ARENA, whose image is a new one. Returns what those did to the processes that come
 *  after the part WARM_UP of them. */
export async function makeOrdinaryCalls(arena: Arena, count: number, warmUp: number): Promise<Flatness> {
  const wrong: string[] = [];
  const make = async (n: number) => {
    const [tool, args, answer] = (CALLS[n % CALLS.length] as (n: number) => Call)(n);
    const { text } = await arena.session.call(tool, args);
    if (!answer.test(text) && wrong.length < 10)
      wrong.push(`${tool} ${JSON.stringify(args)}: ${text.slice(0, 200)}`);
  };
  for (let n = 0; n < CALLS.length; n++) await make(n);
  const before = await settledHoldings(arena);
  const samples: Sample[] = [];
  for (let n = 0; n < count; n++) {
    if (n % Math.ceil(count / SAMPLES) === 0) samples.push(await sample(arena, n));
    await make(n);
  }
  samples.push(await sample(arena, count));
  const after = await until('holdings as before', 60_000, async () => {
    const now = await holdings(arena);
    return grown(before, now).length === 0 && now;
  }).catch(() => holdings(arena));
  const warm = samples.filter(({ calls }) => calls >= count * warmUp);
  return {
    calls: count,
    samples,
    ...slopes(warm),
    before,
    after,
    wrong,
  };
}

async function sample(arena: Arena, calls: number): Promise<Sample> {
  const { text } = await arena.eval('(progn (sb-ext:gc :full t) (sb-kernel:dynamic-usage))');
  const serverHeapKb = await arena.serverHeapKb();
  return {
    calls,
    serverHeapKb,
    imageHeapKb: Number(text) / 1024,
    serverKb: statusOf(arena.session.pid, 'VmRSS'),
    imageKb: statusOf(arena.image() ?? arena.session.pid, 'VmRSS'),
  };
}

function slopes(samples: readonly Sample[]): Slopes {
  const of = (value: (sample: Sample) => number) => slope(samples.map((each) => [each.calls, value(each)]));
  return {
    serverSlope: of(({ serverKb }) => serverKb),
    serverHeapSlope: of(({ serverHeapKb }) => serverHeapKb),
    imageSlope: of(({ imageKb }) => imageKb),
    imageHeapSlope: of(({ imageHeapKb }) => imageHeapKb),
  };
}

/** Returns by how much a thousand of the first member of POINTS raise the second, by least squares. */
export function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([a]) => a)), mean(points.map(([, b]) => b))];
  const over = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  const under = points.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
  return (1000 * over) / under;
}

/** Resolves with the holdings of ARENA once two looks have found the same. */
async function settledHoldings(arena: Arena): Promise<Holdings> {
  let last = await holdings(arena);
  return until('holdings that stay', 60_000, async () => {
    const before = last;
    last = await holdings(arena);
    return grown(before, last).length === 0 && grown(last, before).length === 0 && last;
  });
}

/** Returns what of AFTER is more than BEFORE. */
function grown(before: Holdings, after: Holdings): string[] {
  return (Object.keys(after) as (keyof Holdings)[])
    .filter((what) => after[what] > before[what])
    .map((what) => `${what}: ${before[what]} before, ${after[what]} after`);
}

async function holdings(arena: Arena): Promise<Holdings> {
  await arena.eval('(sb-ext:gc :full t)');
  // The thread of a call that was answered takes a moment to end.
  await pause(200);
  const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
  const image = arena.image() ?? -1;
  return {
    serverDescriptors: descriptors(arena.session.pid),
    serverThreads: statusOf(arena.session.pid, 'Threads'),
    imageDescriptors: descriptors(image),
    imageThreads: statusOf(image, 'Threads'),
    temporaryFiles: readdirSync(join(arena.folder.path, 'temporary')).length,
  };
}

/** Returns in which way MEASURED is not flat: grown more than BOUNDS say, or more held than before. */
export function growth(measured: Flatness, bounds: Partial<Slopes>): string[] {
  const { before, after, wrong } = measured;
  const steep = (Object.keys(bounds) as (keyof Slopes)[])
    .filter((which) => measured[which] > (bounds[which] ?? Number.POSITIVE_INFINITY))
    .map((which) => `${which}: ${measured[which].toFixed(1)} kB in 1000 calls, of ${bounds[which]}`);
  return [...wrong, ...steep, ...grown(before, after)];
}
