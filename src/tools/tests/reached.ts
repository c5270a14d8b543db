// Decides what is kept of which definitions each test reached, when that was recorded last.

import type { TestResult } from '../../image/wire/testing.ts';
import { nearest } from '../../kernel/nearest.ts';

/** A definition as it was when a run measured it: the TEXT of its form in FILE. */
export interface Recorded {
  name: string;
  file: string;
  text: string;
}

/** What a test reached: BITS, a hexadecimal number, has the lowest bit for the first of DEFINITIONS. */
interface Reached {
  definitions: readonly Recorded[];
  bits: string;
}

/** What a name of a definition finds: one that was measured, with the tests that reached it. Or it finds several, or
 *  only similar names. */
export type Found = { name: string; tests: string[] } | { several: string[] } | { near: string[] };

export class ReachedDefinitions {
  readonly #tests = new Map<string, Reached>();
  readonly #names = new Set<string>();

  /** Whether anything was recorded. */
  get any(): boolean {
    return this.#tests.size > 0;
  }

  /** Whether TEST was recorded. */
  has(test: string): boolean {
    return this.#tests.has(test);
  }

  /** Keeps what TESTS reached of DEFINITIONS, which were measured. */
  keep(definitions: readonly Recorded[], tests: readonly TestResult[]): void {
    for (const { name } of definitions) this.#names.add(name);
    for (const { test, reached: bits } of tests)
      if (bits !== undefined) this.#tests.set(test, { definitions, bits });
  }

  /** The files of the definitions that were measured. */
  get files(): string[] {
    const all = [...this.#tests.values()].flatMap(({ definitions }) => definitions.map(({ file }) => file));
    return [...new Set(all)];
  }

  /** Returns the names of the tests that reached a definition of which ISONE is true. */
  testsReaching(isOne: (definition: Recorded) => boolean): string[] {
    return [...this.#tests].flatMap(([test, { definitions, bits }]) =>
      definitions.some((each, index) => hasBit(bits, index) && isOne(each)) ? [test] : [],
    );
  }

  /** Returns the names of the tests that reached the definition NAME, as the image writes it; undefined when it was never
   *  measured. */
  testsOf(name: string): string[] | undefined {
    return this.#names.has(name) ? this.testsReaching((each) => each.name === name) : undefined;
  }

  /** Returns what NAME finds, as people write it: with a package, or without one. */
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

/** Returns NAME without its package. */
function bare(name: string): string {
  return name.toUpperCase().replace(/^(\(SETF )?.*?::?(?=[^:])/s, '$1');
}

function hasBit(bits: string, index: number): boolean {
  const digit = bits[bits.length - 1 - (index >> 2)] ?? '0';
  return ((Number.parseInt(digit, 16) >> (index & 3)) & 1) === 1;
}
