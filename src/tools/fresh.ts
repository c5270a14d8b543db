// Performs calls in a fresh image: a new process that writes its fasls to a folder of its own, and that ends with the
// call. The answer shows how the fresh image differs from the running one.

import { setTimeout as pause } from 'node:timers/promises';
import { CallError } from '../errors.ts';
import type { Inventory, Item, LoadStep, Warning } from '../image/wire/operations.ts';
import { toResult } from '../kernel/outcome.ts';
import type { Arguments } from '../kernel/parameter.ts';
import { indent, joinSections } from '../kernel/reply.ts';
import type { Result, Tool } from '../kernel/tool.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';
import { itemsText } from './agreement.ts';
import type { ToolDependencies } from './dependencies.ts';
import {
  afterLoading,
  asking,
  type FreshAdapter,
  type FreshCall,
  freshInventory,
  givenSteps,
  listed,
  loadStep,
  loadSteps,
  SHOWN,
  starterOf,
} from './fresh-call.ts';
import { noticeText } from './notice-text.ts';
import { compareRevisions } from './old-and-new.ts';
import { groupedWarnings } from './remarks.ts';
import { ShownWarnings } from './shown-warnings.ts';
import { runWithEdits, type UneditedRun } from './tests/noticed.ts';

const FRESH = {
  name: 'fresh',
  type: 'string',
  description: 'In a new SBCL',
  enum: ['true', 'fasls'],
  takesTrue: true,
} as const;

const FRESH_OR_REVISION = {
  name: 'fresh',
  type: 'string',
  description: 'In a new SBCL: true, fasls, or a commit (HEAD) to compare with',
  takesTrue: true,
} as const;

const NOT_RUN = 'So the call itself was not made.';
const LOST = 'The fresh image was lost, so it was not compared with the running one.';

/** Returns the tool that ADAPTER makes, with a further parameter `fresh`. With it, a call is performed in a fresh
 * image, and without it in the running image, that of the dependencies RUNNING. */
export function withFresh(running: ToolDependencies, adapter: FreshAdapter): Tool {
  const tool = adapter.over(running);
  const { raisedBy } = tool;
  // Kept from call to call.
  const unedited: UneditedRun = {};
  return {
    ...tool,
    parameters: [...tool.parameters, adapter.parts ? FRESH_OR_REVISION : FRESH],
    // In a fresh image, edits do not change files of the workspace, so nobody is asked to approve them.
    ...(raisedBy && { raisedBy: (args) => (args['fresh'] === undefined ? raisedBy(args) : undefined) }),
    handler: (args, context) => {
      const { fresh: kind, ...call } = args;
      if (kind === undefined) return tool.handler(call, context);
      checkFresh(args);
      const { edits, ...rest } = call;
      // Earlier answers were about the running image and do not apply to a fresh one.
      const { earlierAnswers: _, ...alone } = context;
      return withTemporaryFolder((folder) => {
        const warnings = new ShownWarnings();
        const freshCall = { running, adapter, args: rest, context: alone, folder, warnings };
        if (Array.isArray(edits)) return runWithEdits(freshCall, edits, unedited);
        return kind === 'true' || kind === 'fasls'
          ? perform(freshCall, kind === 'fasls')
          : compareRevisions(freshCall, String(kind));
      });
    },
  };
}

function checkFresh({ fresh, edits, on_error }: Arguments): void {
  if (edits !== undefined && fresh !== 'true')
    throw new CallError(
      `Parameter 'edits' needs fresh: true, not ${fresh}; nothing was done. Edits apply only to the run in the fresh image.`,
    );
  if (on_error === 'hold')
    throw new CallError(
      "Give 'fresh' or on_error: hold, not both; nothing was done. A fresh image ends with its call, so it cannot hold an error.",
    );
}

/** Performs CALL in a fresh image. If FROM_FASLS is true, one fresh image compiles the files, and a second one loads
 * the fasls and performs CALL. */
async function perform(call: FreshCall, fromFasls: boolean): Promise<Result> {
  const { running, adapter, args, folder } = call;
  const withFreshImage = starterOf(running);
  // The load, if CALL itself only loads a file or a system.
  const own = await adapter.loads?.(args, running);
  const isOther = ({ file }: LoadStep) => file === undefined || file !== own?.file;
  const steps = (await givenSteps(call)).filter(isOther);
  if (!fromFasls) return withFreshImage(folder, (fresh) => performIn(fresh, call, steps));
  // ASDF compiles a file again when its fasl was written in the same second as the source.
  await pause(1000 - (Date.now() % 1000), undefined, { ref: false });
  const failed = await withFreshImage(folder, (fresh) => build(fresh, call, own ? [...steps, own] : steps));
  if (failed) return marked(running, failed, ' that was to build the fasls', [NOT_RUN]);
  return withFreshImage(folder, (fresh) => performIn(fresh, call, steps, { own }));
}

/** Performs the loads STEPS, which compile their files, and compiles the other files that CALL needs. Returns a result
 * when this fails, else undefined. */
async function build(
  fresh: ToolDependencies,
  call: FreshCall,
  steps: readonly LoadStep[],
): Promise<Result | undefined> {
  const { adapter, args, context, warnings } = call;
  const failed = (await loadSteps(call, fresh, steps, false)).find((load) => load.failed);
  return failed ?? adapter.build?.({ ...fresh, shownWarnings: warnings }, args, context);
}

/** Performs the loads STEPS in the image of FRESH, and then CALL. BUILT is given when another fresh image has written
 * the fasls. If CALL only loads a file or a system, BUILT.own is this load; otherwise BUILT.own is undefined. */
