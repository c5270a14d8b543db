// Runs tests with edits that hold for this run alone: in a copy of the workspace, in a fresh image. The answer
// says whether a test notices the change.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { realPathOf } from '../../files/answering.ts';
import { copyRoot, type RootCopy } from '../../files/copy.ts';
import type { Ending } from '../../image/wire/endings.ts';
import type { Reason } from '../../image/wire/operations.ts';
import { toResult } from '../../kernel/outcome.ts';
import { fewOf, joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { editsOf } from '../definitions/edits.ts';
import { planEdits } from '../definitions/plan.ts';
import {
  type FreshCall,
  freshInventory,
  givenSteps,
  listed,
  loadSteps,
  starterOf,
  stepsIn,
} from '../fresh-call.ts';
import { shortNames } from './failures.ts';
import { hasNotPassed } from './memory.ts';
import type { TestOutcome } from './results.ts';

/** What came of the tests in one copy of the workspace. */
interface Side {
  result: Result;
  tests: readonly TestOutcome[];
  /** True when the run ended normally; undefined when there was none, because a load failed. */
  isDone: boolean | undefined;
  /** True when a human or the client ended the call. */
  isStopped: boolean;
  /** The files with new content that the image has not loaded. */
  unloaded: string[];
}

/** Says whether a test noticed the change. */
interface Verdict {
  verdict: 'noticed' | 'unnoticed' | 'unbuilt' | 'unknown';
  noticed: string[];
  text: string;
}

/** Makes CALL of run_tests with its edits in a copy of the workspace. When not all tests pass there, makes it
 * in a copy without the edits too. Returns a result that says which tests notice the edits. */
export async function runWithEdits(call: FreshCall, edits: readonly unknown[]): Promise<Result> {
  const { running, context } = call;
  starterOf(running);
  const [root = running.places.root] = running.workspace.rootFolders();
  const { files } = await planEdits(running, editsOf(edits), undefined, context);
  const contents = new Map(files.map(({ real, bytes }) => [real, bytes]));
  const copy = { root, contents, signal: context.signal };
  const changed = await runInCopy(call, 'with', copy);
  const isPassed = changed.isDone === true && changed.tests.length > 0 && !changed.tests.some(hasNotPassed);
  const isEnough = isPassed || changed.isStopped;
  const plain = isEnough ? undefined : await runInCopy(call, 'without', { ...copy, contents: new Map() });
  const verdict = checkedVerdict(verdictOn(changed, plain), changed, contents.size);
  const whose = running.image.isAttached ? " of live-lisp, not the user's" : '';
  const names = listed(
    files.map(({ name }) => name),
    ', ',
  );
  const isPlainShown = plain !== undefined && plain.tests.length === 0;
  return {
    data: {
      ...(changed.result.data as object),
      change: verdict.verdict,
      noticed: verdict.noticed,
      ...(plain && { without: plain.result.data }),
    },
    text: joinSections([
      verdict.text,
      `With the change of ${names}, in a fresh image${whose}:\n${changed.result.text}`,
      isPlainShown && `Without it:\n${plain.result.text}`,
    ]),
    failed: verdict.verdict === 'unbuilt' || verdict.verdict === 'unknown',
  };
}

/** The reasons of interruptions that end the whole call. */
const STOPS: readonly Reason[] = ['cancelled', 'interrupt', 'ending'];

/** Makes CALL in a fresh image with a copy of the workspace below its folder, named NAME. */
async function runInCopy(call: FreshCall, name: string, copy: Omit<RootCopy, 'target'>): Promise<Side> {
  const { running, context, adapter, args } = call;
  const { root, contents } = copy;
  const folder = join(call.folder, name);
  await mkdir(join(folder, 'files'), { recursive: true });
  const target = await realPathOf(join(folder, 'files'));
  await copyRoot(running.workspace, { ...copy, target });
  const steps = stepsIn(await givenSteps(call), root, target);
  const inRoot = (text: string) => text.replaceAll(target, root);
  return starterOf(running)(
    folder,
    async (fresh) => {
      const loads = await loadSteps({ ...call, folder }, fresh, steps, false);
      const failed = loads.find((load) => load.failed);
      const result = failed ?? toResult(await adapter.over(fresh).handler(args, context));
      const { results = [], verdict, ending } = result.data as RunData;
      const ran = failed || verdict === undefined ? undefined : ending?.kind === 'done';
      const inventory = await freshInventory(call, fresh, [target]);
      const isLoaded = (file: string) =>
        inventory === undefined || inventory.files?.map(inRoot).includes(file);
      const unloaded = [...contents.keys()].filter((file) => !isLoaded(file));
      return {
        result: { ...result, text: inRoot(result.text) },
        tests: results,
        isDone: ran,
        isStopped: ending?.kind === 'interrupted' && STOPS.includes(ending.reason),
        unloaded: unloaded.map((file) => running.places.fileName(file)),
      };
    },
    target,
  );
}

/** The data of a result of run_tests, so far as they tell of a change. */
interface RunData {
  results?: readonly TestOutcome[];
  verdict?: string;
  ending?: Ending;
}

/** Maximum number of names of tests. */
const NAMES = 10;

/** Returns the verdict on CHANGED by PLAIN, the same without the change. PLAIN is undefined when all tests
 * passed with it. */
function verdictOn(changed: Side, plain: Side | undefined): Verdict {
  const all = namesOf(changed.tests);
  const as = (verdict: Verdict['verdict'], text: string): Verdict => ({ verdict, noticed: [], text });
  if (changed.isStopped || plain?.isStopped)
    return as('unknown', 'Not known whether a test notices this change: the call was interrupted.');
  if (plain === undefined)
    return as(
      'unnoticed',
      `No test noticed this change: ${all.length === 1 ? 'the only one passes' : `all ${all.length} pass`}.`,
    );
  const ran = namesOf(plain.tests);
  if (ran.length === 0)
    return as('unknown', 'Not known whether a test notices this change: no test ran without it either.');
  const without = `Without it, ${testsText(ran.length)} ran.`;
  if (changed.isDone === undefined)
    return as('unbuilt', `This change does not build, so no test ran with it. ${without}`);
  const bad = namesOf(changed.tests.filter(hasNotPassed));
  const failsPlain = new Set(namesOf(plain.tests.filter(hasNotPassed)));
  const noticed = bad.filter((test) => ran.includes(test) && !failsPlain.has(test));
  const of = testsText(new Set([...all, ...ran]).size);
  if (noticed.length > 0) {
    const [fail, pass] = noticed.length === 1 ? ['fails', 'passes'] : ['fail', 'pass'];
    const names = fewOf(noticed.map(shortNames(noticed)), NAMES);
    const text = `Noticed: ${noticed.length} of ${of} ${fail} with this change and ${pass} without it: ${names}.`;
    return { verdict: 'noticed', noticed, text };
  }
  if (!changed.isDone && plain.isDone)
    return as(
      'noticed',
      'Noticed: with this change the run of the tests ends early, and without it it does not.',
    );
  if (all.length === 0)
    return as('unknown', `Not known whether a test notices this change: no test ran with it. ${without}`);
  const passed = all.length - bad.length;
  return as(
    'unnoticed',
    `No test noticed this change: ${passed} of ${of} pass with it, and no other passes without it.`,
  );
}

/** Returns VERDICT, that no test noticed the change of COUNT files, with a sentence on those that the image of
 * SIDE has not loaded. Returns every other verdict as it is. */
function checkedVerdict(verdict: Verdict, { unloaded }: Side, count: number): Verdict {
  if (verdict.verdict !== 'unnoticed' || unloaded.length === 0) return verdict;
  const names = listed(unloaded, ', ');
  if (unloaded.length < count)
    return {
      ...verdict,
      text: `${verdict.text} Nothing loaded ${names}, so the change there had no effect.`,
    };
  const [them, their] = count === 1 ? ['it', 'its'] : ['them', 'their'];
  const text = `Not known whether a test notices this change: nothing loaded ${names}. Load ${them} first, or give ${their} system.`;
  return { ...verdict, verdict: 'unknown', text };
}

function testsText(count: number): string {
  return count === 1 ? '1 test' : `${count} tests`;
}

function namesOf(tests: readonly TestOutcome[]): string[] {
  return [...new Set(tests.map(({ test }) => test))];
}
