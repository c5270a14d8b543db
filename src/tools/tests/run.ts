// Runs tests in one round. When some tests end the image or do not finish, runs the others in further rounds.

import type { Reply } from '../../image/wire/call.ts';
import type { Ending } from '../../image/wire/endings.ts';
import type { CoverageData, Operations, TestRunData } from '../../image/wire/operations.ts';
import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import { callOptions, limitOption } from '../calling.ts';
import { errorOptions, heldResultOr } from '../debug/hold.ts';
import { isLookupFailure, lookupResult } from '../lookup.ts';
import { recordedOf } from './coverage.ts';
import type { TestDependencies } from './dependencies.ts';
import { prepare } from './preparation.ts';
import { summedUp } from './repeated.ts';
import { outcomesOf, type TestOutcome } from './results.ts';
import { formerTests, type How, reportResult, type TestSelection } from './run-result.ts';
import { formerLines, unsetTexts } from './run-text.ts';
import { nameResult, noTestsResult, nothingReached } from './without-results.ts';

/** What follows a round, one request to the image to run tests. 'load all': the requested tests were not found,
 * perhaps because their system is not loaded. So all systems are loaded, and the round is repeated. 'next run': a run
 * is complete, and `repeat` asks for another. 'next round': a test did not finish or the image was lost, and `isolate`
 * asks for the others. */
type Step = 'load all' | 'next run' | 'next round';

/** A call of run_tests. */
export class Run {
  readonly #dependencies: TestDependencies;
  readonly #how: How;
  readonly #asked: TestSelection;
  /** The text about the loads before the run. */
  #loadNotes: string;
  /** The outcomes of the earlier runs, if the tests are repeated. */
  readonly #runs: TestOutcome[][] = [];
  /** The outcomes of the earlier rounds of this run. */
  readonly #outcomes: TestOutcome[] = [];
  readonly #coverage: CoverageData[] = [];
  /** For each image that was lost between two tests: `text` reports the loss, `later` says where the later tests ran,
   * and `ran` is the number of outcomes before the loss. */
  readonly #losses: { text: string; later: string; ran: number }[] = [];
  /** Tests that have no coverage, because the image in which they ran was lost. Used only if coverage is measured. */
  readonly #unmeasured: string[] = [];
  #milliseconds = 0;
  #loadedAll = false;

  constructor(dependencies: TestDependencies, how: How, asked: TestSelection, loadNotes: string) {
    this.#dependencies = dependencies;
    this.#how = how;
    this.#asked = asked;
    this.#loadNotes = loadNotes;
  }

  /** Runs the tests in rounds and returns the result. */
  async perform(context: CallContext): Promise<Result> {
    const { holds, places } = this.#dependencies;
    for (;;) {
      const args = this.#roundArguments();
      const reply = await this.#round(args, context);
      const step = this.#stepAfter(reply, context);
      if (step === 'result')
        // If an error is held, the function that makes the result runs only when the held call has ended.
        return heldResultOr(reply, { name: 'test-run', args, holds, places }, (ended) =>
          this.#result(ended, reply.data.held !== undefined, context.earlierAnswers),
        );
      const failed = await this.#take(step, reply, context);
      if (failed !== undefined) return failed;
    }
  }

