// Finds a text in another whatever the line ends, and renders the nearest place when there is none.

import { lineEnds, linesOf } from '../files/text.ts';
import { nearestPlace, occurrences, TOLD } from './match.ts';

/** At most this many lines of the nearest place are shown. */
const NEAR_LINES = 40;

/** Returns how often WANTED occurs in TEXT and at which LINES, with the indices FROM and TO of the first occurrence. A
 *  CRLF in TEXT counts as one line end. */
export function exactPlace(
  text: string,
  wanted: string,
): { count: number; lines: number[]; from: number; to: number } {
  const { count, start, lines } = occurrences(text.replaceAll('\r\n', '\n'), wanted);
  const [from = 0, to = 0] = [start, start + wanted.length].map((at) => indexWithReturns(text, at));
  return { count, lines, from, to };
}

/** Returns PUT, which has LF line ends, with the line ends of TEXT from FROM to TO, else those of all of TEXT. */
export function withLineEndsOf(text: string, from: number, to: number, put: string): string {
  const ends = lineEnds(text.slice(from, to)) ?? lineEnds(text);
  return ends === 'CRLF' ? put.replaceAll('\n', '\r\n') : put;
}

/** Converts INDEX, which counts each CRLF of TEXT as one character, to an index in TEXT. */
function indexWithReturns(text: string, index: number): number {
  let found = index;
  for (let at = text.indexOf('\r\n'); at !== -1 && at < found; at = text.indexOf('\r\n', at + 2)) found += 1;
  return found;
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
