// The tool edit_definitions, which edits definitions by name in one or several files.

import { createHash } from 'node:crypto';
import { CallError } from '../../errors.ts';
import { changesLines, fileDiffOf, filesSummary, newFileDiff } from '../../files/diff.ts';
import type { Intents } from '../../files/intents.ts';
import { replaceTogether } from '../../files/together.ts';
import { type FileState, presentFile } from '../../files/write.ts';
import { boundLines, joinSections } from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import { questionLine } from '../../question-line.ts';
import { checkApproved } from '../approved.ts';
import type { ChangeTurns } from '../changing.ts';
import { PACKAGE, packageOf } from '../lookup.ts';
import { editedData, editedText } from './edited-text.ts';
import { EDIT, EDIT_REQUIRED, editsOf } from './edits.ts';
import { type LoadedEdits, loadEdited } from './load-edited.ts';
import type { Origins } from './origins.ts';
import { lineOfReaderSetting } from './part-content.ts';
import { KEPT_LINES, type Plan, planEdits } from './plan.ts';

const EDIT_DEFINITIONS = {
  name: 'edit_definitions',
  description:
    'Modify Lisp definitions by name in one or more files: replace, add or delete a defun, method or class, or change part of one, after the user approves one diff. For other text use propose_file_edit, to rename rename_symbol. All files change or none.',
  parameters: [
    {
      name: 'edits',
      type: 'array',
      items: { type: 'object', properties: EDIT, required: EDIT_REQUIRED },
      description: 'All apply to the text before the call',
    },
    PACKAGE,
    {
      name: 'load',
      type: 'boolean',
      description: 'Then compile and load just these',
    },
  ],
  required: ['edits'],
  safetyLevel: 'dangerous',
  // With load: true, the edited code is loaded, so its top-level forms, its macros and its #. forms run.
  effects: { openWorld: true },
  limitMs: Number.POSITIVE_INFINITY,
  categories: ['diff'],
  shortDescription: 'Edit Lisp definitions by name; a human sees the diff and decides',
  complexity: 'moderate',
  keywords: [
    'structural editing',
    'add a method',
    'edit a function',
    'replace a definition',
    'delete a function',
    'edit several files',
    'change a definition',
    'insert a definition',
  ],
} as const satisfies ToolDescription;

type EditArguments = ArgumentsFor<typeof EDIT_DEFINITIONS>;

/** Returns the tool edit_definitions. ORIGINS finds the definitions. INTENTS keeps records with which an edit is undone
 * after a kill interrupted it. TURNS decides when an edit may run. */
export function editDefinitionsTool(origins: Origins, intents: Intents, turns: ChangeTurns) {
  // Each call is planned before a human is asked, after the human's answer, and when it runs. The plan is
  // cached, because planning takes long for large files.
  let cached: { call: string; plan: Plan } | undefined;
  const currentPlan = async (args: EditArguments, context: CallContext) => {
    const call = JSON.stringify(args);
    // Another call can replace `cached` during the await below.
    const known = cached?.call === call ? cached.plan : undefined;
    const plan =
      known && (await isCurrent(known, origins, context))
        ? known
        : await planEdits(origins, editsOf(args.edits), packageOf(args).package, context);
    cached = { call, plan };
    if (args.load) checkLoadable(plan);
    return plan;
  };
  return defineTool({
    ...EDIT_DEFINITIONS,
    preview: async (args, context) => previewOf(await currentPlan(args, context), args.load),
    handler: (args, context) =>
      turns.within(context, async () => {
        const plan = await currentPlan(args, context);
        cached = undefined;
        if (context.fingerprint !== undefined && context.fingerprint !== fingerprintOf(plan)) {
          throw new CallError(
            'The files changed while these edits were prepared; nothing was written. Call again.',
          );
        }
        return carryOut(origins, intents, plan, args, context);
      }),
  });
}

