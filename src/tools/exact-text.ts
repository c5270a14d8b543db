// Decides how a text is looked up exactly in another, whatever line ends that has, and how it reads that it is not there.

import { lineEnds, linesOf } from '../files/text.ts';
import { nearestPlace, occurrences, TOLD } from './match.ts';

/** Lines of the nearest place that are told. */
const NEAR_LINES = 40;

/** Returns the place of WANTED in TEXT, when it stands there once, and how often it does, at which lines. A CRLF in TEXT is
 *  one line end. */
export function exactPlace(
  text: string,
  wanted: string,
): { count: number; lines: number[]; from: number; to: number } {
  const { count, start, lines } = occurrences(text.replaceAll('\r\n', '\n'), wanted);
  const [from = 0, to = 0] = [start, start + wanted.length].map((at) => indexWithReturns(text, at));
  return { count, lines, from, to };
}

/** Returns PUT, whose lines end with LF, with the line ends that TEXT has from FROM to TO, or has at all. */
export function withLineEndsOf(text: string, from: number, to: number, put: string): string {
  const ends = lineEnds(text.slice(from, to)) ?? lineEnds(text);
  return ends === 'CRLF' ? put.replaceAll('\n', '\r\n') : put;
}

/** Returns the index in TEXT of what is at INDEX when each CRLF in it is one character. */
function indexWithReturns(text: string, index: number): number {
  let found = index;
  for (let at = text.indexOf('\r\n'); at !== -1 && at < found; at = text.indexOf('\r\n', at + 2)) found += 1;
  return found;
}

/** Returns which LINES those are, of the first occurrences. */
export function atLinesText(lines: readonly number[]): string {
  if (lines.length === 1) return `at line ${lines[0]}`;
  return `${lines.length < TOLD ? 'at' : 'first at'} lines ${lines.join(', ')}`;
}

/** Returns what tells of the place in TEXT that looks most like WANTED, and what to give as the argument NAME. TEXT begins in
 *  the line BEGAN of its file. Returns undefined when no place does. */
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
