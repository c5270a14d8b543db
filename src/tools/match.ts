// Decides where a text stands in a file, and which place looks most like it when it stands nowhere.

import { similarity } from '../kernel/nearest.ts';

/** Lines that are told, of the first occurrences. */
export const TOLD = 20;

const NEWLINE = 10;

/** Where a text stands in another. */
export interface Occurrences {
  count: number;
  /** Where those begin that overlap none before them. */
  starts: number[];
  /** The numbers of the lines where the first of them begin, each once. */
  lines: number[];
}

/** Returns where WANTED, which is not empty, stands in TEXT. The time grows with their lengths only (Knuth, Morris,
 *  Pratt): indexOf takes their product where both repeat themselves, as rulers of dashes do. */
export function occurrences(text: string, wanted: string): Occurrences {
  const found: Occurrences = { count: 0, starts: [], lines: [] };
  const borders = bordersOf(wanted);
  // The number of the line where a match begins that ends here.
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
    if (found.lines.length < TOLD && found.lines.at(-1) !== line) found.lines.push(line);
  }
  return found;
}

/** Returns, for each length of a beginning of WANTED, that of its longest shorter beginning which it ends with. */
function bordersOf(wanted: string): Int32Array {
  const borders = new Int32Array(wanted.length + 1);
  for (let length = 2; length <= wanted.length; length += 1) {
    borders[length] = advance(wanted, borders, borders[length - 1] ?? 0, wanted.charCodeAt(length - 1));
  }
  return borders;
}

/** Returns how much of the beginning of WANTED a text ends with that ended with MATCHED of it before CODE. */
function advance(wanted: string, borders: Int32Array, matched: number, code: number): number {
  let length = matched;
  while (length === wanted.length || wanted.charCodeAt(length) !== code) {
    if (length === 0) return 0;
    length = borders[length] ?? 0;
  }
  return length + 1;
}

/** Lines of a file, from number FIRST on. */
export interface NearPlace {
  first: number;
  lines: string[];
  /** Whether they differ from what was wanted in white space only. */
  onlySpace: boolean;
}

/** How many places are compared, and how many lines of each. */
const CANDIDATES = 20;
const LINES = 200;
/** Places of one line that count; a line with more says little about where it was meant. */
const COMMON = 100;
/** A place that looks less like it than this is none. */
const LEAST = 0.4;

/** Returns the place among the lines of a FILE that looks most like the lines WANTED; undefined when none does. */
export function nearestPlace(file: readonly string[], wanted: readonly string[]): NearPlace | undefined {
  const plain = file.map(squeeze);
  const all = trimBlank(wanted.map(squeeze));
  const sought = all.slice(0, LINES);
  if (sought.length === 0) return undefined;
  let best = { start: -1, score: LEAST };
  for (const start of candidates(plain, sought)) {
    const score = windowScore(plain, sought, start);
    if (score > best.score) best = { start, score };
  }
  if (best.start === -1) return undefined;
  const lines = file.slice(best.start, best.start + all.length);
  return { first: best.start + 1, lines, onlySpace: best.score === 1 && all.length <= LINES };
}

function squeeze(line: string): string {
  return line.trim().replace(/\s+/g, ' ');
}

function trimBlank(lines: string[]): string[] {
  const first = lines.findIndex((line) => line !== '');
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex((line) => line !== '') + 1);
}

/** Returns where each line stands in FILE. */
function placesOf(file: readonly string[]): Map<string, number[]> {
  const where = new Map<string, number[]>();
  for (const [index, line] of file.entries()) {
    const places = where.get(line);
    if (places === undefined) where.set(line, [index]);
    else places.push(index);
  }
  return where;
}

/** Returns where a place may begin. Each line of SOUGHT that is in the file votes, and a rare one more. The longest
 *  votes also for the line most like it. */
function candidates(file: readonly string[], sought: readonly string[]): number[] {
  const where = placesOf(file);
  const votes = new Map<number, number>();
  const vote = (start: number, weight: number) => {
    const within = Math.max(0, Math.min(start, file.length - 1));
    votes.set(within, (votes.get(within) ?? 0) + weight);
  };
  for (const [index, line] of sought.entries()) {
    const places = line === '' ? [] : (where.get(line) ?? []);
    for (const place of places.slice(0, COMMON)) vote(place - index, line.length / places.length);
  }
  const longest = sought.reduce((one, other) => (other.length > one.length ? other : one));
  const similar = [...file.entries()]
    .map(([index, line]) => ({ index, score: similarity(line, longest) }))
    .sort((one, other) => other.score - one.score);
  for (const { index, score } of similar.slice(0, CANDIDATES / 2)) {
    vote(index - sought.indexOf(longest), score * longest.length);
  }
  const ranked = [...votes].sort(([, one], [, other]) => other - one);
  return ranked.slice(0, CANDIDATES).map(([start]) => start);
}

/** Returns how much the lines of FILE from START on look like SOUGHT: 0 to 1, by the characters of each line. */
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
