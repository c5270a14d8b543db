// Plans the content of files after the edits of a call. Checks that the other forms of each file are still read in the
// same way.

import { CallError } from '../../errors.ts';
import { encode } from '../../files/text.ts';
import { boundLines } from '../../kernel/reply.ts';
import type { CallContext } from '../../kernel/tool.ts';
import type { QuestionLine } from '../../question-line.ts';
import { applySplices, changedForms } from '../../source/splice.ts';
import { SourceText } from '../../source/text.ts';
import { TopLevelForms } from '../../source/top-level.ts';
import { visibleName } from '../../visible.ts';
import { knowFeatures } from '../lookup.ts';
import { planCallsEdit } from './call-edits.ts';
import { partInFile, splicesAtEnd, splicesOf } from './edit-splices.ts';
import { type EditedFile, EditedFiles, type PlannedFile } from './edited-files.ts';
import type { CallsEdit, DefinitionEdit } from './edits.ts';
import { type Located, Locator } from './locate.ts';
import { movedWithComments, type Placed } from './moved.ts';
import type { Origins } from './origins.ts';
import { checkReadable } from './readable.ts';
import { splicesOfWhole } from './whole-definitions.ts';

/** Maximum number of lines about calls that an edit with op `calls` does not rewrite. */
export const KEPT_LINES = 60;

/** The changes that the edits of a call make. */
export interface Plan {
  files: readonly PlannedFile[];
  /** A line for each call that an edit with op `calls` does not rewrite. */
  keptCalls: readonly QuestionLine[];
}

/** Returns the plan for EDITS. HOME is the package of names without a prefix; undefined when the caller gave none.
 * Throws a CallError with the reason when the edits are impossible. */
export async function planEdits(
  origins: Origins,
  edits: readonly (DefinitionEdit | CallsEdit)[],
  home: string | undefined,
  context: CallContext,
): Promise<Plan> {
  await knowFeatures(origins.image, context);
  const files = new EditedFiles(origins.workspace, origins.places.features, context);
  const locator = new Locator(origins, files, home, context);
  const placed: Placed[] = [];
  for (const edit of edits) {
    if ('pattern' in edit) continue;
    // This loop opens files in the order of EDITS, because answers name files in the order of opening.
    if (edit.query === undefined) await files.open(edit.path, edit.part === undefined);
    placed.push({ edit, located: edit.query === undefined ? undefined : await locator.find(edit) });
  }
  for (const { edit, located } of movedWithComments(placed, origins.places.features)) {
    const { file, splices } = await changesOf(edit, located, files);
    // push(...splices) would exceed the maximum number of arguments of a call when there are many splices.
    for (const splice of splices) file.splices.push({ ...splice, label: edit.label });
  }
  const callsEdits = edits.filter((edit) => 'pattern' in edit);
  const defining = callsEdits.length > 0 ? files.changed.map(plannedFile) : [];
  const keptCalls: QuestionLine[] = [];
  for (const edit of callsEdits)
    keptCalls.push(...(await planCallsEdit(origins, files, defining, edit, home, context)));
  const plans = files.changed
    .map((file) => plannedFile(file))
    .filter(({ after, source }) => after !== source.text);
  if (plans.length === 0 && keptCalls.length > 0)
    throw new CallError(boundLines(['These edits change no call.', ...keptCalls].join('\n'), KEPT_LINES));
  if (plans.length === 0)
    throw new CallError('The files have this text already, so there is nothing to change.');
  for (const plan of plans) Object.assign(plan, await checkReadable(origins.image, plan, context));
  return { files: plans, keptCalls };
}

async function changesOf(edit: DefinitionEdit, located: Located | undefined, files: EditedFiles) {
  if (edit.query !== undefined) {
    if (located === undefined) throw new Error('The definition of this edit was not located.');
    return { file: located.file, splices: splicesOf(edit, located) };
  }
  if (edit.part !== undefined) {
    const file = await files.open(edit.path);
    return { file, splices: partInFile(edit.label, edit.part, file) };
  }
  const file = await files.open(edit.path, true);
  const splices = edit.byName ? splicesOfWhole : splicesAtEnd;
  return { file, splices: splices(edit.label, edit.text, file) };
}

function plannedFile(file: EditedFile): PlannedFile {
  const { source, forms, before, present } = file;
  const name = visibleName(present.name);
  const splices = [...file.splices].sort((one, other) => one.start - other.start || one.end - other.end);
  const after = applySplices(source.text, splices);
  if (typeof after !== 'string') {
    const overlapping = splices.indexOf(after as (typeof splices)[number]);
    const label = [splices[overlapping - 1]?.label, splices[overlapping]?.label].sort().join(' and ');
    throw new CallError(
      `${label} change the same text of ${name}; nothing was changed. Combine them into one edit.`,
    );
  }
  const newForms = new TopLevelForms(new SourceText(after, before.encoding, source.file), forms.features);
  const difference = changedForms(forms, newForms, splices);
  if ('lost' in difference) {
    throw new CallError(
      `These edits do not touch line ${source.lineAt(difference.lost)} of ${name}, but change how that line is read. Nothing was changed. Look for a quote or a #+ before that line.`,
    );
  }
  const bytes = encode({ ...before, text: after }, name);
  return { ...file, splices, name, after, bytes, newForms, ...difference, notes: [], missing: [] };
}
