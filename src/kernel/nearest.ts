// Finds names that are similar to an unknown name, and measures how similar two texts are.

import { distance } from 'fastest-levenshtein';

/** Returns at most three of NAMES that are similar to NAME. The most similar one comes first. */
export function nearest(name: string, names: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  return names
    .map((candidate) => ({
      candidate,
      relativeDistance:
        candidate.includes(wanted) && wanted !== '' ? 0 : distance(candidate, wanted) / candidate.length,
    }))
    .filter(({ relativeDistance }) => relativeDistance <= 0.5)
    .sort((one, other) => one.relativeDistance - other.relativeDistance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

const COMPARED_CHARACTERS = 300;

/** Returns the similarity of ONE and OTHER, from 0 to 1; 1 only when they are equal. */
export function similarity(one: string, other: string): number {
  if (one === other) return 1;
  const [first, second] = [one.slice(0, COMPARED_CHARACTERS), other.slice(0, COMPARED_CHARACTERS)];
  const length = Math.max(first.length, second.length);
  // The comparison ends at COMPARED_CHARACTERS, and the texts can differ after them. So the result stays below 1.
  return Math.min(0.99, 1 - distance(first, second) / length);
}
