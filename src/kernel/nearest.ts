// Decides which names look like one that is not there.

import { distance } from 'fastest-levenshtein';

/** Returns those of NAMES that look most like NAME, at most three, the nearest first. */
export function nearest(name: string, names: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  return names
    .map((candidate) => ({
      candidate,
      far: candidate.includes(wanted) && wanted !== '' ? 0 : distance(candidate, wanted) / candidate.length,
    }))
    .filter(({ far }) => far <= 0.7)
    .sort((one, other) => one.far - other.far)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}
