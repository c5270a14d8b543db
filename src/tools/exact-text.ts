// Finds a text in a file with LF or CRLF line ends, and renders the most similar place when the file lacks
// the text.

import { lineEnds, linesOf } from '../files/text.ts';
import { LINE_NUMBERS_LIMIT, nearestPlace, occurrences } from './match.ts';

/** At most this many lines of the most similar place are shown. */
const NEAR_LINES = 40;

/** Returns the occurrences of WANTED in TEXT: their `count`, the first line numbers, and the index ranges
 * without overlap. LF in WANTED matches CRLF too. */
export function exactPlaces(
  text: string,
  wanted: string,
): { count: number; lines: number[]; places: { from: number; to: number }[] } {
  const { count, starts, lines } = occurrences(text.replaceAll('\r\n', '\n'), wanted);
  const toIndex = indexWithReturns(text);
  return {
    count,
    lines,
    places: starts.map((at) => ({ from: toIndex(at), to: toIndex(at + wanted.length) })),
  };
}

/** Returns REPLACEMENT, which has LF line ends, with the line ends of TEXT between FROM and TO. DEFAULT_ENDS
 * applies when that range has no line end. */
export function withLineEndsOf(
  text: string,
  from: number,
  to: number,
  replacement: string,
  defaultEnds = lineEnds(text),
): string {
  const ends = lineEnds(text.slice(from, to)) ?? defaultEnds;
  return ends === 'CRLF' ? replacement.replaceAll('\n', '\r\n') : replacement;
}

/** Returns a function that converts an index in TEXT with LF line ends to an index in TEXT. Successive
 * indices must ascend, because TEXT is scanned once. */
function indexWithReturns(text: string): (index: number) => number {
  let [returns, next] = [0, text.indexOf('\r\n')];
  return (index) => {
    for (; next !== -1 && next < index + returns; next = text.indexOf('\r\n', next + 2)) returns += 1;
    return index + returns;
  };
}

/** Returns a phrase with the numbers of LINES, the first lines with an occurrence. */
export function atLinesText(lines: readonly number[]): string {
  if (lines.length === 1) return `at line ${lines[0]}`;
  return `${lines.length < LINE_NUMBERS_LIMIT ? 'at' : 'first at'} lines ${lines.join(', ')}`;
}

/** Returns a message with the lines of TEXT most similar to WANTED, which asks for the exact text as argument
 * NAME. FIRST_LINE is the line number where TEXT begins. Returns undefined when no lines are similar. */
export function nearestText(text: string, wanted: string, name: string, firstLine = 1): string | undefined {
  const nearest = nearestPlace(linesOf(text), linesOf(wanted));
  if (nearest === undefined) return undefined;
  const { lines, onlySpace } = nearest;
  const first = nearest.first + firstLine - 1;
  const shown = lines.slice(0, NEAR_LINES).map((line, index) => `${first + index}: ${line}`);
  const where = lines.length === 1 ? `is line ${first}` : `is lines ${first} to ${first + lines.length - 1}`;
  const difference = onlySpace ? `, which differs in white space only` : '';
  const more = lines.length > NEAR_LINES ? '\n...' : '';
  return `The nearest place ${where}${difference}:\n\n${shown.join('\n')}${more}\n\nGive the exact text as ${name}.`;
}
