// Decides what is told of files whose definitions were edited: where they changed and how they read, not what was sent.

import { diffHunks } from '../../files/diff.ts';
import { boundLine } from '../../kernel/reply.ts';
import { definedAt } from '../../source/definitions.ts';
import type { TopLevelForms } from '../../source/position.ts';
import { lineAt } from '../../source/splice.ts';
import { groupBy } from '../grouping.ts';
import type { PlannedFile } from './edited-files.ts';
import type { Plan } from './plan.ts';

/** Changed forms of a file of which the lines alone are told; of more each is named. */
const LINES_ALONE = 3;
/** Characters of the names of changed forms of a file that are told. */
const NAMED = 300;
/** Places of forms of one name that are told: of more the first and the last. */
const PLACES = 4;
/** Characters of a name that are told. */
const NAME = 100;

/** Returns the sections that tell what PLAN has done. */
export function editedText(files: Plan): string[] {
  const notes = files.flatMap(({ notes }) => notes);
  return [files.map(fileText).join('\n'), ...(notes.length > 0 ? [notes.join('\n')] : [])];
}

/** Returns the same for code. */
export function editedData(files: Plan): object[] {
  return files.map((file) => ({
    path: file.present.name,
    bytes: file.bytes.length,
    forms: file.now.starts().length,
    changed: linesOf(file).map(([line, lastLine]) => ({ line, lastLine })),
    notes: file.notes.map(String),
  }));
}

function fileText(file: PlannedFile): string {
  const { name, present, source, after, now } = file;
  const [first, count] = diffHunks(source.text, after).summary.split(/, (?=\+)/);
  const lines = linesOf(file);
  const shown = lines.map(([line, last]) => (last > line ? `${line}-${last}` : `${line}`));
  const single = lines.length === 1 && !shown[0]?.includes('-');
  const many = lines.length > LINES_ALONE;
  const ranges = many ? `${lines.length} forms` : `${single ? 'line' : 'lines'} ${shown.join(', ')}`;
  const where = lines.length === 0 ? first : ranges;
  const forms = now.starts().length;
  const what = [where, count].filter(Boolean).join(', ');
  const done = present.size === undefined ? `Created ${name}` : `Changed ${name}${what && `: ${what}`}`;
  return [
    `${done}. It has ${forms} top-level ${forms === 1 ? 'form' : 'forms'} now.`,
    ...(many && present.size !== undefined ? namedLines(file, shown) : []),
  ].join('\n');
}

/** Returns the lines that name the changed forms of FILE, which stand at PLACES: those of one operator and name together. */
function namedLines({ now, changed }: PlannedFile, places: readonly string[]): string[] {
  const all = changed.map(({ start }, index) => ({ ...formNames(now, start), at: places[index] ?? '' }));
  const lines: string[] = [];
  let [left, room] = [all.length, NAMED];
  for (const group of groupBy(all, ({ name, at }) => name ?? at).values()) {
    const [{ text, name = text, at } = { text: '', at: '' }] = group;
    const line = group.length === 1 ? `  ${at}: ${text}` : `  ${group.length} ${name}, ${placesText(group)}`;
    room -= line.length;
    if (room < 0) return [...lines, `  and ${left} more`];
    left -= group.length;
    lines.push(line);
  }
  return lines;
}

function placesText(group: readonly { at: string }[]): string {
  const places = group.map(({ at }) => at);
  const told = places.length > PLACES ? [places[0], '...', places.at(-1)] : places;
  return `lines ${told.join(', ')}`;
}

/** Returns how the form of FORMS at START begins: operator, name, and what tells a method from others. NAME is without that,
 *  and without it a form defines nothing. */
function formNames(forms: TopLevelForms, start: number): { text: string; name?: string } {
  const [defined] = definedAt(forms, start);
  if (defined === undefined) return { text: boundLine(forms.textAt(start).split('\n', 1)[0] ?? '', 0) };
  const name = boundLine(`${defined.operator} ${defined.name}`, 0);
  const parts = [name, defined.operator.endsWith('defmethod') && defined.list].filter(Boolean).join(' ');
  return { name, text: parts.length > NAME ? `(${parts.slice(0, NAME)}...` : `(${parts})` };
}

/** Returns the first and the last line of each changed form of a file, as they are now. */
function linesOf({ changed, now }: PlannedFile): [number, number][] {
  return changed.map(({ start, end }) => [lineAt(now.source, start), lineAt(now.source, end - 1)]);
}
