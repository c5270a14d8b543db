// Runs tests in one round. When some tests end the image or do not finish, runs the others in further rounds.

import type { Reply } from '../../image/wire/call.ts';
import type { Ending } from '../../image/wire/endings.ts';
import type { CoverageData, Operations } from '../../image/wire/operations.ts';
import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import { callOptions, limitOption } from '../calling.ts';
import { errorOptions, heldResultOr } from '../debug/hold.ts';
import { isLookupFailure, lookupResult } from '../lookup.ts';
import { coverageOf, coverageText, lostLine, mergedCoverage, recordedOf } from './coverage.ts';
import type { TestDependencies } from './dependencies.ts';
import { shortNames } from './failures.ts';
import { hasNotPassed } from './memory.ts';
import { prepare } from './preparation.ts';
import { shortfallText, summedUp } from './repeated.ts';
import { outcomesOf, type TestOutcome } from './results.ts';
import {
  countsOf,
  type FormerTest,
  formerLines,
  runText,
  type TestRunReport,
  type UnsetTexts,
  uncheckedOf,
  unsetTexts,
} from './run-text.ts';
import { nameResult, needsText, noTestsResult, nothingReached } from './without-results.ts';

/** The tests that run: those of the whole `systems`, the test or suite `name`, the tests `again`, or those of a
 * `package`. `seed` makes the sequence of random numbers repeatable. */
export interface TestSelection {
  systems?: string[];
  name?: string;
  again?: string[];
  /** Set when `again` has the tests that reached the definition `name`. `changed` are those tests in `again` that
   * reached other definitions, which have changed. */
  touching?: { name: string; changed: string[] };
  package?: string;
  seed?: number;
}

/** Those arguments of run_tests that say how the tests run. */
interface How {
  readonly system?: string;
  readonly isolate?: boolean;
  readonly coverage?: boolean;
  readonly limit?: number;
  readonly timeout?: number;
  readonly repeat?: number;
  readonly on_error?: 'end' | 'hold';
}

/** A call of run_tests. */
export class Run {
  readonly #dependencies: TestDependencies;
  readonly #how: How;
  readonly #asked: TestSelection;
  /** The text about the loads before the run. */
  readonly #loadNotes: string;
  /** If the tests are repeated: the outcomes of the earlier runs. */
  readonly #runs: TestOutcome[][] = [];
  /** The outcomes of the earlier rounds of this run. */
  readonly #outcomes: TestOutcome[] = [];
  readonly #coverage: CoverageData[] = [];
  /** For each image that was lost between two tests: sentences about the loss, and the number of outcomes before it. */
  readonly #losses: { text: string; later: string; ran: number }[] = [];
  /** Tests that have no coverage, because the image in which they ran was lost. */
  readonly #unmeasured: string[] = [];
  #milliseconds = 0;
  #loadedAll = false;

  constructor(dependencies: TestDependencies, how: How, asked: TestSelection, loadNotes: string) {
    this.#dependencies = dependencies;
    this.#how = how;
    this.#asked = asked;
    this.#loadNotes = loadNotes;
  }

