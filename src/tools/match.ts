// Finds all occurrences of a text in a file. If there are none, finds the most similar place.

import { similarity } from '../kernel/nearest.ts';
import { groupBy } from './grouping.ts';

/** Maximum number of line numbers of occurrences that are returned. */
export const LINE_NUMBERS_LIMIT = 20;

const NEWLINE = 10;

/** The occurrences of one text in another. */
export interface Occurrences {
  count: number;
  /** The indexes at which occurrences begin. Occurrences that overlap an earlier one are left out. */
  starts: number[];
  /** The numbers (1-based) of the lines in which occurrences begin, each once; at most LINE_NUMBERS_LIMIT. */
  lines: number[];
}

/** Returns the occurrences of WANTED, which must not be empty, in TEXT. Uses the algorithm of Knuth, Morris and Pratt.
 * Repeated calls of indexOf would take quadratic time when both texts repeat themselves, as lines of dashes do. */
export function occurrences(text: string, wanted: string): Occurrences {
  const found: Occurrences = { count: 0, starts: [], lines: [] };
  const borders = bordersOf(wanted);
  // The number of the line in which a match begins, if it ends at the current character.
  let line = 2 - wanted.split('\n').length;
  let [matched, free] = [0, 0];
  for (let end = 1; end <= text.length; end += 1) {
    const code = text.charCodeAt(end - 1);
    if (code === NEWLINE) line += 1;
    matched = advance(wanted, borders, matched, code);
    if (matched < wanted.length) continue;
    found.count += 1;
    if (end - matched >= free) {
      found.starts.push(end - matched);
      free = end;
    }
    if (found.lines.length < LINE_NUMBERS_LIMIT && found.lines.at(-1) !== line) found.lines.push(line);
  }
  return found;
}

/** Returns the failure table of the algorithm of Knuth, Morris and Pratt. Element N is the length of the longest proper
 * prefix of the first N characters of WANTED that is also a suffix of them. */
function bordersOf(wanted: string): Int32Array {
  const borders = new Int32Array(wanted.length + 1);
  for (let length = 2; length <= wanted.length; length += 1) {
    borders[length] = advance(wanted, borders, borders[length - 1] ?? 0, wanted.charCodeAt(length - 1));
  }
  return borders;
}

/** Makes one step of the algorithm of Knuth, Morris and Pratt. MATCHED is the number of characters of WANTED that match
 * the end of the text before the character CODE. Returns this number for the text that includes CODE. BORDERS is the
 * failure table of WANTED. */
function advance(wanted: string, borders: Int32Array, matched: number, code: number): number {
  let length = matched;
  while (length === wanted.length || wanted.charCodeAt(length) !== code) {
    if (length === 0) return 0;
    length = borders[length] ?? 0;
  }
  return length + 1;
}

/** Consecutive lines of a file. `first` is the number (1-based) of the first of them. */
export interface NearPlace {
  first: number;
  lines: string[];
  /** True when the lines differ from the wanted text only in white space. */
  onlySpace: boolean;
}

/** Maximum number of places that are compared with the wanted text. */
const CANDIDATE_LIMIT = 20;
/** Maximum number of lines that are compared at each place. */
const COMPARED_LINES = 200;
/** Of a wanted line that is frequent in the file, only this many occurrences are considered. A frequent line says
 * little about which place is wanted. */
const OCCURRENCE_LIMIT = 100;
/** A place counts as similar when its score, from 0 to 1, is at least this. */
const LEAST_SCORE = 0.4;

/** Returns the lines of FILE that are most similar to the lines WANTED; undefined when none are similar enough. */
export function nearestPlace(file: readonly string[], wanted: readonly string[]): NearPlace | undefined {
  const plain = file.map(squeeze);
  const all = trimBlank(wanted.map(squeeze));
  const sought = all.slice(0, COMPARED_LINES);
  if (sought.length === 0) return undefined;
  let best = { start: -1, score: LEAST_SCORE };
  for (const start of candidates(plain, sought)) {
    const score = windowScore(plain, sought, start);
    if (score > best.score) best = { start, score };
  }
  if (best.start === -1) return undefined;
  const lines = file.slice(best.start, best.start + all.length);
  return { first: best.start + 1, lines, onlySpace: best.score === 1 && all.length <= COMPARED_LINES };
}

function squeeze(line: string): string {
  return line.trim().replace(/\s+/g, ' ');
}

function trimBlank(lines: string[]): string[] {
  const first = lines.findIndex((line) => line !== '');
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex((line) => line !== '') + 1);
}

/** Returns the indexes of lines at which a similar place most likely begins. Each line of SOUGHT that is in FILE votes
 * for an index. The vote of a rare or long line has more weight. Lines similar to the longest line of SOUGHT vote
 * too. */
function candidates(file: readonly string[], sought: readonly string[]): number[] {
  const where = groupBy([...file.keys()], (index) => file[index]);
  const votes = new Map<number, number>();
  const vote = (start: number, weight: number) => {
    const within = Math.max(0, Math.min(start, file.length - 1));
    votes.set(within, (votes.get(within) ?? 0) + weight);
  };
  for (const [index, line] of sought.entries()) {
    const places = line === '' ? [] : (where.get(line) ?? []);
    for (const place of places.slice(0, OCCURRENCE_LIMIT)) vote(place - index, line.length / places.length);
  }
  const longest = sought.reduce((one, other) => (other.length > one.length ? other : one));
  const similar = [...file.entries()]
    .map(([index, line]) => ({ index, score: similarity(line, longest) }))
    .sort((one, other) => other.score - one.score);
  for (const { index, score } of similar.slice(0, CANDIDATE_LIMIT / 2)) {
    vote(index - sought.indexOf(longest), score * longest.length);
  }
  const ranked = [...votes].sort(([, one], [, other]) => other - one);
  return ranked.slice(0, CANDIDATE_LIMIT).map(([start]) => start);
}

/** Returns a number from 0 to 1: the similarity of SOUGHT and the lines of FILE from the index START on. Long lines
 * have more weight. */
function windowScore(file: readonly string[], sought: readonly string[], start: number): number {
  let score = 0;
  let weights = 0;
  for (const [index, line] of sought.entries()) {
    const weight = line.length + 1;
    score += weight * similarity(file[start + index] ?? '', line);
    weights += weight;
  }
  return score / weights;
}
