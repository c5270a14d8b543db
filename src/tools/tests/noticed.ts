// Runs tests with edits that do not change the workspace. The edits are made in a copy of it, which a fresh image
// loads. A second run, without the edits, shows which tests notice them.

import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { realPathOf } from '../../files/answering.ts';
import { copyRoot, type RootCopy } from '../../files/copy.ts';
import type { Ending } from '../../image/wire/endings.ts';
import type { Reason } from '../../image/wire/operations.ts';
import { toResult } from '../../kernel/outcome.ts';
import { joinSections } from '../../kernel/reply.ts';
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
import { type Side, verdictOn } from './noticed-verdict.ts';
import type { TestOutcome } from './results.ts';

/** The last run in this session of tests in a copy of the workspace without edits, and a key. Calls with the same key
 * would run the same tests with the same files. */
export interface UneditedRun {
  last?: { key: string; side: Side };
}

const CHANGED_BETWEEN =
  'Files of the workspace changed between the two runs, so the runs are not comparable. Code that uses an absolute path writes to the workspace, not to the copy.';

/** Makes CALL, a call of run_tests, twice: in a copy of the workspace with EDITS, and in a copy without them. If
 * UNEDITED has the run without edits already, uses it instead. Otherwise stores this run there. Returns a result that
 * says which tests notice the edits, that is, have another outcome with them. */
export async function runWithEdits(
  call: FreshCall,
  edits: readonly unknown[],
  unedited: UneditedRun,
): Promise<Result> {
  const { running, context } = call;
  starterOf(running); // Throws before the edits are planned when no fresh image can be started.
  // rootFolders throws when there are no roots. The default is there only for its type.
  const [root = running.places.root] = running.workspace.rootFolders();
  const { files } = await planEdits(running, editsOf(edits), undefined, context);
  const contents = new Map(files.map(({ real, bytes }) => [real, bytes]));
  const copy = { root, contents, signal: context.signal };
  const changed = await runInCopy(call, copy);
  const known = changed.isStopped ? undefined : knownRun(call, changed, unedited);
  const plain = changed.isStopped
    ? undefined
    : (known ?? (await runInCopy(call, { ...copy, contents: new Map() })));
  if (plain?.run === 'complete') unedited.last = { key: keyOf(call, plain), side: plain };
  const verdict = verdictOn(changed, plain, contents.size);
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
      known &&
        'The run without the change is reused from an earlier call: no file of the workspace has changed since.',
    ]),
    failed: verdict.verdict === 'unbuilt' || verdict.verdict === 'unknown',
  };
}

/** Returns the last run without edits, if it can stand for a run of CALL without its edits: the arguments are the same,
 * and the files have not changed since. Else returns undefined. CHANGED is the run of CALL with its edits, and has a
 * digest of the files below the first root of the workspace. Returns undefined when the workspace has several roots,
 * because the digest lacks the files below the others. Returns undefined also when earlier runs decide which tests CALL
 * runs. */
function knownRun(call: FreshCall, changed: Side, { last }: UneditedRun): Side | undefined {
  const { failed, touching } = call.args;
  const hasOneRoot = call.running.workspace.rootFolders().length === 1;
  const isRepeatable = hasOneRoot && failed === undefined && touching === undefined;
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
      const failedLoad = loads.find((load) => load.failed);
      const result = failedLoad ?? toResult(await adapter.over(fresh).handler(args, context));
      const { results = [], verdict, unseen = [], ending } = result.data as RunData;
      const hasRun = failedLoad === undefined && verdict !== undefined;
      // Code that names the workspace by an absolute path can load files of `root` in place of their copies.
      const inventory = await freshInventory(call, fresh, [target, root]);
      const loaded = new Set(inventory?.files);
      const isUnloaded = (file: string) =>
        inventory !== undefined && isLispFile(file) && !loaded.has(join(target, relative(root, file)));
      const unloaded = [...contents.keys()].filter(isUnloaded);
      const nameOf = (file: string) => running.places.fileName(file);
      return {
        result: { ...result, text: inRoot(result.text) },
        tests: results,
        run: !hasRun ? 'not begun' : ending?.kind === 'done' ? 'complete' : 'ended early',
        unseen,
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
  unseen?: readonly string[];
  ending?: Ending;
}
