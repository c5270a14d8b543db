// Decides what the agent tells of tests: how they are found, and what came of each.

import type { UnsetVariable } from './agreement.ts';
import type { LookupFailure, Place, Remarks } from './data.ts';
import type { Hold } from './holding.ts';
import type { MissingSystem } from './loading.ts';

/** A check of a test that failed, or an error that nobody expected. */
export interface TestFailure {
  kind: 'failure' | 'error';
  /** What was evaluated, or a form that also says what was wanted. */
  form?: string;
  check?: string;
  expected?: string;
  got?: string;
  /** What the framework says. */
  text?: string;
  /** The type and the report of the condition that was signalled. */
  type?: string;
  condition?: string;
  place?: Place;
}

/** What came of a test. */
export interface TestResult {
  framework: string;
  /** Its name, by which it is found again. */
  test: string;
  /** How many checks it made, and how many of them failed, were left out, or failed as expected. */
  checks?: number;
  failed?: number;
  errors?: number;
  skipped?: number;
  expected?: number;
  failures?: TestFailure[];
  /** What it wrote, when it did not pass. */
  output?: string;
  milliseconds?: number;
  /** It did not come to its end. */
  left?: boolean;
  /** The systems whose tests ran, the innermost first. */
  systems?: string[];
  definition?: Place;
  /** Which of the definitions that were measured it ran: a hexadecimal number, whose lowest bit is for the first. */
  reached?: string;
}

/** A definition that was measured: that of the function NAME, in the form with number FORM of FILE. PART says which
 *  element of the form it is, which one of that, and so on. */
export interface MeasuredDefinition {
  name: string;
  file: string;
  form: number;
  part?: number[];
  reached?: boolean;
  /** The parts of the form that never ran: which element, which one of that, and so on. */
  never?: number[][];
}

/** What tests ran. MISSED is how many definitions could not be measured. */
export interface CoverageData {
  definitions?: MeasuredDefinition[];
  missed?: number;
}

/** What is told of a run before its end. */
export type TestPart = { began: string; framework: string } | TestResult;

/** Why nothing ran: a name is of none of the tests that are KNOWN, or of several. Or what they run cannot be measured,
 *  because this SBCL cannot do it, or another run does. */
export interface TestLookup {
  unmeasured?: 'missing' | 'busy';
  missing?: string;
  several?: string;
  known?: string[];
}

export interface TestRunData extends Remarks {
  tests?: TestResult[];
  parts?: TestPart[];
  /** Of systems that could not be tested to their end: which one ASDF misses, and which one needs that. */
  needs?: MissingSystem[];
  /** Which packages have tests, when none ran. */
  packages?: { package: string; tests: number }[];
  /** Names that were to run again and that no framework has any more. */
  gone?: string[];
  /** Files below the root that have changed since the image loaded them. */
  stale?: string[];
  /** Variables of files below the root that loads did not set again. */
  unset?: UnsetVariable[];
  unsetTotal?: number;
  /** Systems that were tested, and of which no test of a framework was seen. */
  unseen?: string[];
  /** Names of all other tests, when that was asked. */
  others?: string[];
  coverage?: CoverageData;
  value?: LookupFailure | TestLookup;
}

/** Which systems are tested, and which are loaded before, by FORCE where ASDF would not notice a change. */
export interface TestPlanData extends Remarks {
  value?: {
    systems?: string[];
    loads?: { name: string; force?: boolean }[];
    /** Systems of the workspace whose definitions cannot be read for want of others. */
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
      /** Below which folder changed files are told, and what is measured; and where that is compiled. */
      root?: string;
      folder?: string;
    } & Hold;
    data: TestRunData;
  };
}
