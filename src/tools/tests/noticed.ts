// Runs tests after edits that only this run has: they are made in a copy of the workspace, which a fresh image loads. A
// second run without the edits shows which tests notice them.

import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { realPathOf } from '../../files/answering.ts';
import { copyRoot, type RootCopy } from '../../files/copy.ts';
import type { Ending } from '../../image/wire/endings.ts';
import type { LoadStep, Reason } from '../../image/wire/operations.ts';
import { toResult } from '../../kernel/outcome.ts';
import { fewOf, joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
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
import { isLispFile } from '../parentheses.ts';
import { shortNames } from './failures.ts';
import { hasNotPassed } from './memory.ts';
import type { TestOutcome } from './results.ts';

/** The result of the tests in one copy of the workspace. */
interface Side {
  result: Result;
  tests: readonly TestOutcome[];
  /** True when the run ended normally, false when it did not. Undefined when the tests did not run, because a load
   * failed. */
  isDone: boolean | undefined;
  /** True when a human or the client has ended the call. */
  isStopped: boolean;
  /** The Lisp files with new content that the image has not loaded. */
  unloaded: string[];
  /** Those of `unloaded` that the image has loaded from the workspace and not from the copy. */
  originals: string[];
  /** A digest of the state that the files of the workspace had when they were copied. */
  state: string;
  /** The loads before the tests. */
  steps: readonly LoadStep[];
}

/** The verdict on the edits, and the names of the tests that noticed them. */
interface Verdict {
  verdict: 'noticed' | 'unnoticed' | 'unbuilt' | 'unknown';
  noticed: string[];
  text: string;
}

/** The last run without edits in this session, and a key. Calls with the same key need the same run. */
export interface UneditedRun {
  last?: { key: string; side: Side };
}

const CHANGED_BETWEEN =
  'Files of the workspace changed between the two runs, so these had different files. Code that names the workspace by an absolute path still writes there.';

/** Makes CALL, of run_tests, in a copy of the workspace with its edits, and again in a copy without them. If UNEDITED
 * has the run without edits already, does not repeat it. Returns a result that says which tests notice the edits. */
export async function runWithEdits(
  call: FreshCall,
  edits: readonly unknown[],
  unedited: UneditedRun,
): Promise<Result> {
  const { running, context } = call;
  starterOf(running);
  const [root = running.places.root] = running.workspace.rootFolders();
  const { files } = await planEdits(running, editsOf(edits), undefined, context);
  const contents = new Map(files.map(({ real, bytes }) => [real, bytes]));
  const copy = { root, contents, signal: context.signal };
  const changed = await runInCopy(call, copy);
  const known = changed.isStopped ? undefined : knownRun(call, changed, unedited);
  const plain = changed.isStopped
    ? undefined
    : (known ?? (await runInCopy(call, { ...copy, contents: new Map() })));
  if (plain?.isDone) unedited.last = { key: keyOf(call, plain), side: plain };
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
      plain && plain.state !== changed.state && CHANGED_BETWEEN,
      known && 'The run without it is that of an earlier call, since no file of the workspace has changed.',
    ]),
    failed: verdict.verdict === 'unbuilt' || verdict.verdict === 'unknown',
  };
}

/** Returns the last run without edits, if CALL would give the same result without its edits; else undefined. CHANGED
 * has the state of the workspace. The last run is not used when the tests of CALL depend on earlier runs. It is not
 * used either when there are several roots, because the state is that of the first root only. */
function knownRun(call: FreshCall, changed: Side, { last }: UneditedRun): Side | undefined {
  const { failed, touching } = call.args;
  const isAlone = call.running.workspace.rootFolders().length === 1;
  const isRepeatable = isAlone && failed === undefined && touching === undefined;
  return isRepeatable && last?.key === keyOf(call, changed) ? last.side : undefined;
}

function keyOf({ args }: FreshCall, { state, steps }: Side): string {
  return JSON.stringify([args, steps, state]);
}

/** The reasons of interruptions that end the whole call. */
const STOPS: readonly Reason[] = ['cancelled', 'interrupt', 'ending'];

/** Makes CALL in a fresh image and a copy of the workspace. The copy is removed when the image has ended. */
function runInCopy(call: FreshCall, copy: Omit<RootCopy, 'target'>): Promise<Side> {
  return withTemporaryFolder((folder) => runIn(folder, call, copy));
}

/** Makes CALL in a fresh image and a copy of the workspace, which is made in FOLDER. */
async function runIn(folder: string, call: FreshCall, copy: Omit<RootCopy, 'target'>): Promise<Side> {
  const { running, context, adapter, args } = call;
  const { root, contents } = copy;
  const target = join(await realPathOf(folder), 'files');
  await mkdir(target);
  const state = await copyRoot(running.workspace, { ...copy, target });
  const given = await givenSteps(call);
  const steps = stepsIn(given, root, target);
  const inRoot = (text: string) => text.replaceAll(target, root);
  return starterOf(running)(
    folder,
    async (fresh) => {
      const loads = await loadSteps({ ...call, folder }, fresh, steps, false);
      const failed = loads.find((load) => load.failed);
      const result = failed ?? toResult(await adapter.over(fresh).handler(args, context));
      const { results = [], verdict, ending } = result.data as RunData;
      const ran = failed || verdict === undefined ? undefined : ending?.kind === 'done';
      const inventory = await freshInventory(call, fresh, [target, root]);
      const loaded = new Set(inventory?.files);
      const isUnloaded = (file: string) =>
        inventory !== undefined && isLispFile(file) && !loaded.has(join(target, relative(root, file)));
      const unloaded = [...contents.keys()].filter(isUnloaded);
      const nameOf = (file: string) => running.places.fileName(file);
      return {
        result: { ...result, text: inRoot(result.text) },
        tests: results,
        isDone: ran,
        isStopped: ending?.kind === 'interrupted' && STOPS.includes(ending.reason),
        unloaded: unloaded.map(nameOf),
        originals: unloaded.filter((file) => loaded.has(file)).map(nameOf),
        state,
        steps: given,
      };
    },
    target,
  );
}

