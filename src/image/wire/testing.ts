// Types of the agent's reports on tests: which tests there are, and the result of each.

import type { UnsetVariable } from './agreement.ts';
import type { LookupFailure, Place, Remarks } from './data.ts';
import type { Hold } from './holding.ts';
import type { MissingSystem } from './loading.ts';

/** A check of a test that failed, or an unexpected error. */
export interface TestFailure {
  kind: 'failure' | 'error';
  /** The form that the check evaluated, or one that also contains the expected value. */
  form?: string;
  check?: string;
  expected?: string;
  got?: string;
  /** The message of the test framework. */
  text?: string;
  /** The type and the report of the condition that was signalled. */
  type?: string;
  condition?: string;
  place?: Place;
}

/** The result of a test. */
export interface TestResult {
  framework: string;
  /** The name under which the test can be run again. */
  test: string;
  /** Number of checks, and how many of them failed, signalled an error, were skipped, or failed as
   *  expected. */
  checks?: number;
  failed?: number;
  errors?: number;
  skipped?: number;
  expected?: number;
  failures?: TestFailure[];
  /** Output of the test, when it did not pass. */
  output?: string;
  milliseconds?: number;
  /** True when the test did not run to its end. */
  left?: boolean;
  /** The systems whose tests ran, innermost first. */
  systems?: string[];
  definition?: Place;
  /** The measured definitions that the test ran, as a hexadecimal bit mask. The lowest bit stands for the
   *  first definition. */
  reached?: string;
}

/** The place of a list in a file, as in Place; of an atom, a place from which on it is read, the end of the list
 *  around it, and how many atoms are before it from there on; empty when the place is not known. */
export type PartPlace = [] | [start: number, end: number, before?: number];

/** A definition whose coverage is measured: the function NAME, in the top-level form number FORM of FILE. START
 *  and END are its place as in Place. */
export interface MeasuredDefinition {
  name: string;
  file: string;
  form: number;
  start?: number;
  end?: number;
  reached?: boolean;
  /** The subforms that never ran. */
  never?: PartPlace[];
}

/** Which definitions the tests ran. MISSED: how many definitions could not be measured. */
export interface CoverageData {
  definitions?: MeasuredDefinition[];
  missed?: number;
}

/** A report that arrives before the run has ended: a test BEGAN, or its result. */
export type TestPart = { began: string; framework: string } | TestResult;

/** Why no test ran. MISSING: no test has the name; KNOWN are tests that exist. SEVERAL: the name fits the
 *  tests KNOWN. UNMEASURED: coverage cannot be measured, because this SBCL lacks it or another run uses
 *  it. */
export interface TestLookup {
  unmeasured?: 'missing' | 'busy';
  missing?: string;
  several?: string;
  known?: string[];
}

export interface TestRunData extends Remarks {
  tests?: TestResult[];
  parts?: TestPart[];
  /** Systems that ASDF does not find, with the systems that need them and so were not tested completely. */
  needs?: MissingSystem[];
  /** Packages with tests, when none ran. */
  packages?: { package: string; tests: number }[];
  /** Names of tests that were requested again, but that no framework has any more. */
  gone?: string[];
  /** Files below the root that have changed since the image loaded them. */
  stale?: string[];
  /** Variables, defined in files below the root, that a load did not set again. */
  unset?: UnsetVariable[];
  unsetTotal?: number;
  /** Systems that were tested, but in which no test of a known framework was seen. */
  unseen?: string[];
  /** Names of all tests that did not run; sent on request. */
  others?: string[];
  coverage?: CoverageData;
  value?: LookupFailure | TestLookup;
}

/** The systems to test, and the systems to load before. FORCE: load although ASDF would notice no change. */
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
      /** root: the folder whose changed files are reported and whose code is measured. folder: where the
       *  fasls for this go. */
      root?: string;
      folder?: string;
    } & Hold;
    data: TestRunData;
  };
}
