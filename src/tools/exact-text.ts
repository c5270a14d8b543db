// Finds a text in a file whose line ends are LF or CRLF. When the file does not contain it, renders the most similar
// place.

import { lineEnds, linesOf } from '../files/text.ts';
import { LINE_NUMBERS_LIMIT, nearestPlace, occurrences } from './match.ts';

/** Maximum number of lines that are shown of the most similar place. */
const NEAR_LINES = 40;

/** Finds WANTED in TEXT. `count` is the number of occurrences, `lines` has the numbers of the first lines in which
 * occurrences begin, and `places` has the index ranges of occurrences that do not overlap. An LF in WANTED also matches
 * a CRLF. */
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

/** Returns REPLACEMENT, whose line ends are LF, with the line ends that TEXT has between FROM and TO. If this range has
 * no line end, DEFAULT_ENDS is used. */
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

/** TEXT has CRLF line ends. Returns a function that takes an index in a copy of TEXT with LF line ends, and returns the
 * corresponding index in TEXT. Call it with ascending indexes, because it scans TEXT only once. */
function indexWithReturns(text: string): (index: number) => number {
  let [returns, next] = [0, text.indexOf('\r\n')];
  return (index) => {
    for (; next !== -1 && next < index + returns; next = text.indexOf('\r\n', next + 2)) returns += 1;
    return index + returns;
  };
}

/** Returns a phrase with the line numbers LINES, those of the first occurrences. */
export function atLinesText(lines: readonly number[]): string {
  if (lines.length === 1) return `at line ${lines[0]}`;
  return `${lines.length < LINE_NUMBERS_LIMIT ? 'at' : 'first at'} lines ${lines.join(', ')}`;
}

/** Returns a message that shows the lines of TEXT that are most similar to WANTED, and asks for the exact text as the
 * argument NAME. FIRST_LINE is the number of the first line of TEXT. Returns undefined when no lines are similar. */
export function nearestText(text: string, wanted: string, name: string, firstLine = 1): string | undefined {
  const nearest = nearestPlace(linesOf(text), linesOf(wanted));
  if (nearest === undefined) return undefined;
  const { lines, onlySpace } = nearest;
  const first = nearest.first + firstLine - 1;
  const shown = lines.slice(0, NEAR_LINES).map((line, index) => `${first + index}: ${line}`);
  const where = lines.length === 1 ? `is line ${first}` : `is lines ${first} to ${first + lines.length - 1}`;
  const difference = onlySpace ? `, which differs only in white space` : '';
  const more = lines.length > NEAR_LINES ? '\n...' : '';
  return `The most similar text ${where}${difference}:\n\n${shown.join('\n')}${more}\n\nGive the exact text as parameter '${name}'.`;
}
