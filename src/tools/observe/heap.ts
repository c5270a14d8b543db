// Counts the objects in the heap, and renders the counts.

import type { CountedClass, CountedHeap } from '../../image/wire/operations.ts';
import type { Result } from '../../kernel/tool.ts';
import { packageOf } from '../lookup.ts';
import { type Observing, observeCallOptions, observedResult, observeRefusalResult } from './observing.ts';
import { countText, durationText, sizeText } from './units.ts';

/** Number of classes that are shown by default. */
const DEFAULT_CLASSES = 10;

/** Counts the objects in the heap by class. */
export async function observeHeap(observing: Observing): Promise<Result> {
  const { image, args, places } = observing;
  const { form, seconds, limit = DEFAULT_CLASSES } = args;
  const reply = await image.call(
    'observe-heap',
    {
      limit,
      ...packageOf(args),
      ...(form !== undefined && { code: form }),
      ...(seconds !== undefined && { seconds }),
    },
    observeCallOptions(observing),
  );
  const { observed, value } = reply.data;
  const text = observed && heapText(observed, form !== undefined);
  return (
    observeRefusalResult(value, places) ?? observedResult(reply, places, { observation: observed, text })
  );
}

function heapText({ octets, count, moreOctets, since, rows = [], found }: CountedHeap, ran: boolean): string {
  const before = ran ? 'before form' : since !== undefined && `${durationText(since * 1000)} before`;
  const compared = before ? `, ${changeText(moreOctets, sizeText)} since the count ${before}` : '';
  const head = `${sizeText(octets)} in ${countText(count, 'object')} after a garbage collection${compared}.`;
  if (rows.length === 0) return `${head}\nNo class has more instances or fewer.`;
  const lines = rows.map((row) => rowText(row, since !== undefined));
  const more = found > rows.length ? `\n... ${found - rows.length} more; limit shows more` : '';
  return `${head}\n${lines.join('\n')}${more}`;
}

function changeText(number: number, render: (number: number) => string): string {
  return `${number < 0 ? '-' : '+'}${render(Math.abs(number))}`;
}

function rowText({ name, count, octets, more, moreOctets }: CountedClass, compared: boolean): string {
  const size = `${count.toLocaleString('en-US')}, ${sizeText(octets)}`;
  const change = `${changeText(more, (number) => number.toLocaleString('en-US'))}, ${changeText(moreOctets, sizeText)}`;
  return compared ? `  ${name}: ${change} (now ${size})` : `  ${name}: ${size}`;
}
