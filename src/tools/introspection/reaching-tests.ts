// Decides which forms of test files are told to reach a definition.

import type { Place } from '../../image/wire/data.ts';
import type { ImpactData } from '../../image/wire/introspection.ts';
import type { Places } from '../places.ts';

interface Located {
  at: string;
  text: string;
}

/** Gives where the tests of FACTS stand, each form once, and how many they are. FEATURES are the image's. */
export function reachingTests(
  { tests = [], testCount = 0 }: ImpactData,
  places: Places,
): { tests: Located[]; testCount: number } {
  const site = (place: Place): Located => places.site(place) ?? { at: 'no source', text: '' };
  return { tests: tests.map(site), testCount };
}