  /** Runs the tests in rounds, and returns the result. If a round does not find the test that the call names, loads all
   * systems and repeats the round once. With `isolate`, a test that does not finish is followed by a round with the
   * remaining tests. With `repeat`, makes this number of runs, unless the timeout ends them. */
  async perform(context: CallContext): Promise<Result> {
    const { holds, places } = this.#dependencies;
    for (;;) {
      const skip = this.#outcomes.map(({ test }) => test);
      const { touching, ...asked } = this.#asked;
      const args = {
        ...asked,
        ...(asked.seed !== undefined && { seed: asked.seed + this.#runs.length }),
        ...(touching && { others: true }),
        ...(skip.length > 0 && { skip }),
        ...errorOptions(this.#how, holds),
      };
      const reply = await this.#round(args, context);
      if (reply.data.value !== undefined && !this.#loadedAll && this.#how.system === undefined) {
        this.#loadedAll = true;
        const prepared = await prepare(this.#dependencies, {}, context);
        if ('failed' in prepared) return prepared.failed;
        continue;
      }
      if (this.#isRepeated(reply, context)) {
        this.#runs.push([...this.#outcomes.splice(0), ...outcomesOf(reply.data, reply.ending)]);
        this.#keepReached(reply);
        continue;
      }
      if (!this.#goesOn(reply, context)) {
        const held = reply.data.held !== undefined;
        return heldResultOr(reply, { name: 'test-run', args, holds, places }, (ended) =>
          this.#result(ended, held, context.earlierAnswers),
        );
      }
      this.#outcomes.push(...withoutCallers(outcomesOf(reply.data, reply.ending)));
      this.#keepReached(reply);
      if (reply.ending.kind === 'lost') {
        this.#noteLoss(reply.data, reply.ending);
        const known = this.#asked.systems === undefined;
        const prepared = await prepare(this.#dependencies, { system: this.#how.system, known }, context);
        if ('failed' in prepared) return prepared.failed;
      }
    }
  }

  async #round(args: Operations['test-run']['args'], context: CallContext): Promise<Reply<'test-run'>> {
    const { image, places } = this.#dependencies;
    const options = { ...callOptions(context), ...this.#limit() };
    const root = `${places.root}/`;
    const began = performance.now();
    const reply = this.#how.coverage
      ? await withTemporaryFolder((folder) => image.call('test-run', { ...args, root, folder }, options))
      : await image.call('test-run', { ...args, root }, options);
    this.#milliseconds += performance.now() - began;
    return reply;
  }

  /** Returns the time limit of a round. Without `isolate`, it is the rest of the timeout after the earlier runs. */
  #limit(): { limitMs?: number } {
    const { limitMs } = limitOption(this.#how);
    if (limitMs === undefined || this.#how.isolate) return limitOption(this.#how);
    return { limitMs: limitMs - this.#milliseconds };
  }

  #isRepeated({ data: { tests = [] }, ending }: Reply<'test-run'>, { signal }: CallContext): boolean {
    const { repeat = 1 } = this.#how;
    if (ending.kind !== 'done' || tests.length + this.#outcomes.length === 0 || signal?.aborted) return false;
    return this.#runs.length + 1 < repeat && (this.#limit().limitMs ?? 1) > 0;
  }

  /** Records the coverage of a round, and the definitions that each test reached. If the round has no coverage, records
   * its tests as unmeasured. */
  #keepReached({ data, ending }: Reply<'test-run'>): void {
    const { coverage, tests = [] } = data;
    if (coverage === undefined) {
      this.#unmeasured.push(...outcomesOf(data, ending).map(({ test }) => test));
      return;
    }
    this.#coverage.push(coverage);
    const { places, reached } = this.#dependencies;
    reached.keep(recordedOf(coverage, places), tests);
  }

  /** Records that the image was lost, if this happened between two tests. */
  #noteLoss(data: Reply<'test-run'>['data'], ending: Extract<Ending, { kind: 'lost' }>): void {
    const tests = outcomesOf(data, ending);
    const behind = tests.at(-1)?.test;
    if (tests.some(({ left }) => left) || behind === undefined) return;
    const [what, later] = ending.attached
      ? ['the connection to the image', 'The others ran when it was there again.']
      : ['the image', 'The others ran in a new one.'];
    this.#losses.push({
      text: `After ${behind} ${what} was lost: ${ending.how}.`,
      later,
      ran: this.#runs.flat().length + this.#outcomes.length,
    });
  }

  /** Returns true when another round must follow. This is so only with `isolate`, when a test or the loss of the image
   * ended the round early, and when the round gave a new outcome. */
  #goesOn({ data, ending }: Reply<'test-run'>, { signal }: CallContext): boolean {
    if (!this.#how.isolate || ending.kind === 'done' || signal?.aborted || data.held) return false;
    const known = new Set(this.#outcomes.map(({ test }) => test));
    const lost = ending.kind === 'lost';
    return outcomesOf(data, ending).some(({ test, left }) => (left || lost) && !known.has(test));
  }

  /** Returns the result of the run. REPLY is the reply of the last round. HELD is true when an error was held in the
   * run. */
  #result(reply: Reply<'test-run'>, held: boolean, earlierAnswers?: EarlierAnswers): Result {
    const { data, ending } = reply;
    const { value, gone = [] } = data;
    if (value && isLookupFailure(value)) return { ...lookupResult(value), failed: true };
    if (value !== undefined) return nameResult(value);
    const last = [...this.#outcomes, ...outcomesOf(data, ending)];
    // When complete runs came before, a test that the timeout interrupts has not failed.
    const isCut = this.#runs.length > 0 && ending.kind === 'interrupted' && ending.reason === 'timeout';
    const runs = [...this.#runs, isCut ? last.filter(({ left }) => !left) : last];
    const tests = summedUp(runs);
    const { places, reached } = this.#dependencies;
    const { touching } = this.#asked;
    const unrecorded = (data.others ?? []).filter((test) => !reached.has(test));
    const unset = unsetTexts(data.unset ?? [], data.unsetTotal, earlierAnswers);
    if (tests.length > 0)
      return this.#reportResult(reply, tests, {
        unrecorded,
        held,
        unset,
        total: runs.flat().length,
        shortfall: this.#shortfall(ending, isCut ? last.filter(({ left }) => left) : []),
      });
    if (touching && ending.kind === 'done') return nothingReached(touching.name, gone, unrecorded);
    const unsetNotes = unset.lines || (unset.which && `With ${unset.which}.`);
    const loadNotes = [formerLines(this.#former(data)), unsetNotes, this.#loadNotes];
    return noTestsResult(this.#what(), reply, joinSections(loadNotes), places);
  }

  /** Returns a sentence about the runs that were not made; '' when all were made. CUT are the tests that the timeout
   * interrupted in the last run. */
  #shortfall(ending: Ending, cut: readonly TestOutcome[]): string {
    const { repeat: asked = 1, timeout } = this.#how;
    const isDone = ending.kind === 'done';
    const names = cut.map(({ test }) => test);
    return shortfallText({
      made: this.#runs.length + (isDone ? 1 : 0),
      asked,
      timeout: isDone || cut.length > 0 ? timeout : undefined,
      cut: names.map(shortNames(names)),
    });
  }

  #former({ former = [] }: Reply<'test-run'>['data']): FormerTest[] {
    return former.map(({ test, file }) => ({ test, file: this.#dependencies.places.fileName(file) }));
  }

  /** Returns the result of a run with the outcomes TESTS. REPLY is the reply of the last round. `unrecorded` are tests
   * that did not run, and whose coverage is not recorded. `total` is the number of outcomes in all runs. */
  #reportResult(
    reply: Reply<'test-run'>,
    tests: readonly TestOutcome[],
    {
      unrecorded,
      held,
      unset: unsetNotes,
      total,
      shortfall,
    }: {
      unrecorded: readonly string[];
      held: boolean;
      unset: UnsetTexts;
      total: number;
      shortfall: string;
    },
  ): Result {
    const { data, ending } = reply;
    const { places, memory, keepRun } = this.#dependencies;
    const { systems = [], touching } = this.#asked;
    const { gone = [], unseen = [], stale = [], unset = [], needs = [] } = data;
    const former = this.#former(data);
    const difference = memory.keep(tests, ending.kind === 'done' ? systems : []);
    keepRun?.({
      what: this.#what(),
      milliseconds: this.#milliseconds,
      tests: tests.map((test) => ({ test: test.test, passed: !hasNotPassed(test) })),
    });
    this.#keepReached(reply);
    const covered = this.#covered();
    const report: TestRunReport = {
      what: this.#what(),
      tests,
      difference,
      when: memory.when,
      gone,
      former,
      unseen,
      stale: stale.map((file) => places.fileName(file)),
      unset,
      unsetNotes,
      ending,
      loadNotes: this.#loadNotes,
      milliseconds: this.#milliseconds,
      changed: touching?.changed ?? [],
      unrecorded,
      losses: this.#losses.map(({ text, later, ran }) => (total > ran ? `${text} ${later}` : text)),
      shortfall,
      seed: this.#asked.seed,
      behind: this.#behind(tests, reply, held),
    };
    const text = runText(report, { limit: this.#how.limit ?? DEFAULT_LIMIT, places });
    const verdict = this.#verdict(report, covered?.data);
    return {
      ...verdict,
      text: joinSections([text, needsText(needs, places), covered?.text]),
      failed: verdict.failed || needs.length > 0,
    };
  }

  /** Returns the data of the result, and whether the run failed. */
  #verdict(
    { tests, difference, former, unseen, stale, unset, ending, changed, unrecorded, losses }: TestRunReport,
    coverage: object | undefined,
  ): Pick<Result, 'data' | 'failed'> {
    const counts = countsOf(tests);
    const failed = counts.failedTests > 0 || losses.length > 0 || ending.kind !== 'done';
    const data = {
      verdict: failed ? 'fail' : unseen.length > 0 ? 'unknown' : 'pass',
      ...counts,
      ...difference,
      results: tests.map(({ reached: _, ...result }) => result),
      unchecked: uncheckedOf(tests),
      former,
      unseen,
      stale,
      unset,
      ...(this.#asked.touching && { changed, unrecorded }),
      ...(this.#how.coverage && { coverage }),
      ending,
    };
    return { data, failed };
  }

  #covered(): { data?: object; text: string } | undefined {
    if (!this.#how.coverage) return undefined;
    if (this.#coverage.length === 0)
      return { text: 'Coverage is not known: the image was lost, and what the tests ran with it.' };
    const { places } = this.#dependencies;
    const coverage = coverageOf(mergedCoverage(this.#coverage), places);
    const text = [coverageText(coverage, this.#how.limit ?? DEFAULT_LIMIT), lostLine(this.#unmeasured)];
    return { data: { ...coverage, lost: this.#unmeasured }, text: text.filter(Boolean).join('\n') };
  }

  /** Returns a sentence about tests that may not have run, because one of TESTS did not finish; '' when there are
   * none. */
  #behind(tests: readonly TestOutcome[], { data, ending }: Reply<'test-run'>, held: boolean): string {
    const ran = new Set([...tests.map(({ test }) => test), ...(data.gone ?? [])]);
    const left = (this.#asked.again ?? []).filter((test) => !ran.has(test));
    const which = left.length > 0 ? ` Not run: ${left.slice(0, DEFAULT_LIMIT).join(', ')}.` : '';
    if (this.#asked.name !== undefined && tests.length === 1) return '';
    if (ending.kind === 'done') return `Tests after one that was left early may not have run.${which}`;
    if (!this.#how.isolate)
      return `The run ended there; with isolate: true it goes on with the others.${which}`;
    return held ? `The run ended there: once an error was held, isolate does not go on.${which}` : '';
  }

  #what(): string {
    const { systems, name, package: home, touching } = this.#asked;
    const again = touching === undefined ? 'Tests that failed before' : `Tests that reach ${touching.name}`;
    const what = systems?.join(', ') ?? name ?? home ?? again;
    return this.#runs.length === 0 ? what : `${what}, ${this.#runs.length + 1} runs`;
  }
}

/** Returns TESTS. If one of them did not finish, the tests that called it are left out. They did not finish either, so
 * they run again in the next round, without that test. */
function withoutCallers(tests: readonly TestOutcome[]): TestOutcome[] {
  const innermost = tests.findLastIndex(({ left }) => left);
  return tests.filter(({ left }, index) => !left || index === innermost);
}

/** Maximum number of failures that are shown by default. */
const DEFAULT_LIMIT = 20;
