// Determines the outcome of each test in a run, even when the run was interrupted or the image was lost.

import type { Ending } from '../../image/wire/endings.ts';
import type { TestPart, TestResult, TestRunData } from '../../image/wire/operations.ts';
import { secondsText } from '../endings.ts';

/** The frequency with which a repeated test failed: in `failed` of `of` runs. `first` is the number of the first run
 * (1-based) in which it failed. */
export interface Frequency {
  failed: number;
  of: number;
  first: number;
}

/** The outcome of a test. If it did not finish, `why` is the reason. If it was repeated, `runs` says how often it
 * failed. */
export interface TestOutcome extends TestResult {
  why?: string;
  runs?: Frequency;
}

/** Returns the outcomes of the tests in a run. ENDING is how the run ended, which is the reason why a test did not
 * finish. */
export function outcomesOf({ tests, parts = [] }: TestRunData, ending: Ending): TestOutcome[] {
  const outcomes = tests ?? fromParts(parts);
  return outcomes.map((test) => (test.left ? { ...test, why: whyLeft(ending) } : test));
}

/** Returns the results in PARTS, which the image reported during a run that did not finish. A test that began and did
 * not end has the mark `left`. */
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

/** Returns TYPE, the name of a condition type, without its package if this is COMMON-LISP or a package of SBCL. */
export function conditionName(type: string): string {
  return type.replace(/^(?:COMMON-LISP|SB-\w+)::/, '');
}

/** Returns the type and the text of a condition, in one line. */
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
      return `the run was interrupted after ${secondsText(afterMs)}, past its limit`;
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
