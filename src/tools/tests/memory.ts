// Stores the results of tests, to find the tests that failed and the changes since the last run.

import type { TestResult } from '../../image/wire/operations.ts';

/** The names of tests whose results have changed since their last run. */
export interface ChangedResults {
  broken: string[];
  fixed: string[];
  /** Tests that ran for the first time, in systems that had run before. */
  fresh: string[];
  /** Tests that the last run of the same systems had, and this run did not have. */
  missing: string[];
}

interface Known {
  passed: boolean;
  /** The names of the systems, joined by blanks, that were tested in the last run of whole systems in which this test
   * ran; '' when there was no such run. */
  systems: string;
  /** The names of the systems to which this test belongs. Empty when the test has run only by its own name, because
   * such a run does not show its systems. */
  of: readonly string[];
}

/** Stores the last result of each test. */
export class TestMemory {
  readonly #tests = new Map<string, Known>();
  /** The names of the systems of which all tests ran. */
  readonly #tested = new Set<string>();

  /** A phrase that says when the stored results were recorded, such as 'before'. */
  readonly when: string;

  constructor(when = 'before') {
    this.when = when;
  }

  /** Returns a copy for runs in another image, so that their results do not replace the results stored here. */
  copyFor(when: string): TestMemory {
    const copy = new TestMemory(when);
    for (const [test, known] of this.#tests) copy.#tests.set(test, known);
    for (const system of this.#tested) copy.#tested.add(system);
    return copy;
  }

  /** Returns the tests that failed in their last run. With SYSTEM, returns only tests of SYSTEM, and tests whose system
   * is unknown. Returns undefined when no such test has run yet. */
  failed(system?: string): string[] | undefined {
    const isOf = ({ of }: Known) => system === undefined || of.length === 0 || of.includes(system);
    const tests = [...this.#tests].filter(([, known]) => isOf(known));
    if (tests.length === 0) return undefined;
    return tests.filter(([, { passed }]) => !passed).map(([test]) => test);
  }

  /** Stores the results of TESTS, and returns the changes. SYSTEMS are the systems of which all tests ran; [] when
   * single tests ran. Removes tests that the last run of SYSTEMS had and this run does not have. */
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

/** Returns true when a test has failed or did not finish. */
export function hasNotPassed({ failed = 0, errors = 0, left }: TestResult): boolean {
  return failed + errors > 0 || left === true;
}

function outcomes(tests: readonly TestResult[]): Map<string, boolean> {
  const passed = new Map<string, boolean>();
  for (const test of tests) passed.set(test.test, passed.get(test.test) !== false && !hasNotPassed(test));
  return passed;
}
