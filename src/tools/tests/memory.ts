// Decides what is known of the tests that ran before: which failed last, what has changed since.

import type { TestResult } from '../../image/wire/testing.ts';

/** How the tests of a run differ from when they last ran: names. */
export interface Difference {
  /** They passed before and fail now. */
  broken: string[];
  fixed: string[];
  fresh: string[];
  /** They ran with their systems before, and do not now. */
  missing: string[];
}

/** What is known of a test: whether it passed when it last ran, and the systems that ran as a whole with it. */
interface Known {
  passed: boolean;
  systems: string;
  /** The systems whose test it is; none when it only ran by name. */
  of: readonly string[];
}

export class TestMemory {
  readonly #tests = new Map<string, Known>();
  /** The systems that were tested as a whole. */
  readonly #tested = new Set<string>();

  /** Returns the names of the tests that failed when they last ran, of SYSTEM when that is named and known. It is undefined
   *  when none of these ran yet. */
  failed(system?: string): string[] | undefined {
    const isOf = ({ of }: Known) => system === undefined || of.length === 0 || of.includes(system);
    const tests = [...this.#tests].filter(([, known]) => isOf(known));
    if (tests.length === 0) return undefined;
    return tests.filter(([, { passed }]) => !passed).map(([test]) => test);
  }

  /** Keeps what came of TESTS, all of SYSTEMS when those are named, and returns what has changed. A test that does not run
   *  with all of its systems any more is no more. */
  keep(tests: readonly TestResult[], systems: readonly string[]): Difference {
    const difference: Difference = { broken: [], fixed: [], fresh: [], missing: [] };
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

/** Returns whether TEST did not pass. */
export function isBad({ failed = 0, errors = 0, left }: TestResult): boolean {
  return failed + errors > 0 || left === true;
}

/** Returns whether each of TESTS passed, every time that it ran. */
export function outcomes(tests: readonly TestResult[]): Map<string, boolean> {
  const passed = new Map<string, boolean>();
  for (const test of tests) passed.set(test.test, passed.get(test.test) !== false && !isBad(test));
  return passed;
}
