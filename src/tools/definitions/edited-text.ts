// Renders edited files: the lines that changed, and the number of forms. Leaves out the text, because the caller sent
// it.

import { diffHunks } from '../../files/diff.ts';
import { boundLine } from '../../kernel/reply.ts';
import type { QuestionLine } from '../../question-line.ts';
import { definedAt } from '../../source/definitions.ts';
import type { TopLevelForms } from '../../source/top-level.ts';
import { groupBy } from '../grouping.ts';
import type { PlannedFile } from './edited-files.ts';

/** If at most this many forms of a file changed, only their line numbers are shown. If more did, their names are shown
 * too. */
const LINES_ALONE = 3;
/** Maximum number of characters for the names of all changed forms of a file. */
const NAMES_LIMIT = 300;
/** Maximum number of places to show for forms of the same name. If there are more, only the first and the last are
 * shown. */
const PLACE_LIMIT = 4;
const NAME_LIMIT = 100;

/** Returns sections about the changes of FILES, followed by NOTES. */
export function editedText(files: readonly PlannedFile[], notes: readonly QuestionLine[]): string[] {
  return [files.map(fileText).join('\n'), ...(notes.length > 0 ? [notes.join('\n')] : [])];
}

/** Returns data about the changes of FILES, for programs. */
export function editedData(files: readonly PlannedFile[]): object[] {
  return files.map((file) => ({
    path: file.present.name,
    bytes: file.bytes.length,
    forms: file.newForms.allExtents().length,
    changed: linesOf(file).map(([line, lastLine]) => ({ line, lastLine })),
    notes: file.notes.map(String),
  }));
}

function fileText(file: PlannedFile): string {
  const { name, present, source, after, newForms } = file;
  const [first, count] = diffHunks(source.text, after).summary.split(/, (?=\+)/);
  const lines = linesOf(file);
  const shown = lines.map(([line, last]) => (last > line ? `${line}-${last}` : `${line}`));
  const single = lines.length === 1 && !shown[0]?.includes('-');
  const many = lines.length > LINES_ALONE;
  const ranges = many ? `${lines.length} forms` : `${single ? 'line' : 'lines'} ${shown.join(', ')}`;
  const where = lines.length === 0 ? first : ranges;
  const forms = newForms.allExtents().length;
  const what = [where, count].filter(Boolean).join(', ');
  const headline = present.size === undefined ? `Created ${name}` : `Changed ${name}${what && `: ${what}`}`;
  return [
    `${headline}. It has ${forms} top-level ${forms === 1 ? 'form' : 'forms'} now.`,
    ...(many && present.size !== undefined ? namedLines(file, shown) : []),
  ].join('\n');
}

/** Returns lines with the names of the changed forms. PLACES has their line numbers, in the same order. Forms with
 * equal operator and name share a line. */
function namedLines({ newForms, changed }: PlannedFile, places: readonly string[]): string[] {
  const forms = changed.map(({ start }, index) => ({
    ...formNames(newForms, start),
    at: places[index] ?? '',
  }));
  const lines: string[] = [];
  let [remaining, room] = [forms.length, NAMES_LIMIT];
  for (const group of groupBy(forms, ({ name, at }) => name ?? at).values()) {
    const [{ text, name = text, at } = { text: '', at: '' }] = group;
    const line = group.length === 1 ? `  ${at}: ${text}` : `  ${group.length} ${name}, ${placesText(group)}`;
    room -= line.length;
    if (room < 0) return [...lines, `  and ${remaining} more`];
    remaining -= group.length;
    lines.push(line);
  }
  return lines;
}

function placesText(group: readonly { at: string }[]): string {
  const places = group.map(({ at }) => at);
  const shown = places.length > PLACE_LIMIT ? [places[0], '...', places.at(-1)] : places;
  return `lines ${shown.join(', ')}`;
}

/** Returns the beginning of the form at START as `text`: operator, name and, for a method, the lambda list. `name` is
 * `text` without the lambda list; undefined when the form defines nothing. */
function formNames(forms: TopLevelForms, start: number): { text: string; name?: string } {
  const [defined] = definedAt(forms, start);
  if (defined === undefined)
    return { text: boundLine(forms.formFrom(start)?.text.split('\n', 1)[0] ?? '', 0) };
  const name = boundLine(`${defined.operator} ${defined.name}`, 0);
  const parts = [name, defined.operator.endsWith('defmethod') && defined.list].filter(Boolean).join(' ');
  return { name, text: parts.length > NAME_LIMIT ? `(${parts.slice(0, NAME_LIMIT)}...` : `(${parts})` };
}

function linesOf({ changed, newForms }: PlannedFile): [number, number][] {
  return changed.map(({ start, end }) => [newForms.source.lineAt(start), newForms.source.lineAt(end - 1)]);
}
