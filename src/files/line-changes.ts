// Decides which lines of two texts count as the same, so that the rest are those that come or go.

import { diffArrays } from 'diff';

/** Lines of a change that stand together, with those around them, as in a unified diff: each begins with its mark. */
export interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

/** Consecutive lines that are all unchanged (mark " "), all added ("+") or all removed ("-"). */
interface Run {
  mark: ' ' | '+' | '-';
  lines: readonly string[];
}

/** What stands below a last line that no line break ends. */
const NOT_ENDED = '\\ No newline at end of file';

/** How many lines around a change are shown. */
const CONTEXT = 3;

/** Lines that come or go up to which the fewest are looked for: the time grows with the square of them. */
const MOST_CHANGES = 500;

/** How often what lies between two anchors is divided by further ones. */
const MOST_DIVISIONS = 4;

/** Returns the hunks of the unified diff from BEFORE to AFTER. They have the fewest lines that come and go when these are
 *  not many. */
export function hunksBetween(before: string, after: string): Hunk[] {
  const steps = { left: MOST_CHANGES ** 2 };
  return hunksOf(runsBetween(piecesOf(before), piecesOf(after), steps, 0));
}

/** Returns the lines of TEXT with their ends. */
function piecesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Returns how OLD becomes YOUNG, with as many STEPS as are left for finding the fewest changes. It lies within anchors
 *  that were found DIVISIONS times. */
function runsBetween(
  old: readonly string[],
  young: readonly string[],
  steps: { left: number },
  divisions: number,
): Run[] {
  const shorter = Math.min(old.length, young.length);
  let head = 0;
  while (head < shorter && old[head] === young[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === young.at(-1 - tail)) tail++;
  const middle = changedRuns(
    old.slice(head, old.length - tail),
    young.slice(head, young.length - tail),
    steps,
    divisions,
  );
  return [
    { mark: ' ', lines: old.slice(0, head) },
    ...middle,
    { mark: ' ', lines: old.slice(old.length - tail) },
  ];
}

function changedRuns(
  old: readonly string[],
  young: readonly string[],
  steps: { left: number },
  divisions: number,
): Run[] {
  const replaced: Run[] = [
    { mark: '-', lines: old },
    { mark: '+', lines: young },
  ];
  if (old.length + young.length <= 2 || old.length === 0 || young.length === 0) return replaced;
  const most = Math.min(old.length + young.length, Math.floor(Math.sqrt(Math.max(0, steps.left))));
  steps.left -= most ** 2;
  const found = diffArrays([...old], [...young], { maxEditLength: most });
  if (found !== undefined) {
    const runs = found.map(
      ({ added, removed, value }): Run => ({
        mark: added ? '+' : removed ? '-' : ' ',
        lines: value,
      }),
    );
    const changed = runs.reduce((sum, { mark, lines }) => sum + (mark === ' ' ? 0 : lines.length), 0);
    steps.left += most ** 2 - changed ** 2;
    return runs;
  }
  const anchors = divisions < MOST_DIVISIONS ? anchorsOf(old, young) : [];
  if (anchors.length === 0) return replaced;
  let [from, to] = [0, 0];
  const runs = anchors.flatMap(([one, other]) => {
    const between = runsBetween(old.slice(from, one), young.slice(to, other), steps, divisions + 1);
    [from, to] = [one + 1, other + 1];
    return [...between, { mark: ' ' as const, lines: old.slice(one, from) }];
  });
  return [...runs, ...runsBetween(old.slice(from), young.slice(to), steps, divisions + 1)];
}

/** Returns indices of lines that stand once in OLD and once in YOUNG: the most that are in the same order in both. */
function anchorsOf(old: readonly string[], young: readonly string[]): [number, number][] {
  const inYoung = placesIn(young);
  const pairs: [number, number][] = [];
  for (const [line, index] of placesIn(old)) {
    const other = index === SEVERAL ? undefined : inYoung.get(line);
    if (other !== undefined && other !== SEVERAL) pairs.push([index, other]);
  }
  return longestAscending(pairs);
}

/** What stands for the index of a line that there is more than once. */
const SEVERAL = -1;

/** Returns the index of each of LINES, the first of which comes first. */
function placesIn(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [index, line] of lines.entries()) places.set(line, places.has(line) ? SEVERAL : index);
  return places;
}

/** Returns the most of PAIRS, which ascend by their first number, that ascend by the second too. */
function longestAscending(pairs: readonly [number, number][]): [number, number][] {
  // Of those that are one pair long, two, and so on: the one that ends lowest, by the index of its last pair.
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  const secondOf = (index: number | undefined) => pairs[index ?? -1]?.[1] ?? -1;
  for (const [index, [, second]] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (secondOf(ends[middle]) < second) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1];
    ends[low] = index;
  }
  const longest: [number, number][] = [];
  for (let at = ends.at(-1); at !== undefined; at = before[at]) longest.push(...pairs.slice(at, at + 1));
  return longest.reverse();
}

/** Returns the hunks that show RUNS. */
function hunksOf(runs: readonly Run[]): Hunk[] {
  const hunks: Hunk[] = [];
  let [oldLine, newLine, same] = [1, 1, [] as readonly string[]];
  let open: Hunk | undefined;
  const whole = joined(runs);
  for (const [index, { mark, lines }] of whole.entries()) {
    if (mark === ' ') {
      const between = index < whole.length - 1 && lines.length <= 2 * CONTEXT;
      if (open !== undefined) addLines(open, ' ', between ? lines : lines.slice(0, CONTEXT));
      if (!between) open = undefined;
      same = lines.slice(-CONTEXT);
    } else {
      if (open === undefined) {
        const [oldStart, newStart] = [oldLine - same.length, newLine - same.length];
        open = { oldStart, oldLines: 0, newStart, newLines: 0, lines: [] };
        addLines(open, ' ', same);
        hunks.push(open);
      }
      addLines(open, mark, lines);
    }
    if (mark !== '+') oldLine += lines.length;
    if (mark !== '-') newLine += lines.length;
  }
  return hunks;
}

/** Returns RUNS without empty ones, and with those in one of the same mark that follow each other. */
function joined(runs: readonly Run[]): Run[] {
  const all: { mark: Run['mark']; lines: string[] }[] = [];
  for (const { mark, lines } of runs) {
    const last = all.at(-1);
    if (last?.mark === mark) for (const line of lines) last.lines.push(line);
    else if (lines.length > 0) all.push({ mark, lines: [...lines] });
  }
  return all;
}

/** Appends LINES to HUNK, each with MARK in front, and counts them in the lengths of HUNK. */
function addLines(hunk: Hunk, mark: Run['mark'], lines: readonly string[]): void {
  if (mark !== '+') hunk.oldLines += lines.length;
  if (mark !== '-') hunk.newLines += lines.length;
  for (const line of lines) {
    const ended = line.endsWith('\n');
    hunk.lines.push(mark + (ended ? line.slice(0, -1) : line));
    if (!ended) hunk.lines.push(NOT_ENDED);
  }
}