  #roundArguments(): Operations['test-run']['args'] {
    const { touching, ...asked } = this.#asked;
    const skip = this.#outcomes.map(({ test }) => test);
    return {
      ...asked,
      // Each run has its own seed. `frequencyText` in repeated.ts tells that of a run that failed.
      ...(asked.seed !== undefined && { seed: asked.seed + this.#runs.length }),
      ...(touching && { others: true }),
      ...(skip.length > 0 && { skip }),
      ...errorOptions(this.#how, this.#dependencies.holds),
    };
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

  /** Returns the time limit of a round. If `isolate` is true, each round has the whole timeout of the call. Otherwise
   * this is the part of the timeout that the earlier runs did not use. */
  #limit(): { limitMs?: number } {
    const { limitMs } = limitOption(this.#how);
    if (limitMs === undefined || this.#how.isolate) return limitOption(this.#how);
    return { limitMs: limitMs - this.#milliseconds };
  }

  #stepAfter(reply: Reply<'test-run'>, { signal }: CallContext): Step | 'result' {
    const { data, ending } = reply;
    const isUnknown =
      data.value !== undefined && (isLookupFailure(data.value) || data.value.missing !== undefined);
    if (isUnknown && !this.#loadedAll && this.#how.system === undefined) return 'load all';
    if (signal?.aborted) return 'result';
    if (ending.kind === 'done') return this.#isRepeated(data) ? 'next run' : 'result';
    return this.#hasRemaining(reply) ? 'next round' : 'result';
  }

  #isRepeated({ tests = [] }: TestRunData): boolean {
    const { repeat = 1 } = this.#how;
    const { limitMs: remainingMs = Number.POSITIVE_INFINITY } = this.#limit();
    const isEmpty = tests.length + this.#outcomes.length === 0;
    return !isEmpty && this.#runs.length + 1 < repeat && remainingMs > 0;
  }

  /** Returns true when the remaining tests must run in a next round. This needs the option `isolate`. Also, a test that
   * was left early or the loss of the image must have ended this round, and the round must have a new outcome. */
  #hasRemaining({ data, ending }: Reply<'test-run'>): boolean {
    if (!this.#how.isolate || data.held) return false;
    const known = new Set(this.#outcomes.map(({ test }) => test));
    const lost = ending.kind === 'lost';
    return outcomesOf(data, ending).some(({ test, left }) => (left || lost) && !known.has(test));
  }

  /** REPLY is the reply of the last round. Records what it tells, and does the loads that must come before the next
   * round; STEP says what that round is for. Returns a result when a load failed. */
  async #take(step: Step, reply: Reply<'test-run'>, context: CallContext): Promise<Result | undefined> {
    const { data, ending } = reply;
    const outcomes = outcomesOf(data, ending);
    if (step === 'load all') {
      this.#loadedAll = true;
      const prepared = await prepare(this.#dependencies, {}, context);
      if ('failed' in prepared) return prepared.failed;
      this.#loadNotes = joinSections([this.#loadNotes, prepared.loadNotes]);
      return undefined;
    }
    this.#keepReached(reply);
    if (step === 'next run') {
      this.#runs.push([...this.#outcomes.splice(0), ...outcomes]);
      return undefined;
    }
    this.#outcomes.push(...withoutCallers(outcomes));
    if (ending.kind !== 'lost') return undefined;
    this.#noteLoss(outcomes, ending);
    // Chosen tests need only the systems that were loaded before, as in run-tests.ts.
    const wanted = { system: this.#how.system, known: this.#asked.systems === undefined };
    const prepared = await prepare(this.#dependencies, wanted, context);
    return 'failed' in prepared ? prepared.failed : undefined;
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

  /** Records the loss of the image after a round with OUTCOMES, when it was lost between two tests. #outcomes has these
   * OUTCOMES already. */
  #noteLoss(outcomes: readonly TestOutcome[], ending: Extract<Ending, { kind: 'lost' }>): void {
    const behind = outcomes.at(-1)?.test;
    if (outcomes.some(({ left }) => left) || behind === undefined) return;
    const [what, later] = ending.attached
      ? ['the connection to the image', 'The other tests ran after reconnecting.']
      : ['the image', 'The other tests ran in a new image.'];
    this.#losses.push({
      text: `After ${behind} ${what} was lost: ${ending.how}.`,
      later,
      ran: this.#runs.flat().length + this.#outcomes.length,
    });
  }

  /** Returns the result of the run. REPLY is the reply of the last round. HELD is true when an error was held in the
   * run. */
  #result(reply: Reply<'test-run'>, held: boolean, earlierAnswers?: EarlierAnswers): Result {
    const { data, ending } = reply;
    const { value, gone = [] } = data;
    if (value !== undefined) {
      const unfound = isLookupFailure(value) ? { ...lookupResult(value), failed: true } : nameResult(value);
      return { ...unfound, text: joinSections([unfound.text, this.#loadNotes]) };
    }
    const last = [...this.#outcomes, ...outcomesOf(data, ending)];
    // When complete runs came before, a test that the timeout interrupts has not failed.
    const isCut = this.#runs.length > 0 && ending.kind === 'interrupted' && ending.reason === 'timeout';
    const runs = [...this.#runs, isCut ? last.filter(({ left }) => !left) : last];
    const tests = summedUp(runs);
    const { places, reached } = this.#dependencies;
    const { touching } = this.#asked;
    const unrecorded = (data.others ?? []).filter((test) => !reached.has(test));
    const unsetNotes = unsetTexts(data.unset ?? [], data.unsetTotal, earlierAnswers);
    if (tests.length > 0) {
      // Adds to #coverage and #unmeasured.
      this.#keepReached(reply);
      const total = runs.flat().length;
      return reportResult(this.#dependencies, {
        what: this.#what(),
        how: this.#how,
        asked: this.#asked,
        loadNotes: this.#loadNotes,
        tests,
        data,
        ending,
        held,
        madeRuns: this.#runs.length + (ending.kind === 'done' ? 1 : 0),
        cut: isCut ? last.flatMap(({ test, left }) => (left ? test : [])) : [],
        losses: this.#losses.map(({ text, later, ran }) => (total > ran ? `${text} ${later}` : text)),
        unrecorded,
        unsetNotes,
        coverage: this.#coverage,
        unmeasured: this.#unmeasured,
        milliseconds: this.#milliseconds,
      });
    }
    if (touching && ending.kind === 'done') return nothingReached(touching.name, gone, unrecorded);
    const { lines, which } = unsetNotes;
    const unset = lines || (which && `With ${which}.`);
    const loadNotes = [formerLines(formerTests(data, places)), unset, this.#loadNotes];
    return noTestsResult(this.#what(), reply, joinSections(loadNotes), places);
  }

  #what(): string {
    const { systems, name, package: home, touching } = this.#asked;
    const again = touching === undefined ? 'Tests that failed before' : `Tests that reach ${touching.name}`;
    const what = systems?.join(', ') ?? name ?? home ?? again;
    return this.#runs.length === 0 ? what : `${what}, ${this.#runs.length + 1} runs`;
  }
}

/** Returns TESTS without those that did not finish because they called a test that did not finish. They run again in
 * the next round, without the called test. */
function withoutCallers(tests: readonly TestOutcome[]): TestOutcome[] {
  const innermost = tests.findLastIndex(({ left }) => left);
  return tests.filter(({ left }, index) => !left || index === innermost);
}
