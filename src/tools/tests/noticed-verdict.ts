// Compares the results of tests with a change and without it, and decides whether a test noticed the change.

import type { LoadStep } from '../../image/wire/operations.ts';
import { fewOf } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { listed } from '../fresh-call.ts';
import { shortNames } from './failures.ts';
import { hasNotPassed } from './memory.ts';
import type { TestOutcome } from './results.ts';

/** The result of the tests in one copy of the workspace. */
export interface Side {
  result: Result;
  tests: readonly TestOutcome[];
  /** Whether the run of the tests reached its end. It does not begin when a load fails. */
  run: 'complete' | 'ended early' | 'not begun';
  /** The systems whose test operation ended without an error and without a test of a known framework. */
  unseen: readonly string[];
  /** True when a human or the client ended the call. */
  isStopped: boolean;
  /** The Lisp files with new content that the image has not loaded. */
  unloaded: string[];
  /** Those of `unloaded` for which the image has loaded the file of the workspace, not its copy. */
  originals: string[];
  /** A digest of the state that the files of the workspace had when they were copied. */
  state: string;
  /** The loads before the tests. */
  steps: readonly LoadStep[];
}

/** The answer to the question whether tests noticed the edits. `noticed` are the names of those tests. The verdict is
 * `unbuilt` when the tests did not begin with the edits, and `unknown` when the two runs do not decide the question. */
interface Verdict {
  verdict: 'noticed' | 'unnoticed' | 'unbuilt' | 'unknown';
  noticed: string[];
  text: string;
}

const ENDED = 'the test operation ended without an error';

/** Compares CHANGED, the tests with a change of COUNT files, with PLAIN, the tests without it, and returns the verdict.
 * PLAIN is undefined when the call was interrupted before these tests ran. */
export function verdictOn(changed: Side, plain: Side | undefined, count: number): Verdict {
  const verdict = verdictByTests(changed, plain);
  return verdict.verdict === 'unnoticed' ? withUnloaded(verdict, changed, count) : verdict;
}

/** Compares the runs with and without the change. The first criterion that applies decides. */
function verdictByTests(changed: Side, plain: Side | undefined): Verdict {
  if (plain === undefined || plain.isStopped) return unknown('the call was interrupted.');
  const ranPlain = namesOf(plain.tests).length;
  // Of tests without a known framework, only the end of the test operation is known.
  const onlyEnded = ranPlain === 0 && plain.run === 'complete' && plain.unseen.length > 0;
  if (ranPlain === 0 && !onlyEnded) return unknown('no test ran without it.');
  const without = `Without it, ${onlyEnded ? ENDED : `${testsText(ranPlain)} ran`}.`;
  if (changed.run === 'not begun')
    return asVerdict('unbuilt', `This change does not build, so no test ran with it. ${without}`);
  const difference = differenceOf(changed, plain);
  const noticed = [...difference.broken, ...difference.fixed];
  if (noticed.length > 0) return { verdict: 'noticed', noticed, text: noticedText(difference) };
  if (changed.run === 'ended early' && plain.run === 'complete')
    return asVerdict('noticed', 'Noticed: the test run ends early with this change, but not without it.');
  // Nothing was noticed. That counts only if some test could have noticed something.
  if (onlyEnded)
    return unknown(
      `with it and without it, ${ENDED}; a failure that is only printed or returned is not detected.`,
    );
  if (difference.ran.length === 0) return unknown(`no test ran with it. ${without}`);
  if (difference.badPlain.size === ranPlain) return unknown('no test passes without it.');
  return asVerdict('unnoticed', unnoticedText(difference));
}

/** Returns the text about a change that no test noticed, although some test passes without it. */
function unnoticedText({ ran, bad, badPlain, missing, of }: Difference): string {
  if (bad.size + badPlain.size + missing.length === 0) {
    const allPass = ran.length === 1 ? 'the only one passes' : `all ${ran.length} pass`;
    return `No test noticed this change: ${allPass}.`;
  }
  const missed = missedText(missing);
  const passed = `No test noticed this change: ${ran.length - bad.size} of ${of} pass with it`;
  return missed ? `${passed}.${missed}` : `${passed}, and no other passes without it.`;
}

function asVerdict(verdict: Verdict['verdict'], text: string): Verdict {
  return { verdict, noticed: [], text };
}

function unknown(why: string): Verdict {
  return asVerdict('unknown', `Not known whether a test notices this change: ${why}`);
}