async function performIn(
  fresh: ToolDependencies,
  call: FreshCall,
  steps: readonly LoadStep[],
  built?: { own: LoadStep | undefined },
): Promise<Result> {
  const { running, adapter, args, context } = call;
  const failed = (await loadSteps(call, fresh, steps, built !== undefined)).find((load) => load.failed);
  const which = built ? ', from the fasls that another has built' : '';
  if (failed) return marked(running, failed, which, [NOT_RUN]);
  // Only the tool that evaluates forms has `parts`. The images are compared before its form runs, because the effects
  // of the form must not count as differences between the images.
  const early = adapter.parts ? await differences(call, fresh) : undefined;
  const result = built?.own
    ? await loadStep({ ...call, warnings: fresh.shownWarnings }, fresh, built.own, steps.length, true)
    : toResult(await adapter.over(fresh).handler(args, context));
  const notices = fresh.image.takeNotices().filter(({ kind }) => kind !== 'loss');
  const after = steps.length > 0 ? `, ${afterLoading(steps, running.places)}` : '';
  const compared = early ?? (fresh.image.running ? await differences(call, fresh) : LOST);
  return marked(running, result, `${which}${after}`, [...notices.map(noticeText), compared]);
}

/** Returns RESULT with a headline about the fresh image, and with the sections MORE. WHICH is a phrase for that
 * image. */
function marked({ image }: ToolDependencies, result: Result, which: string, more: readonly string[]): Result {
  const { unfound: _, ...kept } = result;
  const whose = image.isAttached ? " of live-lisp, not the user's" : '';
  const data = typeof result.data === 'object' ? result.data : { value: result.data };
  return {
    ...kept,
    data: { ...data, fresh: more },
    text: joinSections([`In a fresh image${whose}${which}:\n${result.text}`, ...more]),
  };
}

async function differences(call: FreshCall, fresh: ToolDependencies): Promise<string> {
  const { running, warnings, context } = call;
  const { image, places, shownWarnings } = running;
  const ofFresh = await freshInventory(call, fresh);
  if (ofFresh?.files === undefined)
    return 'No file of the workspace was loaded, so nothing was compared with the running image.';
  const { files, packages = [] } = ofFresh;
  const ofRunning = image.running
    ? (await image.call('inventory', { files, packages }, asking(context))).data.value
    : {};
  if (ofRunning === undefined)
    return 'The running image did not answer, so it was not compared with the fresh one.';
  if (ofRunning.files === undefined)
    return 'The running image has loaded none of these files, so it was not compared with the fresh one.';
  const unloaded = files.length - ofRunning.files.length;
  // The running image lacks the definitions of files that it has not loaded. So only the files that both images have
  // loaded are compared.
  const shared =
    unloaded > 0
      ? (await fresh.image.call('inventory', { files: ofRunning.files, packages }, asking(context))).data
          .value
      : ofFresh;
  const isNews = ({ file = '', severity }: Warning) => places.isOwn(file) && severity !== 'note';
  const shown = fresh.shownWarnings.lackedBy([shownWarnings], ofRunning.files).filter(isNews);
  const unshown = warnings.lackedBy([shownWarnings, fresh.shownWarnings], ofRunning.files).filter(isNews);
  await places.prepare(unshown.flatMap(({ file = [] }) => file));
  const lines = [
    ...newsLine(shown.map(({ file = '' }) => places.fileName(file))),
    ...(unshown.length > 0
      ? [`Not shown by its loads: ${groupedWarnings({ warnings: unshown }, places)}`]
      : []),
    ...(unloaded > 0 ? [`It has not loaded ${unloaded} of the ${files.length} files.`] : []),
    ...inventoryLines(ofRunning, shared ?? ofFresh),
  ];
  return lines.length === 0
    ? 'The running image does not differ in what these files define.'
    : `The running image differs:\n${lines.map((line) => indent(line, 2)).join('\n')}`;
}

/** Returns a line about warnings that only the loads of the fresh image gave. FILES has a file name for each
 * warning. */
function newsLine(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const many = files.length === 1 ? '1 of these warnings was' : `${files.length} of these warnings were`;
  return [`${many} not shown by its loads: ${[...new Set(files)].join(', ')}.`];
}

function inventoryLines(ofRunning: Inventory, ofFresh: Inventory): string[] {
  const freshValues = new Map(ofFresh.variables?.map(({ name, value }) => [name, value]));
  const others = (ofRunning.variables ?? []).flatMap(({ name, value }) => {
    const other = freshValues.get(name);
    return other === undefined || other === value
      ? []
      : `${name} is ${value} in it, ${other} in the fresh image`;
  });
  return [
    ...lackedLine('Only in it', ofRunning.items, ofFresh.items),
    ...lackedLine('Only in the fresh image', ofFresh.items, ofRunning.items),
    ...(others.length > 0 ? [`Other values: ${listed(others, '; ')}.`] : []),
  ];
}

/** Returns a line with LABEL and those of ITEMS that are not in OTHERS; [] when there are none. Addresses in the names
 * of objects are ignored. */
function lackedLine(label: string, items: readonly Item[] = [], others: readonly Item[] = []): string[] {
  const keyOf = ({ kind, name }: Item) => `${kind} ${name.replace(/ \{[0-9A-F]+\}(?=>)/g, '')}`;
  const known = new Set(others.map(keyOf));
  const lacked = items
    .filter((item) => !known.has(keyOf(item)))
    .sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  return lacked.length === 0 ? [] : [`${label}: ${itemsText(lacked.slice(0, SHOWN), lacked.length)}.`];
}
