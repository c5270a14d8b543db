// Decides whether live-lisp supports a version of SBCL, and describes how well.

import VERSIONS from './sbcl-versions.json' with { type: 'json' };

/** The facts that an SBCL reports about itself. */
export interface SbclFacts {
  /** The version that LISP-IMPLEMENTATION-VERSION returns, such as 2.2.9.debian. */
  version: string;
  /** The number of bits of a machine word. */
  bits: number;
  /** The names of its features, such as SB-THREAD. */
  features: string[];
}

/** The versions of SBCL with which live-lisp is tested, as a phrase. */
export const TESTED_VERSIONS = VERSIONS.tested.join(', ');

const WHAT_TO_DO =
  'Ask the user to install another (https://www.sbcl.org/platform-table.html), or to name one with --sbcl PATH.';

/** Returns the reason why live-lisp does not support an SBCL with these facts, followed by REMEDY. Returns undefined
 * when it is supported. */
export function whyUnsupported(
  { version, bits, features }: SbclFacts,
  remedy: string = WHAT_TO_DO,
): string | undefined {
  const { oldest } = VERSIONS;
  if (compare(version, oldest) < 0) {
    return `SBCL ${version} is too old: live-lisp needs ${oldest} or newer. ${remedy}`;
  }
  if (!features.includes('SB-THREAD'))
    return `This SBCL ${version} has no threads, and live-lisp needs them. ${remedy}`;
  if (bits < 64)
    return `This SBCL ${version} is a ${bits}-bit program, and live-lisp needs 64 bits. ${remedy}`;
  return undefined;
}

/** Returns a phrase that says whether live-lisp was tested with VERSION. */
export function supportText(version: string): string {
  const { oldest, tested } = VERSIONS;
  if (tested.some((testedVersion) => compare(version, testedVersion) === 0))
    return 'live-lisp is tested with it';
  const [first = oldest, last = oldest] = [tested[0], tested.at(-1)];
  if (compare(version, last) > 0) {
    return `newer than the tested versions (up to ${last}). It should work; please report problems`;
  }
  if (compare(version, first) < 0) {
    return `older than the tested versions (${first} and newer). The main features work; missing ones are listed below`;
  }
  return `between the tested versions (${TESTED_VERSIONS}). It should work; please report problems`;
}

/** Compares the first three numbers of two versions. Returns a negative number when ONE is older, a positive number
 * when it is newer, and 0 when they are equal. Returns NaN when a text is not a version. */
function compare(one: string, other: string): number {
  const others = numbersOf(other);
  const differences = numbersOf(one).map((number, index) => number - Number(others[index]));
  return differences.find((difference) => difference !== 0) ?? 0;
}

function numbersOf(version: string): number[] {
  const found = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  return [1, 2, 3].map((group) => (found === null ? Number.NaN : Number(found[group] ?? 0)));
}