/** The names of tests, by their results with the change and without it. */
interface Difference {
  /** The tests that ran with the change. */
  ran: string[];
  /** The tests that did not pass with the change. */
  bad: ReadonlySet<string>;
  /** The tests that did not pass without the change. */
  badPlain: ReadonlySet<string>;
  /** The tests that ran with and without the change, and failed only with it. */
  broken: string[];
  /** The tests that ran with and without the change, and failed only without it. */
  fixed: string[];
  /** The tests that passed without the change and did not run with it. */
  missing: string[];
  /** The number of all tests, as text such as '12 tests'. */
  of: string;
}

function differenceOf(changed: Side, plain: Side): Difference {
  const [ran, ranPlain] = [namesOf(changed.tests), namesOf(plain.tests)];
  const bad = new Set(namesOf(changed.tests.filter(hasNotPassed)));
  const badPlain = new Set(namesOf(plain.tests.filter(hasNotPassed)));
  const ranChanged = new Set(ran);
  const notRun = ranPlain.filter((test) => !ranChanged.has(test) && !badPlain.has(test));
  return {
    ran,
    bad,
    badPlain,
    broken: ranPlain.filter((test) => bad.has(test) && !badPlain.has(test)),
    fixed: ran.filter((test) => badPlain.has(test) && !bad.has(test)),
    // If the run ended early, the answer already says so.
    missing: changed.run === 'complete' ? notRun : [],
    of: testsText(new Set([...ran, ...ranPlain]).size),
  };
}

function noticedText({ broken, fixed, missing, of }: Difference): string {
  const sentences = [
    ...differingSentence(broken, of, FAIL, PASS),
    ...differingSentence(fixed, of, PASS, FAIL),
  ];
  return `Noticed: ${sentences.join(' ')}${missedText(missing)}`;
}

/** Returns a sentence about the tests MISSING, after a space; '' when there are none. */
function missedText(missing: readonly string[]): string {
  if (missing.length === 0) return '';
  return ` ${testsText(missing.length)} that ${PASS[missing.length === 1 ? 0 : 1]} without the change did not run with it: ${shownTests(missing)}.`;
}

/** Maximum number of names of tests in a sentence. */
const NAME_LIMIT = 10;

/** Verb forms, for one test and for several. */
const FAIL = ['fails', 'fail'] as const;
const PASS = ['passes', 'pass'] as const;
type Verb = typeof FAIL | typeof PASS;

/** Returns a list with a sentence about TESTS, such as "2 of 9 tests fail with this change and pass without it: ...";
 * [] when there are none. OF is a phrase for all tests, here "9 tests". NOW and BEFORE are the two verbs. */
function differingSentence(tests: readonly string[], of: string, now: Verb, before: Verb): string[] {
  if (tests.length === 0) return [];
  const form = tests.length === 1 ? 0 : 1;
  const names = shownTests(tests);
  return [`${tests.length} of ${of} ${now[form]} with this change and ${before[form]} without it: ${names}.`];
}

function shownTests(tests: readonly string[]): string {
  return fewOf(tests.map(shortNames(tests)), NAME_LIMIT);
}

/** VERDICT is `unnoticed`: no test noticed the change of COUNT files. If the image has not loaded some of these files,
 * returns VERDICT with a sentence about them. If it has loaded none of them, no test could see the change, so the
 * verdict becomes `unknown`. */
function withUnloaded(verdict: Verdict, { unloaded, originals }: Side, count: number): Verdict {
  if (unloaded.length === 0) return verdict;
  if (originals.length > 0)
    return unknown(
      `${listed(originals, ', ')} was loaded by an absolute path, so from the workspace and without the change. Load it by a path relative to its system or to the working directory.`,
    );
  const names = listed(unloaded, ', ');
  if (unloaded.length < count)
    return {
      ...verdict,
      text: `${verdict.text} Nothing loaded ${names}, so the change there had no effect.`,
    };
  const [them, their] = count === 1 ? ['it', 'its'] : ['them', 'their'];
  return unknown(`nothing loaded ${names}. Load ${them} first, or give ${their} system.`);
}

function testsText(count: number): string {
  return count === 1 ? '1 test' : `${count} tests`;
}

function namesOf(tests: readonly TestOutcome[]): string[] {
  return [...new Set(tests.map(({ test }) => test))];
}
