// Remembers the results of tests, to find which failed last and what has changed since.

import type { TestResult } from '../../image/wire/operations.ts';

/** Differences between this run and the last run of each test, as names of tests. */
export interface ChangedResults {
  /** Tests that passed before and fail now. */
  broken: string[];
  /** Tests that failed before and pass now. */
  fixed: string[];
  /** Tests that ran for the first time, in systems that were tested before. */
  fresh: string[];
  /** Tests that ran when the same systems were tested last, and did not run now. */
  missing: string[];
}

/** The results of a test in its last run. */
interface Known {
  passed: boolean;
  /** The systems, joined by blanks, of the last run that tested whole systems and ran this test; '' when
   *  there was none. */
  systems: string;
  /** The systems to whose tests this test belongs. Empty when the test only ran by name. */
  of: readonly string[];
}

/** Remembers the last result of each test. */
export class TestMemory {
  readonly #tests = new Map<string, Known>();
  /** The systems that were tested as a whole. */
  readonly #tested = new Set<string>();

  /** When the results that are remembered were: part of a sentence. */
  readonly when: string;

  constructor(when = 'before') {
    this.when = when;
  }

  /** Returns a copy for runs in another image, whose results do not count here. */
  copyFor(when: string): TestMemory {
    const copy = new TestMemory(when);
    for (const [test, known] of this.#tests) copy.#tests.set(test, known);
    for (const system of this.#tested) copy.#tested.add(system);
    return copy;
  }

  /** Returns the tests that failed when they last ran. With SYSTEM, considers only its tests and tests of
   *  unknown systems. Returns undefined when none of the tests considered has run yet. */
  failed(system?: string): string[] | undefined {
    const isOf = ({ of }: Known) => system === undefined || of.length === 0 || of.includes(system);
    const tests = [...this.#tests].filter(([, known]) => isOf(known));
    if (tests.length === 0) return undefined;
    return tests.filter(([, { passed }]) => !passed).map(([test]) => test);
  }

  /** Records the results of TESTS and returns what changed. SYSTEMS are the systems that were tested as a
   *  whole; the list is empty when single tests ran. Forgets tests that ran when SYSTEMS were last tested as
   *  a whole but did not run this time. */
  keep(tests: readonly TestResult[], systems: readonly string[]): ChangedResults {
    const difference: ChangedResults = { broken: [], fixed: [], fresh: [], missing: [] };
    const comparable = systems.length > 0 && systems.every((system) => this.#tested.has(system));
    const ran = outcomes(tests);
    const ofs = new Map(tests.map(({ test, systems: of = [] }) => [test, of]));
    const whole = systems.join(' ');
    for (const [test, known] of this.#tests) {
      if (whole === '' || known.systems !== whole || ran.has(test)) continue;
      difference.missing.push(test);
      this.#tests.delete(test);
    }
    for (const [test, passed] of ran) {
      const before = this.#tests.get(test);
      if (before === undefined) {
        if (comparable) difference.fresh.push(test);
      } else if (before.passed !== passed) difference[passed ? 'fixed' : 'broken'].push(test);
      const now = ofs.get(test) ?? [];
      const of = now.length > 0 ? now : (before?.of ?? []);
      this.#tests.set(test, { passed, systems: whole || (before?.systems ?? ''), of });
    }
    for (const system of systems) this.#tested.add(system);
    return difference;
  }
}

/** True when TEST did not pass. */
export function hasNotPassed({ failed = 0, errors = 0, left }: TestResult): boolean {
  return failed + errors > 0 || left === true;
}

/** Returns for each of TESTS whether it passed every time that it ran. */
function outcomes(tests: readonly TestResult[]): Map<string, boolean> {
  const passed = new Map<string, boolean>();
  for (const test of tests) passed.set(test.test, passed.get(test.test) !== false && !hasNotPassed(test));
  return passed;
}
