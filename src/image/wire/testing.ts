// Decides what the agent tells of tests: how they are found, and what came of each.

import type { LookupFailure, Place, Remarks } from './data.ts';
import type { Hold } from './holding.ts';

/** A check of a test that failed, or an error that nobody expected. */
export interface TestFailure {
  kind: 'failure' | 'error';
  form?: string;
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
  definition?: Place;
}

/** What is told of a run before its end. */
export type TestPart = { began: string; framework: string } | TestResult;

/** Why names of tests do not say which: one names none of those that are KNOWN, or several. */
export interface TestLookup {
  missing?: string;
  several?: string;
  known?: string[];
}

export interface TestRunData extends Remarks {
  tests?: TestResult[];
  parts?: TestPart[];
  /** Which packages have tests, when none ran. */
  packages?: { package: string; tests: number }[];
  features?: string[];
  /** Names that were to run again and that no framework has any more. */
  gone?: string[];
  value?: LookupFailure | TestLookup;
}

/** Which systems are tested, and which are loaded before, by FORCE where ASDF would not notice a change. */
export interface TestPlanData extends Remarks {
  value?: { systems?: string[]; loads?: { name: string; force?: boolean }[] } & TestLookup;
}

export interface TestOperations {
  'test-plan': { args: { system?: string; root?: string; known?: boolean }; data: TestPlanData };
  'test-run': {
    args: {
      systems?: string[];
      name?: string;
      again?: string[];
      package?: string;
      skip?: string[];
      seed?: number;
    } & Hold;
    data: TestRunData;
  };
}
