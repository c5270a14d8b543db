// Remembers which definitions each test reached in its last run with coverage.

import type { TestResult } from '../../image/wire/operations.ts';
import { nearest } from '../../kernel/nearest.ts';

/** A definition whose coverage was measured. TEXT is the text of its form in FILE at that time. */
export interface Recorded {
  name: string;
  file: string;
  text: string;
}

/** The definitions that a test reached. DEFINITIONS are all that were measured. BITS is a hexadecimal number
 *  in which bit N, counted from the lowest, is 1 when the test reached definition N. */
interface Reached {
  definitions: readonly Recorded[];
  bits: string;
}

/** The result of a search by name among the definitions that a run with coverage has measured. `name` and
 *  `tests`: the one definition found, and the tests that reached it. `several`: the names of all definitions
 *  found. `near`: no definition was found, and these names are similar. */
export type Found = { name: string; tests: string[] } | { several: string[] } | { near: string[] };

/** The definitions that each test reached in its last run with coverage. */
export class ReachedDefinitions {
  readonly #tests = new Map<string, Reached>();
  readonly #names = new Set<string>();

  /** True when anything was recorded. */
  get any(): boolean {
    return this.#tests.size > 0;
  }

  /** True when TEST was recorded. */
  has(test: string): boolean {
    return this.#tests.has(test);
  }

  /** Records which of the measured DEFINITIONS each of TESTS reached. */
  keep(definitions: readonly Recorded[], tests: readonly TestResult[]): void {
    for (const { name } of definitions) this.#names.add(name);
    for (const { test, reached: bits } of tests)
      if (bits !== undefined) this.#tests.set(test, { definitions, bits });
  }

  /** The files of the measured definitions. */
  get files(): string[] {
    const all = [...this.#tests.values()].flatMap(({ definitions }) => definitions.map(({ file }) => file));
    return [...new Set(all)];
  }

  /** Returns the tests that reached a definition for which IS_ONE returns true. */
  testsReaching(isOne: (definition: Recorded) => boolean): string[] {
    return [...this.#tests].flatMap(([test, { definitions, bits }]) =>
      definitions.some((each, index) => hasBit(bits, index) && isOne(each)) ? [test] : [],
    );
  }

  /** Returns the tests that reached the definition NAME, as the image writes it; undefined when that
   *  definition was never measured. */
  testsOf(name: string): string[] | undefined {
    return this.#names.has(name) ? this.testsReaching((each) => each.name === name) : undefined;
  }

  /** Finds definitions by NAME as people write it: in any case, with or without package, with #' or
   *  without. */
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

/** Returns NAME in upper case and without its package. */
function bare(name: string): string {
  return name.toUpperCase().replace(/^(\(SETF )?.*?::?(?=[^:])/s, '$1');
}

function hasBit(bits: string, index: number): boolean {
  const digit = bits[bits.length - 1 - (index >> 2)] ?? '0';
  return ((Number.parseInt(digit, 16) >> (index & 3)) & 1) === 1;
}
