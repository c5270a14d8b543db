// Decides what is kept of which definitions each test reached, when that was recorded last.

import type { TestResult } from '../../image/wire/testing.ts';
import { nearest } from '../../kernel/nearest.ts';

/** What a test reached: BITS, a hexadecimal number, has the lowest bit for the first of NAMES. */
interface Reached {
  names: readonly string[];
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

  /** Keeps what TESTS reached of the definitions NAMES, which were measured. */
  keep(names: readonly string[], tests: readonly TestResult[]): void {
    for (const name of names) this.#names.add(name);
    for (const { test, reached: bits } of tests)
      if (bits !== undefined) this.#tests.set(test, { names, bits });
  }

  /** Returns the names of the tests that reached the definition NAME, as the image writes it; undefined when it was never
   *  measured. */
  testsOf(name: string): string[] | undefined {
    if (!this.#names.has(name)) return undefined;
    return [...this.#tests].flatMap(([test, { names, bits }]) =>
      names.some((each, index) => each === name && hasBit(bits, index)) ? [test] : [],
    );
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
