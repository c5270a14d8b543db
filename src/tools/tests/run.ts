// Runs tests: in one round, or in several when some of them end the image or never end.

import type { Reply } from '../../image/wire/call.ts';
import type { Ending } from '../../image/wire/endings.ts';
import type { CoverageData, Operations } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { Told as ToldBefore } from '../../kernel/told.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import { callOptions, limitOption } from '../calling.ts';
import { errorOptions, heldResultOr } from '../debug/hold.ts';
import { isLookupFailure, lookupResult } from '../lookup.ts';
import { coverageOf, coverageText, lostLine, mergedCoverage, recordedOf } from './coverage.ts';
import type { TestDependencies } from './dependencies.ts';
import { shortNames } from './failures.ts';
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

/** What to run: the tests of whole SYSTEMS, the test or suite NAME, the tests named in AGAIN, or the tests of
 *  PACKAGE. SEED makes random numbers repeat. */
export interface TestSelection {
  systems?: string[];
  name?: string;
  again?: string[];
  /** Set when AGAIN has the tests that reached the definition NAME. CHANGED are further tests in AGAIN: these
   *  did not reach NAME, but other code that has changed since. */
  touching?: { name: string; changed: string[] };
  package?: string;
  seed?: number;
}

/** How to run the tests: arguments of run_tests. */
interface How {
  readonly system?: string;
  readonly isolate?: boolean;
  readonly coverage?: boolean;
  readonly limit?: number;
  readonly timeout?: number;
  readonly repeat?: number;
  readonly on_error?: 'end' | 'hold';
}

/** One call of run_tests. */
export class Run {
  readonly #dependencies: TestDependencies;
  readonly #how: How;
  readonly #asked: TestSelection;
  /** The text about the loads before the run. */
  readonly #said: string;
  /** Results of the earlier runs, when the tests are repeated. */
  readonly #runs: TestOutcome[][] = [];
  /** Results of the earlier rounds of this run. */
  readonly #outcomes: TestOutcome[] = [];
  readonly #coverage: CoverageData[] = [];
  /** For each image lost between two tests: a sentence, and the number of outcomes that were known then. */
  readonly #losses: { text: string; later: string; ran: number }[] = [];
  /** Tests that ran in an image that was lost, so that their coverage was lost too. */
  readonly #unmeasured: string[] = [];
  #milliseconds = 0;
  #loadedAll = false;

  constructor(dependencies: TestDependencies, how: How, asked: TestSelection, said: string) {
    this.#dependencies = dependencies;
    this.#how = how;
    this.#asked = asked;
    this.#said = said;
  }

  /** Runs the tests in rounds and returns the result. When a round does not find the requested name, and no
   *  system was given, the round is repeated once after all systems were loaded. With `isolate`, another
   *  round follows when a test did not end or the image was lost. That round skips the tests that already
   *  have an outcome. With `repeat` there are as many runs, unless the timeout ends them. */
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
          this.#result(ended, held, context.told),
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

