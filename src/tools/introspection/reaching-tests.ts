// Locates the tests that reach a definition.

import type { Place } from '../../image/wire/data.ts';
import type { ImpactData } from '../../image/wire/introspection.ts';
import type { Places } from '../places.ts';

interface Located {
  at: string;
  text: string;
}

/** Returns the sites of the tests in FACTS, and how many tests there are in all. */
export function reachingTests(
  { tests = [], testCount = 0 }: ImpactData,
  places: Places,
): { tests: Located[]; testCount: number } {
  const site = (place: Place): Located => places.site(place) ?? { at: 'no source', text: '' };
  return { tests: tests.map(site), testCount };
}