/** Writes the files of PLAN. If `load` is true, also loads the changes. */
async function carryOut(
  origins: Origins,
  intents: Intents,
  plan: Plan,
  { load }: EditArguments,
  context: CallContext,
): Promise<Result> {
  const replacements = plan.files.map(({ path, bytes, present: { fingerprint } }) => ({
    path,
    bytes,
    confirm: (now: FileState) => checkApproved(now, fingerprint),
  }));
  await replaceTogether(origins.workspace, intents, replacements, context.signal);
  // The model does not know the edits that a human gave in place of its own.
  const shown = context.changedByHuman ? [boundLines(previewOf(plan).text.join('\n'), DIFF_LINES)] : [];
  const loadedEdits = load ? await loadEdited(origins, plan.files, context) : undefined;
  return editedResult(plan, shown, loadedEdits);
}

/** Maximum number of diff lines to show after a human changed the edit. */
const DIFF_LINES = 200;

function editedResult(plan: Plan, shown: string[], loadedEdits: LoadedEdits | undefined): Result {
  const { result, loaded = new Set() } = loadedEdits ?? {};
  // The notes on loaded files are outdated, because the load has read these files.
  const notes = plan.files.flatMap((file) => (loaded.has(file) ? [] : file.notes));
  const kept = plan.keptCalls.map(String);
  return {
    data: {
      files: editedData(plan.files),
      ...(kept.length > 0 && { keptCalls: kept }),
      ...(result && { loaded: result.data }),
    },
    text: joinSections([
      ...editedText(plan.files, notes),
      boundLines(kept.join('\n'), KEPT_LINES),
      ...shown,
      result?.text,
    ]),
    failed: result?.failed === true,
  };
}

/** Throws a CallError when a form above a changed form changes how the reader reads later forms, and also does other
 * things. To run such a form would repeat the other things, and to skip it would misread the changed forms. */
function checkLoadable({ files }: Plan): void {
  for (const file of files) {
    const line = lineOfReaderSetting(file);
    if (line !== undefined) {
      throw new CallError(
        `${file.name} cannot be loaded in part: the form at line ${line} changes how later forms are read, and also does other things. Nothing was changed. Leave 'load' out, then load the whole file with load_file.`,
      );
    }
  }
}

async function isCurrent({ files }: Plan, { workspace }: Origins, { signal }: CallContext): Promise<boolean> {
  for (const { path, present } of files) {
    const { fingerprint } = await presentFile(workspace, path, signal);
    if (fingerprint !== present.fingerprint) return false;
  }
  return true;
}

function previewOf(plan: Plan, load = false) {
  const changes = plan.files.map(({ present, before, after }) => {
    const updated = { ...before, text: after };
    const isNewFile = present.size === undefined;
    return isNewFile ? newFileDiff(present.name, updated) : fileDiffOf(present.name, before, updated);
  });
  const names = plan.files.map(({ present }) => present.name);
  const [place, ...otherPlaces] = names;
  const notes = [...plan.keptCalls, ...plan.files.flatMap((file) => file.notes)];
  const loadNote = load
    ? [questionLine`After the edit, the changed forms are compiled and run in the image.`]
    : [];
  const several = otherPlaces.length > 0;
  const changed = several ? filesSummary(changes) : (changes[0]?.summary ?? questionLine``);
  return {
    summary: load ? questionLine`${changed}, then load` : changed,
    lines: [...changesLines(changes, names), ...notes],
    text: [...loadNote, ...notes, ...changes.flatMap(({ text }) => text)],
    ...(place !== undefined && { place }),
    ...(several && { otherPlaces }),
    fingerprint: fingerprintOf(plan),
  };
}

function fingerprintOf({ files }: Plan): string {
  const hash = createHash('sha256');
  for (const { present, bytes } of files)
    hash.update(JSON.stringify([present.fingerprint, bytes.toString('base64')]));
  return hash.digest('hex');
}
