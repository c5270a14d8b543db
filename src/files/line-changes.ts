// Computes the differing lines of two texts.

import { diffArrays } from 'diff';

/** A hunk of a unified diff: changed lines, with unchanged lines around them. The first character of each line is its
 * mark. `oldStart` and `newStart` are the numbers of the hunk's first line, counted from 1. If the hunk has no lines in
 * one of the files, its number is that of the line after the hunk. */
export interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

/** Consecutive lines with the same mark: " " for unchanged, "+" for added, "-" for removed. */
interface Run {
  mark: ' ' | '+' | '-';
  lines: readonly string[];
}

/** In a diff, this line follows a last line that has no line break. */
const NOT_ENDED = '\\ No newline at end of file';

const CONTEXT_LINES = 3;

/** Maximum number of changed lines for which a minimal diff is searched. The search takes time in proportion to the
 * square of this number. */
const CHANGE_LIMIT = 500;

/** Maximum depth to which a text is divided at anchors. Anchors are unchanged lines that occur only once in each of the
 * two texts. The lines between two anchors can be divided again, at anchors of their own. */
const DIVISION_LIMIT = 4;

/** Returns the hunks of the unified diff from BEFORE to AFTER. The diff is minimal unless very many lines have
 * changed. */
export function hunksBetween(before: string, after: string): Hunk[] {
  const steps = { remaining: CHANGE_LIMIT ** 2 };
  return hunksOf(runsBetween(piecesOf(before), piecesOf(after), steps, 0));
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const lineFeed = text.indexOf('\n', from);
    const end = lineFeed < 0 ? text.length : lineFeed + 1;
    pieces.push(text.slice(from, end));
    from = end;
  }
  return pieces;
}

/** Returns the diff from OLD to UPDATED as a list of runs. STEPS has the number of steps that all searches for a
 * minimal diff together may still take. DIVISIONS says how often the text has been divided at anchors (see
 * DIVISION_LIMIT). */
function runsBetween(
  old: readonly string[],
  updated: readonly string[],
  steps: { remaining: number },
  divisions: number,
): Run[] {
  const shorter = Math.min(old.length, updated.length);
  let head = 0;
  while (head < shorter && old[head] === updated[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === updated.at(-1 - tail)) tail++;
  const middle = changedRuns(
    old.slice(head, old.length - tail),
    updated.slice(head, updated.length - tail),
    steps,
    divisions,
  );
  return [
    { mark: ' ', lines: old.slice(0, head) },
    ...middle,
    { mark: ' ', lines: old.slice(old.length - tail) },
  ];
}

/** Like runsBetween, but OLD and UPDATED have no common first or last line. */
function changedRuns(
  old: readonly string[],
  updated: readonly string[],
  steps: { remaining: number },
  divisions: number,
): Run[] {
  const replaced: Run[] = [
    { mark: '-', lines: old },
    { mark: '+', lines: updated },
  ];
  const isOneEmpty = old.length === 0 || updated.length === 0;
  const isOneLineEach = old.length === 1 && updated.length === 1;
  if (isOneEmpty || isOneLineEach) return replaced;
  const minimal = minimalRuns(old, updated, steps);
  if (minimal !== undefined) return minimal;
  const anchors = divisions < DIVISION_LIMIT ? anchorsOf(old, updated) : [];
  if (anchors.length === 0) return replaced;
  let [from, to] = [0, 0];
  const runs = anchors.flatMap(([oldIndex, updatedIndex]) => {
    const between = runsBetween(
      old.slice(from, oldIndex),
      updated.slice(to, updatedIndex),
      steps,
      divisions + 1,
    );
    [from, to] = [oldIndex + 1, updatedIndex + 1];
    return [...between, { mark: ' ' as const, lines: old.slice(oldIndex, from) }];
  });
  return [...runs, ...runsBetween(old.slice(from), updated.slice(to), steps, divisions + 1)];
}

/** Searches for a minimal diff from OLD to UPDATED. Returns undefined when the steps that remain are not enough. A
 * search for up to EDIT_LIMIT changed lines counts as the square of this number of steps. After a success, only the
 * changed lines that it found count. */
function minimalRuns(
  old: readonly string[],
  updated: readonly string[],
  steps: { remaining: number },
): Run[] | undefined {
  const editLimit = Math.min(
    old.length + updated.length,
    Math.floor(Math.sqrt(Math.max(0, steps.remaining))),
  );
  steps.remaining -= editLimit ** 2;
  const found = diffArrays([...old], [...updated], { maxEditLength: editLimit });
  if (found === undefined) return undefined;
  const runs = found.map(
    ({ added, removed, value }): Run => ({
      mark: added ? '+' : removed ? '-' : ' ',
      lines: value,
    }),
  );
  const changed = runs.reduce((sum, { mark, lines }) => sum + (mark === ' ' ? 0 : lines.length), 0);
  steps.remaining += editLimit ** 2 - changed ** 2;
  return runs;
}

/** Returns the longest common subsequence of the lines that are unique both in OLD and in UPDATED. Each element is a
 * pair of an index in OLD and an index in UPDATED. */
function anchorsOf(old: readonly string[], updated: readonly string[]): [number, number][] {
  const updatedIndices = uniqueIndices(updated);
  const pairs: [number, number][] = [];
  for (const [line, index] of uniqueIndices(old)) {
    const updatedIndex = index === REPEATED ? undefined : updatedIndices.get(line);
    if (updatedIndex !== undefined && updatedIndex !== REPEATED) pairs.push([index, updatedIndex]);
  }
  return longestAscending(pairs);
}

/** Stands for the index of a line that occurs several times. */
const REPEATED = -1;

/** Returns a map from each of LINES to its index, or to REPEATED if the line occurs several times. The lines are in the
 * order of their first occurrence. */
function uniqueIndices(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [index, line] of lines.entries()) places.set(line, places.has(line) ? REPEATED : index);
  return places;
}

