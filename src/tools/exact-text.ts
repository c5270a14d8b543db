// Finds a text in a file with LF or CRLF line ends, and renders the most similar place when the file lacks
// the text.

import { lineEnds, linesOf } from '../files/text.ts';
import { LINE_NUMBERS_LIMIT, nearestPlace, occurrences } from './match.ts';

/** At most this many lines of the nearest place are shown. */
const NEAR_LINES = 40;

/** Returns the occurrences of WANTED in TEXT. COUNT is their number, LINES has the line numbers of the first
 *  ones, and PLACES the index ranges of those that overlap no earlier one. An LF in WANTED matches a CRLF
 *  too. */
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

/** Returns REPLACEMENT, which has LF line ends, with the line ends that TEXT has between FROM and TO.
 *  DEFAULT_ENDS counts when there is no line end between them. */
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

/** Returns a function that converts an index in TEXT that counts each CRLF as one character to the real
 *  index. Call it with ascending indices only: it scans TEXT once. */
function indexWithReturns(text: string): (index: number) => number {
  let [returns, next] = [0, text.indexOf('\r\n')];
  return (index) => {
    for (; next !== -1 && next < index + returns; next = text.indexOf('\r\n', next + 2)) returns += 1;
    return index + returns;
  };
}

/** Returns LINES, the lines of the first occurrences, as a phrase. */
export function atLinesText(lines: readonly number[]): string {
  if (lines.length === 1) return `at line ${lines[0]}`;
  return `${lines.length < LINE_NUMBERS_LIMIT ? 'at' : 'first at'} lines ${lines.join(', ')}`;
}

/** Returns a message that shows the lines of TEXT most similar to WANTED, and asks for the exact text as the
 *  argument NAME. FIRST_LINE is the line of the file where TEXT begins. Returns undefined when no lines are
 *  similar. */
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
