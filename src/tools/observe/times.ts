// Compares the times of two forms, which run alternately.

import type { ComparedTimes, TakenTime } from '../../image/wire/operations.ts';
import type { Result } from '../../kernel/tool.ts';
import { formValuesText } from '../execution/evaluation-text.ts';
import { packageOf } from '../lookup.ts';
import { type Observing, observeCallOptions, observedResult, observeRefusalResult } from './observing.ts';
import { durationText, firstRunText, sizeText } from './units.ts';

/** Number of seconds for which two forms are measured by default. */
const DEFAULT_SECONDS = 2;

/** Measures FORM and AGAINST alternately, and returns the result. */
export async function observeTimes(observing: Observing, form: string, against: string): Promise<Result> {
  const { image, args, places } = observing;
  const { seconds = DEFAULT_SECONDS } = args;
  const reply = await image.call(
    'observe-times',
    { code: form, against, seconds, ...packageOf(args) },
    observeCallOptions(observing),
  );
  const { compared, firsts, same, values = [], value, at } = reply.data;
  const text =
    compared && [timesText(compared, firsts), !same && differText(values)].filter(Boolean).join('\n');
  const shown = { ...reply, data: { ...reply.data, values: same ? values.slice(0, 1) : [] } };
  const result =
    observeRefusalResult(value, places) ??
    observedResult(shown, places, {
      observation: compared && { ...compared, firsts, same: same ?? false },
      text,
    });
  const read = value && 'in' in value && value.in === against ? 'against' : 'form';
  return result.failed ? { ...result, text: `In ${at ?? read}: ${result.text}` } : result;
}

function differText([one = [], other = []]: Parameters<typeof formValuesText>[0]): string {
  return `Their values differ: ${formValuesText([one])} and ${formValuesText([other])}`;
}

function timesText(
  { rounds, cpu, one, other }: ComparedTimes,
  [firstOne, firstOther]: readonly number[] = [],
): string {
  const measured = `${verdict(one, other)} Medians and quartiles of ${rounds} rounds in turn, ${cpu ? 'CPU time' : 'time by the clock'}.`;
  const firsts = [
    firstRunText('The first run of form', firstOne, one.median),
    firstRunText('The first run of against', firstOther, other.median),
  ];
  return [
    `form:    ${takenText(one)}`,
    `against: ${takenText(other)}`,
    [measured, ...firsts].filter(Boolean).join(' '),
  ].join('\n');
}

function takenText({ median, low, high, octets }: TakenTime): string {
  return `${durationText(median)} (${durationText(low)} to ${durationText(high)}), ${sizeText(octets)}`;
}

/** Returns a sentence that says which form is faster. ONE is the time of `form`, OTHER that of `against`. A difference
 * counts only when the interquartile ranges do not overlap. */
function verdict(one: TakenTime, other: TakenTime): string {
  if (one.low <= other.high && other.low <= one.high) return 'No difference that counts.';
  if (other.median === 0) return '`against` took too little time to measure.';
  return `\`form\` took ${(one.median / other.median).toPrecision(2)} times as long as \`against\`.`;
}