/** Returns the longest subsequence of PAIRS in which the second numbers ascend. The first numbers of PAIRS must
 * ascend. */
function longestAscending(pairs: readonly [number, number][]): [number, number][] {
  // ends[n] is the index in PAIRS of the last pair of an ascending subsequence of n + 1 pairs. Of those found so far,
  // it is the one whose last second number is lowest.
  const ends: number[] = [];
  const predecessors: (number | undefined)[] = [];
  const secondOf = (index: number | undefined) => pairs[index ?? -1]?.[1] ?? -1;
  for (const [index, [, second]] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (secondOf(ends[middle]) < second) low = middle + 1;
      else high = middle;
    }
    predecessors[index] = ends[low - 1];
    ends[low] = index;
  }
  const longest: [number, number][] = [];
  for (let at = ends.at(-1); at !== undefined; at = predecessors[at]) {
    const pair = pairs[at];
    if (pair !== undefined) longest.push(pair);
  }
  return longest.reverse();
}

/** Returns the hunks with the changes in RUNS. Two changes are in the same hunk if their contexts touch or overlap. */
function hunksOf(runs: readonly Run[]): Hunk[] {
  const hunks: Hunk[] = [];
  let [oldLine, newLine, context] = [1, 1, [] as readonly string[]];
  // The hunk to which the next change is added; undefined when the next change begins a new one, after `context`.
  let open: Hunk | undefined;
  const merged = mergedRuns(runs);
  for (const [index, { mark, lines }] of merged.entries()) {
    if (mark === ' ') {
      const joinsNext = index < merged.length - 1 && lines.length <= 2 * CONTEXT_LINES;
      if (open !== undefined) addLines(open, ' ', joinsNext ? lines : lines.slice(0, CONTEXT_LINES));
      if (!joinsNext) open = undefined;
      context = lines.slice(-CONTEXT_LINES);
    } else {
      if (open === undefined) {
        const [oldStart, newStart] = [oldLine - context.length, newLine - context.length];
        open = { oldStart, oldLines: 0, newStart, newLines: 0, lines: [] };
        addLines(open, ' ', context);
        hunks.push(open);
      }
      addLines(open, mark, lines);
    }
    if (mark !== '+') oldLine += lines.length;
    if (mark !== '-') newLine += lines.length;
  }
  return hunks;
}

/** Returns RUNS without empty runs. Adjacent runs with the same mark are joined. */
function mergedRuns(runs: readonly Run[]): Run[] {
  const merged: { mark: Run['mark']; lines: string[] }[] = [];
  for (const { mark, lines } of runs) {
    const last = merged.at(-1);
    if (last?.mark === mark) for (const line of lines) last.lines.push(line);
    else if (lines.length > 0) merged.push({ mark, lines: [...lines] });
  }
  return merged;
}

function addLines(hunk: Hunk, mark: Run['mark'], lines: readonly string[]): void {
  if (mark !== '+') hunk.oldLines += lines.length;
  if (mark !== '-') hunk.newLines += lines.length;
  for (const line of lines) {
    const ended = line.endsWith('\n');
    hunk.lines.push(mark + (ended ? line.slice(0, -1) : line));
    if (!ended) hunk.lines.push(NOT_ENDED);
  }
}
