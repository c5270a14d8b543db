// Finds the outcome of each test in a run, even when the run was interrupted or the image was lost.

import type { Ending } from '../../image/wire/endings.ts';
import type { TestPart, TestResult, TestRunData } from '../../image/wire/operations.ts';
import { secondsText } from '../endings.ts';

/** The number of runs in which a test failed, of all runs `of` with the test. `first` is the first failed
 * run, counted from 1. */
export interface Frequency {
  failed: number;
  of: number;
  first: number;
}

/** The result of a test. `why` is the reason when it did not finish. `runs` is its failure frequency when it
 * was repeated. */
export interface TestOutcome extends TestResult {
  why?: string;
  runs?: Frequency;
}

/** Returns the outcomes of the tests in a run. ENDING provides the reason why a test did not finish. */
export function outcomesOf({ tests, parts = [] }: TestRunData, ending: Ending): TestOutcome[] {
  const outcomes = tests ?? fromParts(parts);
  return outcomes.map((test) => (test.left ? { ...test, why: whyLeft(ending) } : test));
}

/** Returns the results in PARTS, the reports of an unfinished run. A test that began but did not end is
 * marked as left. */
function fromParts(parts: readonly TestPart[]): TestResult[] {
  const results: TestResult[] = [];
  for (const part of parts) {
    if ('began' in part) {
      results.push({ framework: part.framework, test: part.began, left: true });
      continue;
    }
    const open = results.findLastIndex(({ test, left }) => left && test === part.test);
    if (open === -1) results.push(part);
    else results[open] = part;
  }
  return results;
}

/** Returns the type of a condition, without its package when that belongs to the language or SBCL. */
export function conditionName(type: string): string {
  return type.replace(/^(?:COMMON-LISP|SB-\w+)::/, '');
}

/** Returns the type and text of a condition on one line. */
export function signalledText({ type, text }: { type: string; text: string }): string {
  return `${conditionName(type)}: ${text.replace(/\s+/g, ' ')}`;
}

function whyLeft(ending: Ending): string {
  switch (ending.kind) {
    case 'lost':
      return `the image was lost: ${ending.how}`;
    case 'condition':
      return signalledText(ending.condition);
    case 'interrupted':
      return interruptedText(ending);
    case 'aborted':
      return 'it was ended by its ABORT restart';
    case 'done':
      return 'it was left by a throw';
  }
}

function interruptedText({ reason, afterMs }: Extract<Ending, { kind: 'interrupted' }>): string {
  switch (reason) {
    case 'timeout':
      return `the run was interrupted after ${secondsText(afterMs)}, its limit`;
    case 'heap':
      return 'it was about to exhaust the heap';
    case 'ended':
      return 'its thread was ended by the code that ran in it';
    case 'terminated':
      return `its thread was ended after ${secondsText(afterMs)}, because it did not react to being interrupted`;
    default:
      return `the run was interrupted after ${secondsText(afterMs)}`;
  }
}
