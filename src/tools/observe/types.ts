// Renders the types of arguments and values in recorded calls.

import type { ObservedCalls, ObservedPlace, ObservedTypes } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import { countText } from './units.ts';

/** Returns a section for each function, with the types of arguments and values in its calls. A last line gives the
 * number of further functions. */
export function typesText({ types = [], total, kept, observed }: ObservedCalls): string {
  const part = kept < total ? ` (of ${total}, the first and the last ones)` : '';
  const more = observed - types.length;
  return joinSections([
    ...types.map((each) => functionText(each, part)),
    more > 0 && `${countText(more, 'more function')}, called no more often; limit shows more.`,
  ]);
}

function functionText(
  { name, calls, parameters = [], values = [], ...known }: ObservedTypes,
  part: string,
): string {
  if (calls === 0) return `${name} was not called.`;
  const lines = [
    ...parameters.map((place) => `  ${place.name}: ${placeText(place)}`),
    ...values.map((place) => `  => ${placeText(place)}`),
    known.type && `  ${known.declared ? 'Declared' : 'Derived'}: ${known.type}`,
    known.proposed && `  ${known.proposed}`,
  ];
  return [`${name}: ${countText(calls, 'call')}${part}`, ...lines.filter(Boolean)].join('\n');
}

function placeText({ types = [], least, most }: ObservedPlace): string {
  const typeList = types.map(({ type, count }) => (types.length > 1 ? `${type} ${count}` : type)).join(', ');
  const range =
    least === undefined || most === undefined ? '' : `, ${least === most ? least : `${least} to ${most}`}`;
  return `${typeList}${range}`;
}
