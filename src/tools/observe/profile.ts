// Takes profiles, and renders a profile as functions with their shares of the samples.

import { messageOf } from '../../errors.ts';
import type { Operations, Profile, Spot } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import type { Observations } from '../../records/observations.ts';
import { crowdText } from '../debug/inspect.ts';
import { packageOf } from '../lookup.ts';
import type { Places } from '../places.ts';
import { type Observing, observeCallOptions, observedResult, observeRefusalResult } from './observing.ts';
import { countText, durationText, firstRunText, MUCH_MS, sizeText } from './units.ts';

/** Number of functions that are shown by default. */
const DEFAULT_FUNCTIONS = 10;
/** Number of seconds for which a form is repeated by default. */
const DEFAULT_SECONDS = 5;

/** Takes a profile and returns the result. MODE selects the quantity that the samples measure. */
export async function observeProfile(
  observing: Observing,
  mode: Operations['observe-profile']['args']['mode'],
): Promise<Result> {
  const { image, args, places, observations } = observing;
  const { form, seconds = DEFAULT_SECONDS, limit: top = DEFAULT_FUNCTIONS } = args;
  const reply = await image.call(
    'observe-profile',
    { mode, seconds, top, ...packageOf(args), ...(form !== undefined && { code: form }) },
    observeCallOptions(observing),
  );
  const { observed, value } = reply.data;
  const refusal = observeRefusalResult(value, places);
  if (refusal !== undefined || observed === undefined)
    return refusal ?? observedResult(reply, places, { observation: undefined, text: undefined });
  const { graph: _, ...observation } = observed;
  const { path, line } = keepFlameGraph(observed, mode, observations);
  const result = observedResult(reply, places, {
    observation: { ...observation, ...(path !== undefined && { flameGraph: path }) },
    text: profileText(observed, mode, places),
  });
  return { ...result, text: joinSections([result.text, line]) };
}

/** Stores a profile and its flame graph, if it has samples of the program. Returns the path of the file with the graph,
 * and a line about it. */
function keepFlameGraph(
  { samples, graph = [], spots = [] }: Profile,
  mode: string,
  observations: Observations,
): { path?: string; line?: string } {
  if (graph.length === 0) return {};
  const what = WHAT[mode] ?? mode;
  const functions = spots.map(({ name, self, total, caller }) => ({
    name,
    self,
    total,
    ...(caller !== undefined && { caller }),
  }));
  try {
    const path = observations.keepProfile({ what, samples, frames: graph, functions });
    return { path, line: `Flame graph: ${path}` };
  } catch (error) {
    return {
      line: `Note: The flame graph could not be written (${messageOf(error)}). Give the server write access there, then profile again.`,
    };
  }
}

/** By mode: the quantity that the samples measure. */
const WHAT: { readonly [mode: string]: string } = {
  cpu: 'CPU time',
  alloc: 'allocation',
  time: 'time, waiting included',
};

function profileText(profile: Profile, mode: string, places: Places): string {
  const { samples, spots = [], found, octets } = profile;
  const head = [
    runsText(profile),
    firstRunText('The first run', profile.first, profile.milliseconds),
    `${countText(samples, 'sample')} of ${WHAT[mode]}.`,
  ]
    .filter(Boolean)
    .join(' ');
  if (spots.length === 0) {
    const why =
      mode === 'cpu' ? 'it used too little CPU; mode: "time" shows where it waits' : 'there were too few';
    return `${head}\nNo sample was in a function of the program: ${why}.`;
  }
  // The number of bytes of a function is correct only when all samples represent the same number of bytes and none is
  // missing.
  const bytes = mode === 'alloc' && !profile.large && !profile.full ? octets : undefined;
  const lines = spots.map((spot) => spotText(spot, places, bytes));
  const shown = spots.filter(({ self }) => self > 0).length;
  const more =
    found > shown
      ? `\n... ${found - shown} more ${found - shown === 1 ? 'function' : 'functions'} with less`
      : '';
  return `${head}\n   self  total\n${lines.join('\n')}${more}${notesText(profile)}`;
}

function notesText({ full, large, crowded = [] }: Profile): string {
  const notes = [
    ...crowded.map(({ variable, test, count, sharing }) =>
      crowdText(sharing, `${countText(count, 'key')} of a hash table with the test ${test} in ${variable}`),
    ),
    full &&
      'There were too many samples to keep all, so the profile covers only the beginning. Profile a smaller part of the program.',
    large &&
      'Most of the allocated memory is in large objects, and each of these is only one sample. So the percentages are shares of allocations, not of bytes.',
  ].filter(Boolean);
  return notes.map((note) => `\nNote: ${note}`).join('');
}

function runsText({ runs, milliseconds = 0, cpu = 0, octets = 0 }: Profile): string | undefined {
  if (runs === undefined) return undefined;
  const took = `${durationText(milliseconds)}${cpuText(milliseconds, cpu, runs)} and ${sizeText(octets)}`;
  return runs === 1 ? `One run took ${took}.` : `${countText(runs, 'run')} of ${took} each.`;
}

/** CPU time is shown only when it differs from the elapsed time by more than this factor. */
const NOTED_RATIO = 1.25;

function cpuText(milliseconds: number, cpu: number, runs: number): string {
  if (Math.abs(milliseconds - cpu) * runs < MUCH_MS) return '';
  if (milliseconds <= NOTED_RATIO * cpu && cpu <= NOTED_RATIO * milliseconds) return '';
  const why = cpu > milliseconds ? 'several threads ran' : 'it waited, or other processes had the CPU';
  return ` by the clock (CPU ${durationText(cpu)}: ${why})`;
}

function spotText(spot: Spot, places: Places, octets: number | undefined): string {
  const { name, self, total, place, caller, callerPart } = spot;
  const at = place === undefined ? '' : `  ${places.locate(place, { name })}`;
  const part = callerPart === undefined ? '' : ` ${callerPart}%`;
  // A function that uses no time itself is listed only because it calls others. Its caller is not shown, because the
  // next row usually has the caller.
  const by = caller === undefined || self === 0 ? '' : `  < ${caller}${part}`;
  const bytes = octets === undefined || self === 0 ? '' : `  ${sizeText((octets * self) / 100)}`;
  return ` ${percentText(self)} ${percentText(total)}  ${name}${at}${bytes}${by}`;
}

/** Returns PERCENT as a text of six characters. Shows a decimal place only for percentages below 1, because the error
 * of a profile with some hundred samples is larger than 0.1 %. */
function percentText(percent: number): string {
  const digits = percent > 0 && percent < 1 ? 1 : 0;
  return `${percent.toFixed(digits)}%`.padStart(6);
}
