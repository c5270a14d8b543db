// Finds a text in another whatever the line ends, and renders the nearest place when there is none.

import { lineEnds, linesOf } from '../files/text.ts';
import { nearestPlace, occurrences, TOLD } from './match.ts';

/** At most this many lines of the nearest place are shown. */
const NEAR_LINES = 40;

/** Returns the places of WANTED in TEXT that overlap none before them, and how often it stands there, at which lines. A CRLF
 *  in TEXT is one line end. */
export function exactPlaces(
  text: string,
  wanted: string,
): { count: number; lines: number[]; places: { from: number; to: number }[] } {
  const { count, starts, lines } = occurrences(text.replaceAll('\r\n', '\n'), wanted);
  const real = indexWithReturns(text);
  return { count, lines, places: starts.map((at) => ({ from: real(at), to: real(at + wanted.length) })) };
}

/** Returns PUT, whose lines end with LF, with the line ends that TEXT has from FROM to TO, or else has at all, which are
 *  USUAL. */
export function withLineEndsOf(
  text: string,
  from: number,
  to: number,
  put: string,
  usual = lineEnds(text),
): string {
  const ends = lineEnds(text.slice(from, to)) ?? usual;
  return ends === 'CRLF' ? put.replaceAll('\n', '\r\n') : put;
}

/** Returns what gives the index in TEXT of what is at an index when each CRLF in it is one character. That must not be below
 *  the one before. */
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
  return `${lines.length < TOLD ? 'at' : 'first at'} lines ${lines.join(', ')}`;
}

/** Returns a message with the place in TEXT most similar to WANTED, which asks for the exact text as the argument NAME.
 *  BEGAN is the line of its file where TEXT begins. Returns undefined when no place is similar. */
export function nearestText(text: string, wanted: string, name: string, began = 1): string | undefined {
  const near = nearestPlace(linesOf(text), linesOf(wanted));
  if (near === undefined) return undefined;
  const { lines, onlySpace } = near;
  const first = near.first + began - 1;
  const shown = lines.slice(0, NEAR_LINES).map((line, index) => `${first + index}: ${line}`);
  const where = lines.length === 1 ? `is line ${first}` : `is lines ${first} to ${first + lines.length - 1}`;
  const how = onlySpace ? `, which differs in white space only` : '';
  const more = lines.length > NEAR_LINES ? '\n...' : '';
  return `The nearest place ${where}${how}:\n\n${shown.join('\n')}${more}\n\nGive the exact text as ${name}.`;
}
