// Keeps the results of tests, to find failed tests and changes since the last run.

import type { TestResult } from '../../image/wire/operations.ts';

/** Names of tests, by the change of their results since their last run. */
export interface ChangedResults {
  broken: string[];
  fixed: string[];
  /** Tests that ran for the first time. Their systems had run before. */
  fresh: string[];
  /** Tests of the last run of the same systems that did not run this time. */
  missing: string[];
}

interface Known {
  passed: boolean;
  /** The systems, joined by blanks, of the last run of whole systems with this test; '' when there was
   * none. */
  systems: string;
  /** The systems that include this test. Empty when the test only ran by name. */
  of: readonly string[];
}

/** The last result of each test. */
export class TestMemory {
  readonly #tests = new Map<string, Known>();
  /** The systems that ran as a whole. */
  readonly #tested = new Set<string>();

  /** A phrase for the time of the recorded results, such as 'before'. */
  readonly when: string;

  constructor(when = 'before') {
    this.when = when;
  }

  /** Returns a copy for runs in another image, so that those results are not recorded here. */
  copyFor(when: string): TestMemory {
    const copy = new TestMemory(when);
    for (const [test, known] of this.#tests) copy.#tests.set(test, known);
    for (const system of this.#tested) copy.#tested.add(system);
    return copy;
  }

  /** Returns the tests that failed in their last run. SYSTEM limits them to its tests, and to tests of
   * unknown systems. Returns undefined when no such test has run yet. */
  failed(system?: string): string[] | undefined {
    const isOf = ({ of }: Known) => system === undefined || of.length === 0 || of.includes(system);
    const tests = [...this.#tests].filter(([, known]) => isOf(known));
    if (tests.length === 0) return undefined;
    return tests.filter(([, { passed }]) => !passed).map(([test]) => test);
  }

  /** Records the results of TESTS and returns the changes. SYSTEMS are those that ran as a whole, none for
   * single tests. Removes tests that the last run of SYSTEMS had and this one lacks. */
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

/** Returns true when a test failed or did not finish. */
export function hasNotPassed({ failed = 0, errors = 0, left }: TestResult): boolean {
  return failed + errors > 0 || left === true;
}

function outcomes(tests: readonly TestResult[]): Map<string, boolean> {
  const passed = new Map<string, boolean>();
  for (const test of tests) passed.set(test.test, passed.get(test.test) !== false && !hasNotPassed(test));
  return passed;
}
