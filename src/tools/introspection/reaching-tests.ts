// Decides which forms of test files are told to reach a definition.

import type { Place } from '../../image/wire/data.ts';
import type { ImpactData, TestCode } from '../../image/wire/introspection.ts';
import type { Places } from '../places.ts';
import { runsOnce, symbolIn } from './outside.ts';

interface Located {
  at: string;
  text: string;
}

/** Gives where the tests of FACTS stand, each form once, and how many they are. SBCL makes one piece of code of several
 *  forms; of those the ones are told whose text under FEATURES has what reaches the definition. */
export function reachingTests(
  { tests = [], testCount = 0, testCode = [] }: ImpactData,
  places: Places,
  features: ReadonlySet<string>,
): { tests: Located[]; testCount: number } {
  const site = (place: Place): Located => places.site(place, features) ?? { at: 'no source', text: '' };
  const sites = tests.map(site);
  const told = new Set(tests.map(({ file, form }) => `${file} ${form}`));
  const others = testCode
    .flatMap((each) => formsOf(each, places, features))
    .filter(({ file, form }) => !told.has(`${file} ${form}`));
  return { tests: [...sites, ...others.map(site)], testCount: testCount + others.length };
}

function formsOf({ names = [], ...test }: TestCode, places: Places, features: ReadonlySet<string>): Place[] {
  const forms = test.file === undefined ? undefined : places.forms(test.file, features);
  const having = names.flatMap((name) => forms?.names.formsWith(symbolIn(name)) ?? []);
  const numbers = new Set(having.filter(runsOnce).map(({ number }) => number));
  return [...numbers].sort((one, other) => one - other).map((form) => ({ ...test, form }));
}
