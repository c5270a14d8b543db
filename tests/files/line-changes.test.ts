// The diff of two texts: what comes and goes, with what stays around it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Hunk, hunksBetween } from '../../src/files/line-changes.ts';

/** Returns what OLD becomes by HUNKS, after a look at whether the lines that stay or go are those of OLD. */
function applied(old: string, hunks: readonly Hunk[]): string {
  const lines = old.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const made: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    made.push(...lines.slice(at, hunk.oldStart - 1));
    at = hunk.oldStart - 1;
    for (const [index, line] of hunk.lines.entries()) {
      if (line.startsWith('\\')) continue;
      const whole = line.slice(1) + (hunk.lines[index + 1]?.startsWith('\\') ? '' : '\n');
      if (!line.startsWith('+') && lines[at++] !== whole) throw new Error(`${whole} does not stand there.`);
      if (!line.startsWith('-')) made.push(whole);
    }
  }
  return [...made, ...lines.slice(at)].join('');
}

/** Returns the lines of HUNKS that come or go. */
function changesOf(hunks: readonly Hunk[]): string[] {
  return hunks.flatMap(({ lines }) => lines.filter((line) => /^[+-]/.test(line)));
}

/** Returns the fewest lines that come or go between ONE and OTHER. */
function fewest(one: readonly string[], other: readonly string[]): number {
  let row = other.map((_, index) => index + 1);
  row.unshift(0);
  for (const [index, line] of one.entries()) {
    const next = [index + 1];
    for (const [at, each] of other.entries())
      next.push(line === each ? (row[at] ?? 0) : 1 + Math.min(row[at + 1] ?? 0, next[at] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}

const NUMBERS = Array.from({ length: 20_000 }, (_, index) => index);
const OLD = NUMBERS.map((index) => `line ${index}\n`);

describe('the hunks between two texts', () => {
  const text = fc
    .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd\r\n', 'e'), { maxLength: 30 })
    .map((lines) => lines.join(''));

  test('make the one of the other, with the fewest lines that come and go', () => {
    const property = fc.property(text, text, (before, after) => {
      const hunks = hunksBetween(before, after);
      expect(applied(before, hunks)).toBe(after);
      const [old, young] = [before, after].map((each) => each.match(/[^\n]*\n|[^\n]+$/g) ?? []);
      expect(changesOf(hunks).length).toBe(fewest(old ?? [], young ?? []));
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('show three lines before a change and behind it', () => {
    expect(hunksBetween('1\n2\n3\n4\n5\n6\n7\n8\n9', '1\n2\n3\n4\nx\n6\n7\n8\n9')).toEqual([
      {
        oldStart: 2,
        oldLines: 7,
        newStart: 2,
        newLines: 7,
        lines: [' 2', ' 3', ' 4', '-5', '+x', ' 6', ' 7', ' 8'],
      },
    ]);
  });

  test('show of a change of every third line no more than these', () => {
    const young = OLD.map((line, index) => (index % 3 === 0 ? `new ${line}` : line));
    const hunks = hunksBetween(OLD.join(''), young.join(''));
    expect(applied(OLD.join(''), hunks)).toBe(young.join(''));
    expect(changesOf(hunks).length).toBe(2 * young.filter((line) => line.startsWith('new')).length);
  });

  test('show a block of lines that moved far as one that goes and comes', () => {
    const young = [...OLD.slice(0, 100), ...OLD.slice(5100), ...OLD.slice(100, 5100)];
    const hunks = hunksBetween(OLD.join(''), young.join(''));
    expect(applied(OLD.join(''), hunks)).toBe(young.join(''));
    expect(changesOf(hunks).length).toBe(10_000);
  });
});
