// Checks that the reader of the image can read an edited file.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import type { CheckedText } from '../../image/wire/operations.ts';
import type { CallContext } from '../../kernel/tool.ts';
import { type QuestionLine, questionLine, quoted } from '../../question-line.ts';
import { callOptions } from '../calling.ts';
import { foundValue } from '../lookup.ts';
import type { PlannedFile } from './edited-files.ts';

/** Has the Lisp reader in IMAGE read the changed forms of FILE. `notes` are about problems that loading other code can
 * solve, such as a missing symbol, and `missing` has the packages that these forms need and IMAGE lacks. Throws a
 * CallError for a problem of another kind. Also throws when the reader finds other forms in FILE than the server does,
 * which assumes the standard syntax. */
export async function checkReadable(
  image: Image,
  file: PlannedFile,
  context: CallContext,
): Promise<Pick<PlannedFile, 'notes' | 'missing'>> {
  const { source } = file.newForms;
  const checked = await checkedBy(image, file, context);
  const { problems = [], missing = [] } = checked;
  const lineOf = (place: number) => source.lineAt(source.indexOfCharacter(place));
  const [fatal] = problems.filter(({ name }) => !name);
  if (fatal !== undefined) {
    throw new CallError(
      `${file.name}:${lineOf(fatal.start)} could not be read: ${fatal.text}. Nothing was changed.`,
    );
  }
  const notes = [
    ...stopNotes(file, checked),
    ...problems.map(
      ({ start, text }) =>
        questionLine`Note: ${file.name}:${lineOf(start)} cannot be read yet: ${quoted(text)}`,
    ),
    ...missing.map(
      (name) =>
        questionLine`Note: there is no package ${name} in the image, so names in ${file.name} were not looked up.`,
    ),
  ];
  return { notes, missing };
}

/** Returns the packages that the changed forms of FILE need and that IMAGE still lacks. */
export async function missingNow(
  image: Image,
  file: PlannedFile,
  context: CallContext,
): Promise<readonly string[]> {
  if (file.missing.length === 0) return [];
  return (await checkedBy(image, file, context)).missing ?? [];
}

async function checkedBy(image: Image, { newForms, changed, after }: PlannedFile, context: CallContext) {
  const { source } = newForms;
  const starts = changed.map(({ start }) => source.characterOf(start));
  const packages = newForms
    .packages()
    .map(({ from, name }): [number, string | null] => [source.characterOf(from), name ?? null]);
  return foundValue(await image.call('check-text', { text: after, starts, packages }, callOptions(context)));
}

/** Returns a note when the Lisp reader of the image stopped before the end of FILE; [] when it read the whole file.
 * Throws a CallError when it stopped in a changed form, or when it read other forms than the server did. */
function stopNotes(file: PlannedFile, { ends = [], stopped }: CheckedText): QuestionLine[] {
  const { newForms, changed, name } = file;
  const ownEnds = newForms.allExtents().map(({ end }) => newForms.source.characterOf(end));
  const mismatch = ownEnds.findIndex((end, index) => end !== ends[index]);
  const formIndex = mismatch === -1 ? ownEnds.length : mismatch;
  const start = newForms.nthExtent(formIndex)?.start ?? file.after.length;
  const line = newForms.source.lineAt(start);
  if (mismatch === -1 && ownEnds.length === ends.length && stopped === undefined) return [];
  if (stopped === undefined || formIndex !== ends.length) {
    throw new CallError(
      `From line ${line} on, the image reads ${name} differently from live-lisp. Nothing was changed. If the file has its own readtable, edit the file with propose_file_edit.`,
    );
  }
  if (changed.some((form) => form.start === start)) {
    throw new CallError(
      `${name}:${line} could not be read: ${stopped}. Nothing was changed. If a reader macro is missing, load what defines it.`,
    );
  }
  return [
    questionLine`Note: the reader of the image stops at ${name}:${line}, so only the syntax was checked after that. The reader reports: ${quoted(stopped)}`,
  ];
}
