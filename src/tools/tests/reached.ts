// Stores, for each test, the definitions that it reached in its last run with coverage.

import type { TestResult } from '../../image/wire/operations.ts';
import { nearest } from '../../kernel/nearest.ts';

/** A definition whose coverage was measured. `text` is the top-level form in `file` that contained the definition
 * then. */
export interface Recorded {
  name: string;
  file: string;
  text: string;
}

/** The definitions that a test reached. `definitions` are all that were measured. `bits` is a hexadecimal number: bit
 * N, counted from the lowest, is 1 when the test reached definition N. */
interface Reached {
  definitions: readonly Recorded[];
  bits: string;
}

/** The result of the search by name for a definition whose coverage was measured. If exactly one is found, `tests` are
 * the tests that reached it. If several are found, `several` are their names. If none is found, `near` are similar
 * names. */
export type Found = { name: string; tests: string[] } | { several: string[] } | { near: string[] };

/** Stores, for each test, the definitions that it reached in its last run with coverage. */
export class ReachedDefinitions {
  readonly #tests = new Map<string, Reached>();
  readonly #names = new Set<string>();

  get any(): boolean {
    return this.#tests.size > 0;
  }

  /** Returns a copy for runs in a copy of the workspace, so that the files of that copy are not recorded here. */
  copy(): ReachedDefinitions {
    const copy = new ReachedDefinitions();
    for (const name of this.#names) copy.#names.add(name);
    for (const [test, reached] of this.#tests) copy.#tests.set(test, reached);
    return copy;
  }

  has(test: string): boolean {
    return this.#tests.has(test);
  }

  keep(definitions: readonly Recorded[], tests: readonly TestResult[]): void {
    for (const { name } of definitions) this.#names.add(name);
    for (const { test, reached: bits } of tests)
      if (bits !== undefined) this.#tests.set(test, { definitions, bits });
  }

  get files(): string[] {
    const all = [...this.#tests.values()].flatMap(({ definitions }) => definitions.map(({ file }) => file));
    return [...new Set(all)];
  }

  testsReaching(isOne: (definition: Recorded) => boolean): string[] {
    return [...this.#tests].flatMap(([test, { definitions, bits }]) =>
      definitions.some((each, index) => hasBit(bits, index) && isOne(each)) ? [test] : [],
    );
  }

  /** Returns the tests that reached the definition NAME, given as the image prints it; undefined when it was never
   * measured. */
  testsOf(name: string): string[] | undefined {
    return this.#names.has(name) ? this.testsReaching((each) => each.name === name) : undefined;
  }

  /** Finds the definitions with NAME whose coverage was measured. NAME is as a person writes it: the case of letters
   * does not matter, and the package and #' can be left out. */
  find(name: string): Found {
    const wanted = name
      .trim()
      .replace(/^#?'/, '')
      .replace(/([^:]):([^:])/, '$1::$2')
      .toUpperCase();
    const all = [...this.#names];
    const whole = all.filter((each) => each.toUpperCase() === wanted);
    const found = whole.length > 0 ? whole : all.filter((each) => bare(each) === bare(wanted));
    const [first, ...more] = found;
    if (first === undefined) {
      const small = (each: string) => bare(each).toLowerCase();
      const near = nearest(bare(wanted), all.map(small));
      return { near: all.filter((each) => near.includes(small(each))) };
    }
    return more.length > 0 ? { several: found } : { name: first, tests: this.testsOf(first) ?? [] };
  }
}

function bare(name: string): string {
  return name.toUpperCase().replace(/^(\(SETF )?.*?::?(?=[^:])/s, '$1');
}

function hasBit(bits: string, index: number): boolean {
  const digit = bits[bits.length - 1 - (index >> 2)] ?? '0';
  return ((Number.parseInt(digit, 16) >> (index & 3)) & 1) === 1;
}
