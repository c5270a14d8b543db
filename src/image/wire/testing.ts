// Types of the agent's reports on tests: how they were found, and the result of each.

import type { UnsetVariable } from './agreement.ts';
import type { LookupFailure, Place, Remarks } from './data.ts';
import type { Hold } from './holding.ts';
import type { MissingSystem } from './loading.ts';

/** A failed check of a test, or an unexpected error. */
export interface TestFailure {
  kind: 'failure' | 'error';
  /** The evaluated form, or a form that also contains the expected value. */
  form?: string;
  check?: string;
  expected?: string;
  got?: string;
  /** The framework's message. */
  text?: string;
  /** The type and the report of the condition that was signalled. */
  type?: string;
  condition?: string;
  place?: Place;
}

/** The result of a test. */
export interface TestResult {
  framework: string;
  /** The name by which the test can be found again. */
  test: string;
  /** Number of its checks, and how many of them failed, were skipped, or failed as expected. */
  checks?: number;
  failed?: number;
  errors?: number;
  skipped?: number;
  expected?: number;
  failures?: TestFailure[];
  /** Its output, when it did not pass. */
  output?: string;
  milliseconds?: number;
  /** True when the test did not run to its end. */
  left?: boolean;
  /** The systems whose tests ran, innermost first. */
  systems?: string[];
  definition?: Place;
  /** The measured definitions that it ran, as a hexadecimal bit mask. The lowest bit is the first definition. */
  reached?: string;
}

/** A measured definition: the function NAME, in the form number FORM of FILE. PART is its path in the form: index of an
 *  element, index in that element, and so on. */
export interface MeasuredDefinition {
  name: string;
  file: string;
  form: number;
  part?: number[];
  reached?: boolean;
  /** Parts of the form that never ran, as such paths. */
  never?: number[][];
}

/** The code that tests ran. MISSED: how many definitions could not be measured. */
export interface CoverageData {
  definitions?: MeasuredDefinition[];
  missed?: number;
}

/** A report from a run before its end. */
export type TestPart = { began: string; framework: string } | TestResult;

/** Why nothing ran: a name fits none of the KNOWN tests, or several. Or coverage cannot be measured, because this SBCL
 *  lacks it or another run uses it. */
export interface TestLookup {
  unmeasured?: 'missing' | 'busy';
  missing?: string;
  several?: string;
  known?: string[];
}

export interface TestRunData extends Remarks {
  tests?: TestResult[];
  parts?: TestPart[];
  /** Systems that ASDF misses, with the systems that need them and so could not be fully tested. */
  needs?: MissingSystem[];
  /** Packages with tests, when none ran. */
  packages?: { package: string; tests: number }[];
  /** Names to run again that no framework has any more. */
  gone?: string[];
  /** Files below the root that have changed since the image loaded them. */
  stale?: string[];
  /** Variables in files below the root that loads did not set again. */
  unset?: UnsetVariable[];
  unsetTotal?: number;
  /** Tested systems in which no test of a known framework was seen. */
  unseen?: string[];
  /** Names of all other tests, on request. */
  others?: string[];
  coverage?: CoverageData;
  value?: LookupFailure | TestLookup;
}

/** The systems to test, and those to load before, by FORCE where ASDF would not notice a change. */
export interface TestPlanData extends Remarks {
  value?: {
    systems?: string[];
    loads?: { name: string; force?: boolean }[];
    /** Systems of the workspace whose definitions cannot be read because others are missing. */
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
      /** The folder whose changed files are reported and whose code is measured; and the folder for its fasls. */
      root?: string;
      folder?: string;
    } & Hold;
    data: TestRunData;
  };
}
