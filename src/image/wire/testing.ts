// Types of the agent's reports on tests: which tests there are, and the result of each.

import type { UnsetVariable } from './agreement.ts';
import type { LookupFailure, Place, Remarks } from './data.ts';
import type { Hold } from './holding.ts';
import type { MissingSystem } from './loading.ts';

/** A check of a test that failed, or an unexpected error. */
export interface TestFailure {
  kind: 'failure' | 'error';
  /** The form that the check evaluated, or a form that contains it and the expected value. */
  form?: string;
  check?: string;
  expected?: string;
  got?: string;
  /** The message of the test framework. */
  text?: string;
  /** The type of the condition that was signalled. */
  type?: string;
  /** The report of this condition. */
  condition?: string;
  place?: Place;
}

/** The result of a test. */
export interface TestResult {
  framework: string;
  /** The name under which the test can be run again. */
  test: string;
  /** Number of checks in the test. */
  checks?: number;
  /** How many of the checks failed. */
  failed?: number;
  /** How many of the checks signalled an error. */
  errors?: number;
  /** How many of the checks were skipped. */
  skipped?: number;
  /** How many of the checks failed as expected. */
  expected?: number;
  failures?: TestFailure[];
  /** Output of the test, when it did not pass. */
  output?: string;
  milliseconds?: number;
  /** True when the test did not run to its end. */
  left?: boolean;
  /** The systems that were being tested when the test ran, innermost first. */
  systems?: string[];
  definition?: Place;
  /** Which of the measured definitions the test ran, as a hexadecimal bit mask. The lowest bit stands for the
   *  first definition. */
  reached?: string;
}

/** The place of a subform in a file, in characters; empty when the place is not known. For a list, `start`
 *  and `end` are where the list begins and ends. The image knows only where lists are. So for an atom,
 *  `before` atoms come between the position `start` and this atom, and `end` is where the list around it
 *  ends. */
export type PartPlace = [] | [start: number, end: number, before?: number];

/** A function whose coverage is measured. It is in the top-level form number `form` of `file`; `start` and
 *  `end` are as in Place. */
export interface MeasuredDefinition extends Place {
  name: string;
  file: string;
  form: number;
  reached?: boolean;
  /** The subforms that never ran. */
  never?: PartPlace[];
}

/** Which definitions the tests ran. */
export interface CoverageData {
  definitions?: MeasuredDefinition[];
  /** How many definitions could not be measured. */
  missed?: number;
}

/** A report that arrives while the tests run: that a test began (`began` is its name), or the result of a
 *  test. */
export type TestPart = { began: string; framework: string } | TestResult;

/** Why no test ran. */
export interface TestLookup {
  /** Why coverage cannot be measured: this SBCL cannot measure it, or another run is being measured. */
  unmeasured?: 'missing' | 'busy';
  /** The requested name, when no test has it. */
  missing?: string;
  /** The requested name, when it fits several tests. */
  several?: string;
  /** Names of tests that exist or, with `several`, that the name fits. */
  known?: string[];
}

export interface TestRunData extends Remarks {
  tests?: TestResult[];
  parts?: TestPart[];
  /** Systems that ASDF does not find, each with the system that depends on it and so was not tested
   *  completely. */
  needs?: MissingSystem[];
  /** The packages that have tests, when no test ran. */
  packages?: { package: string; tests: number }[];
  /** Systems below the root that depend on a tested one and are not loaded, when no test ran. */
  unloaded?: string[];
  /** Names of tests that were requested again, but that no framework has any more. */
  gone?: string[];
  /** Tests that the image has, and that did not run because FILE, which defined them, no longer has them. */
  former?: { test: string; file: string }[];
  /** Files below the root that have changed since the image loaded them. */
  stale?: string[];
  /** Variables defined in files below the root that were bound already, so that a load did not set them. */
  unset?: UnsetVariable[];
  unsetTotal?: number;
  /** Systems that were tested, but in which no test of a known framework was seen. */
  unseen?: string[];
  /** Names of all tests that did not run; sent on request. */
  others?: string[];
  coverage?: CoverageData;
  value?: LookupFailure | TestLookup;
}

/** Which systems to test, and which to load before. With `force`, a system must be loaded although ASDF would
 *  see no change. */
export interface TestPlanData extends Remarks {
  value?: {
    systems?: string[];
    loads?: { name: string; force?: boolean }[];
    /** Systems of the workspace whose definitions cannot be read, because they need missing systems. */
    unread?: MissingSystem[];
  } & Partial<MissingSystem>;
}

export interface TestOperations {
  'test-plan': { args: { system?: string; root?: string; known?: boolean }; data: TestPlanData };
  'test-run': {
    args: {
      systems?: string[];
      name?: string;
      again?: string[];
      others?: boolean;
      package?: string;
      skip?: string[];
      seed?: number;
      /** The folder whose changed files are reported and whose code is measured. */
      root?: string;
      /** The folder for the fasls of the measured code. Without it, coverage is not measured. */
      folder?: string;
    } & Hold;
    data: TestRunData;
  };
}
