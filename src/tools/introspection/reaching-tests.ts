// Decides which forms of test files are told to reach a definition.

import type { Place } from '../../image/wire/data.ts';
import type { ImpactData, ReachingTest } from '../../image/wire/introspection.ts';
import type { Places } from '../places.ts';
import { runsOnce } from './outside.ts';

interface Located {
  at: string;
  text: string;
}

/** Gives where the tests of FACTS stand, each form once, and how many they are. SBCL makes one piece of code of several
 *  forms; of those the ones are told whose text under FEATURES has what reaches the definition. */
export function reachingTests(
  { tests = [], testCount = 0 }: ImpactData,
  places: Places,
  features: ReadonlySet<string>,
): { tests: Located[]; testCount: number } {
  const sites = tests.flatMap((test) =>
    formsOf(test, places, features).map((place): Located => siteOf(place, places, features)),
  );
  const different = [...new Map(sites.map((site) => [site.at, site])).values()];
  return { tests: different, testCount: Math.max(0, testCount - tests.length) + different.length };
}

function siteOf(place: Place, places: Places, features: ReadonlySet<string>): Located {
  return places.site(place, features) ?? { at: 'no source', text: '' };
}

function formsOf(
  { names = [], ...test }: ReachingTest,
  places: Places,
  features: ReadonlySet<string>,
): Place[] {
  const forms = test.file === undefined ? undefined : places.forms(test.file, features);
  if (forms === undefined || names.length === 0) return [test];
  const having = names.flatMap((name) =>
    forms.names.formsWith(name.replace(/^.*?::(?:\(\S+ (.*)\)$)?/s, '$1')),
  );
  const numbers = new Set(having.filter(runsOnce).map(({ number }) => number));
  return [...numbers].sort((one, other) => one - other).map((form) => ({ ...test, form }));
}
