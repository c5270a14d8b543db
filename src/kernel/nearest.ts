// Decides which names look like one that is not there, and how alike two texts look.

import { distance } from 'fastest-levenshtein';

/** Returns those of NAMES that look most like NAME, at most three, the nearest first. */
export function nearest(name: string, names: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  return names
    .map((candidate) => ({
      candidate,
      far: candidate.includes(wanted) && wanted !== '' ? 0 : distance(candidate, wanted) / candidate.length,
    }))
    .filter(({ far }) => far <= 0.5)
    .sort((one, other) => one.far - other.far)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Characters of two texts that are compared. */
const COMPARED = 300;

/** Returns how much ONE and OTHER look alike: 1 when they are the same, 0 when nothing is. */
export function similarity(one: string, other: string): number {
  if (one === other) return 1;
  const [first, second] = [one.slice(0, COMPARED), other.slice(0, COMPARED)];
  const length = Math.max(first.length, second.length);
  // What differs only further on is still not the same.
  return Math.min(0.99, 1 - distance(first, second) / length);
}