  /** Returns the limit of a round: without `isolate`, what earlier runs have left of the timeout. */
  #limit(): { limitMs?: number } {
    const { limitMs } = limitOption(this.#how);
    if (limitMs === undefined || this.#how.isolate) return limitOption(this.#how);
    return { limitMs: limitMs - this.#milliseconds };
  }

  /** True when the tests run once more after the run that REPLY ended. */
  #isRepeated({ data: { tests = [] }, ending }: Reply<'test-run'>, { signal }: CallContext): boolean {
    const { repeat = 1 } = this.#how;
    if (ending.kind !== 'done' || tests.length + this.#outcomes.length === 0 || signal?.aborted) return false;
    return this.#runs.length + 1 < repeat && (this.#limit().limitMs ?? 1) > 0;
  }

  /** Records the coverage of a round, and which definitions its tests reached. Without coverage in DATA,
   *  notes that these tests were not measured. */
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

  /** Records the loss of the image, described by DATA and ENDING, if it was lost between two tests. */
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

  /** True when another round must follow the round that returned REPLY. This needs `isolate`, a round that
   *  ended early because of a test or a lost image, and a test whose outcome was not known before. */
  #goesOn({ data, ending }: Reply<'test-run'>, { signal }: CallContext): boolean {
    if (!this.#how.isolate || ending.kind === 'done' || signal?.aborted || data.held) return false;
    const known = new Set(this.#outcomes.map(({ test }) => test));
    const lost = ending.kind === 'lost';
    return outcomesOf(data, ending).some(({ test, left }) => (left || lost) && !known.has(test));
  }

  /** Returns the result of the run. REPLY is the reply of the last round. HELD is true when an error was held
   *  during the run. TOLD has what earlier answers said. */
  #result(reply: Reply<'test-run'>, held: boolean, told?: ToldBefore): Result {
    const { data, ending } = reply;
    const { value, gone = [] } = data;
    if (value && isLookupFailure(value)) return { ...lookupResult(value), failed: true };
    if (value !== undefined) return nameResult(value);
    const last = [...this.#outcomes, ...outcomesOf(data, ending)];
    // A test that the timeout ends after whole runs has not failed.
    const isCut = this.#runs.length > 0 && ending.kind === 'interrupted' && ending.reason === 'timeout';
    const runs = [...this.#runs, isCut ? last.filter(({ left }) => !left) : last];
    const tests = summedUp(runs);
    const { places, reached } = this.#dependencies;
    const { touching } = this.#asked;
    const unrecorded = (data.others ?? []).filter((test) => !reached.has(test));
    const unset = unsetTexts(data.unset ?? [], data.unsetTotal, told);
    if (tests.length > 0)
      return this.#toldResult(reply, tests, {
        unrecorded,
        held,
        unset,
        total: runs.flat().length,
        shortfall: this.#shortfall(ending, isCut ? last.filter(({ left }) => left) : []),
      });
    if (touching && ending.kind === 'done') return nothingReached(touching.name, gone, unrecorded);
    const unsetSaid = unset.lines || (unset.which && `With ${unset.which}.`);
    const said = [formerLines(this.#former(data)), unsetSaid, this.#said];
    return noTestsResult(this.#what(), reply, joinSections(said), places);
  }

  /** Returns the sentence on runs that were not made, when ENDING is that of the last one, and its timeout cut the tests
   *  CUT; '' when all were made. */
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

  /** Returns the tests in DATA that did not run because their files no longer have them. */
  #former({ former = [] }: Reply<'test-run'>['data']): FormerTest[] {
    return former.map(({ test, file }) => ({ test, file: this.#dependencies.places.fileName(file) }));
  }

  /** Returns the result of a run in which TESTS ran. REPLY is the reply of the last round. UNRECORDED are the
   *  names of tests that did not run and have no recorded coverage. HELD is true when an error was held
   *  during the run. UNSET says which variables were not set again. TOTAL is the number of outcomes in all
   *  runs, SHORTFALL the sentence on runs that were not made. */
  #toldResult(
    reply: Reply<'test-run'>,
    tests: readonly TestOutcome[],
    {
      unrecorded,
      held,
      unset: unsetSaid,
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
    const { places, memory } = this.#dependencies;
    const { systems = [], touching } = this.#asked;
    const { gone = [], unseen = [], stale = [], unset = [], needs = [] } = data;
    const former = this.#former(data);
    const difference = memory.keep(tests, ending.kind === 'done' ? systems : []);
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
      unsetSaid,
      ending,
      said: this.#said,
      milliseconds: this.#milliseconds,
      changed: touching?.changed ?? [],
      unrecorded,
      losses: this.#losses.map(({ text, later, ran }) => (total > ran ? `${text} ${later}` : text)),
      shortfall,
      seed: this.#asked.seed,
      behind: this.#behind(tests, reply, held),
    };
    const text = runText(report, { limit: this.#how.limit ?? LIMIT, places });
    const verdict = this.#verdict(report, covered?.data);
    return {
      ...verdict,
      text: joinSections([text, needsText(needs, places), covered?.text]),
      failed: verdict.failed || needs.length > 0,
    };
  }

  /** Returns whether the run failed, and the data of the result, COVERAGE included. */
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

  /** Returns the coverage of the run, if the call requested it. */
  #covered(): { data?: object; text: string } | undefined {
    if (!this.#how.coverage) return undefined;
    if (this.#coverage.length === 0)
      return { text: 'Coverage is not known: the image was lost, and what the tests ran with it.' };
    const { places } = this.#dependencies;
    const coverage = coverageOf(mergedCoverage(this.#coverage), places);
    const text = [coverageText(coverage, this.#how.limit ?? LIMIT), lostLine(this.#unmeasured)];
    return { data: { ...coverage, lost: this.#unmeasured }, text: text.filter(Boolean).join('\n') };
  }

  /** Returns the sentence that says which tests may not have run when one of TESTS did not finish; '' when
   *  there is nothing to say. REPLY and HELD are as in #result. */
  #behind(tests: readonly TestOutcome[], { data, ending }: Reply<'test-run'>, held: boolean): string {
    const ran = new Set([...tests.map(({ test }) => test), ...(data.gone ?? [])]);
    const left = (this.#asked.again ?? []).filter((test) => !ran.has(test));
    const which = left.length > 0 ? ` Not run: ${left.slice(0, LIMIT).join(', ')}.` : '';
    if (this.#asked.name !== undefined && tests.length === 1) return '';
    if (ending.kind === 'done') return `Tests after one that was left early may not have run.${which}`;
    if (!this.#how.isolate)
      return `The run ended there; with isolate: true it goes on with the others.${which}`;
    return held ? `The run ended there: once an error was held, isolate does not go on.${which}` : '';
  }

  /** Returns a phrase for the tested things, the subject of the headline. */
  #what(): string {
    const { systems, name, package: home, touching } = this.#asked;
    const again = touching === undefined ? 'Tests that failed before' : `Tests that reach ${touching.name}`;
    const what = systems?.join(', ') ?? name ?? home ?? again;
    return this.#runs.length === 0 ? what : `${what}, ${this.#runs.length + 1} runs`;
  }
}

/** Returns TESTS without the callers of a test that did not finish. They did not finish either, and so must
 *  run again in the next round, which skips that test. */
function withoutCallers(tests: readonly TestOutcome[]): TestOutcome[] {
  const innermost = tests.findLastIndex(({ left }) => left);
  return tests.filter(({ left }, index) => !left || index === innermost);
}

/** At most this many failures are shown by default. */
const LIMIT = 20;