/** The members of a result of run_tests that are needed to compare two runs. */
interface RunData {
  results?: readonly TestOutcome[];
  verdict?: string;
  ending?: Ending;
}

/** Maximum number of names of tests in a sentence. */
const NAME_LIMIT = 10;

/** Returns the verdict from CHANGED, the run with the edits, and PLAIN, the run without them. PLAIN is undefined when
 * the call was interrupted before this run. */
function verdictOn(changed: Side, plain: Side | undefined): Verdict {
  const all = namesOf(changed.tests);
  const as = (verdict: Verdict['verdict'], text: string): Verdict => ({ verdict, noticed: [], text });
  if (plain === undefined || plain.isStopped)
    return as('unknown', 'Not known whether a test notices this change: the call was interrupted.');
  const ran = namesOf(plain.tests);
  if (ran.length === 0)
    return as('unknown', 'Not known whether a test notices this change: no test ran without it either.');
  const without = `Without it, ${testsText(ran.length)} ran.`;
  if (changed.isDone === undefined)
    return as('unbuilt', `This change does not build, so no test ran with it. ${without}`);
  const bad = new Set(namesOf(changed.tests.filter(hasNotPassed)));
  const badPlain = new Set(namesOf(plain.tests.filter(hasNotPassed)));
  const ranChanged = new Set(all);
  const broken = ran.filter((test) => bad.has(test) && !badPlain.has(test));
  const fixed = all.filter((test) => badPlain.has(test) && !bad.has(test));
  // If the run ended early, the answer already says so.
  const missing = changed.isDone ? ran.filter((test) => !ranChanged.has(test) && !badPlain.has(test)) : [];
  const of = testsText(new Set([...all, ...ran]).size);
  const missed =
    missing.length === 0
      ? ''
      : ` ${testsText(missing.length)} that ${PASS[missing.length === 1 ? 0 : 1]} without it did not run with it: ${shownTests(missing)}.`;
  const noticed = [...broken, ...fixed];
  if (noticed.length > 0) {
    const sentences = [
      ...differingSentence(broken, of, FAIL, PASS),
      ...differingSentence(fixed, of, PASS, FAIL),
    ];
    return { verdict: 'noticed', noticed, text: `Noticed: ${sentences.join(' ')}${missed}` };
  }
  if (!changed.isDone && plain.isDone)
    return as(
      'noticed',
      'Noticed: with this change the run of the tests ends early, and without it it does not.',
    );
  if (all.length === 0)
    return as('unknown', `Not known whether a test notices this change: no test ran with it. ${without}`);
  if (badPlain.size === ran.length)
    return as('unknown', 'Not known whether a test notices this change: no test passes without it.');
  if (bad.size + badPlain.size + missing.length === 0) {
    const passed = all.length === 1 ? 'the only one passes' : `all ${all.length} pass`;
    return as('unnoticed', `No test noticed this change: ${passed}.`);
  }
  const passed = `No test noticed this change: ${all.length - bad.size} of ${of} pass with it`;
  return as('unnoticed', missed ? `${passed}.${missed}` : `${passed}, and no other passes without it.`);
}

/** Verb forms, for one test and for several. */
const FAIL = ['fails', 'fail'] as const;
const PASS = ['passes', 'pass'] as const;
type Verb = typeof FAIL | typeof PASS;

/** Returns a sentence about TESTS, some of all tests (OF). NOW is the verb for their results with the edits, BEFORE for
 * those without. Returns [] when there are no TESTS. */
function differingSentence(tests: readonly string[], of: string, now: Verb, before: Verb): string[] {
  if (tests.length === 0) return [];
  const form = tests.length === 1 ? 0 : 1;
  const names = shownTests(tests);
  return [`${tests.length} of ${of} ${now[form]} with this change and ${before[form]} without it: ${names}.`];
}

function shownTests(tests: readonly string[]): string {
  return fewOf(tests.map(shortNames(tests)), NAME_LIMIT);
}

/** Returns VERDICT. If it says that no test noticed the edits of COUNT files, adds a sentence about those files that
 * the image of SIDE has not loaded. */
function checkedVerdict(verdict: Verdict, { unloaded, originals }: Side, count: number): Verdict {
  if (verdict.verdict !== 'unnoticed' || unloaded.length === 0) return verdict;
  if (originals.length > 0)
    return {
      ...verdict,
      verdict: 'unknown',
      text: `Not known whether a test notices this change: ${listed(originals, ', ')} was loaded by an absolute name, so from the workspace, without the change. Load it by a name relative to its system or to the working directory.`,
    };
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
