// Decides what is known of the tests that ran before: which failed last, and what has changed since.

import type { TestResult } from '../../image/wire/testing.ts';

/** How the tests of a run differ from when they last ran: names. */
export interface Difference {
  /** They passed before and fail now. */
  broken: string[];
  fixed: string[];
  fresh: string[];
}

export class TestMemory {
  /** Whether each test passed when it last ran. */
  readonly #passed = new Map<string, boolean>();
  /** The systems that were tested as a whole. */
  readonly #tested = new Set<string>();

  /** The names of the tests that failed when they last ran; undefined when none ran yet. */
  get failed(): string[] | undefined {
    if (this.#passed.size === 0) return undefined;
    return [...this.#passed].filter(([, passed]) => !passed).map(([test]) => test);
  }

  /** Forgets the tests NAMES, which are no more. */
  forget(names: readonly string[]): void {
    for (const name of names) this.#passed.delete(name);
  }

  /** Keeps what came of TESTS, all of SYSTEMS when those are named, and returns what has changed. */
  keep(tests: readonly TestResult[], systems: readonly string[]): Difference {
    const difference: Difference = { broken: [], fixed: [], fresh: [] };
    const comparable = systems.length > 0 && systems.every((system) => this.#tested.has(system));
    for (const [test, passed] of outcomes(tests)) {
      const before = this.#passed.get(test);
      if (before === undefined) {
        if (comparable) difference.fresh.push(test);
      } else if (before !== passed) difference[passed ? 'fixed' : 'broken'].push(test);
      this.#passed.set(test, passed);
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
