// Decides what is told of files whose definitions were edited: where they changed and how they read, not what was sent.

import { diffHunks } from '../../files/diff.ts';
import { boundLine } from '../../kernel/reply.ts';
import { definedAt } from '../../source/definitions.ts';
import { lineAt } from '../../source/splice.ts';
import type { PlannedFile } from './edited-files.ts';
import type { Plan } from './plan.ts';

/** Changed forms of a file of which the lines alone are told; of more each is named. */
const LINES_ALONE = 3;
/** Changed forms of a file that are named. */
const NAMED = 40;
/** Characters of a name that are told. */
const NAME = 100;

/** Returns the sections that tell what PLAN has done. */
export function editedText({ files }: Plan): string[] {
  const notes = files.flatMap(({ notes }) => notes);
  return [files.map(fileText).join('\n'), ...(notes.length > 0 ? [notes.join('\n')] : [])];
}

/** Returns the same for code. */
export function editedData({ files }: Plan): object[] {
  return files.map((file) => ({
    path: file.present.name,
    bytes: file.bytes.length,
    forms: file.now.starts().length,
    changed: linesOf(file).map(([line, lastLine]) => ({ line, lastLine })),
    notes: file.notes,
  }));
}

function fileText(file: PlannedFile): string {
  const { name, present, source, after, now } = file;
  const summary = diffHunks(source.text, after)?.summary;
  const [first, count] = summary?.split(/, (?=\+)/) ?? [];
  const lines = linesOf(file);
  const shown = lines.map(([line, last]) => (last > line ? `${line}-${last}` : `${line}`));
  const single = lines.length === 1 && !shown[0]?.includes('-');
  const many = lines.length > LINES_ALONE;
  const ranges = many ? `${lines.length} forms` : `${single ? 'line' : 'lines'} ${shown.join(', ')}`;
  const where = lines.length === 0 ? first : ranges;
  const forms = now.starts().length;
  const what = [where, count].filter(Boolean).join(', ');
  const done = present.size === undefined ? `Created ${name}` : `Changed ${name}${what && `: ${what}`}`;
  const rows = file.changed.map((form, index) => `  ${shown[index]}: ${formText(file, form.start)}`);
  return [
    `${done}. It has ${forms} top-level ${forms === 1 ? 'form' : 'forms'} now.`,
    ...(many && present.size !== undefined ? rows.slice(0, NAMED) : []),
    ...(many && present.size !== undefined && rows.length > NAMED
      ? [`  and ${rows.length - NAMED} more`]
      : []),
  ].join('\n');
}

/** Returns how the form at START of what FILE is now begins: its operator, its name, and what tells a method from others. */
function formText({ now }: PlannedFile, start: number): string {
  const [defined] = definedAt(now, start);
  if (defined === undefined) return boundLine(now.textAt(start).split('\n', 1)[0] ?? '', 0);
  const { operator, name, list } = defined;
  const parts = [operator, name, operator.endsWith('defmethod') && list].filter(Boolean).join(' ');
  return parts.length > NAME ? `(${parts.slice(0, NAME)}...` : `(${parts})`;
}

/** Returns the first and the last line of each changed form of a file, as they are now. */
function linesOf({ changed, now }: PlannedFile): [number, number][] {
  return changed.map(({ start, end }) => [lineAt(now.source, start), lineAt(now.source, end - 1)]);
}
