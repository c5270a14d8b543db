// Decides what is told of files whose definitions were edited: where they changed and how they read, not what was sent.

import { diffHunks } from '../../files/diff.ts';
import { lineAt } from '../../source/splice.ts';
import type { PlannedFile } from './edited-files.ts';
import type { Plan } from './plan.ts';

/** Ranges of lines of a file that are told. */
const TOLD = 10;

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
  const shown = lines.slice(0, TOLD).map(([line, last]) => (last > line ? `${line}-${last}` : `${line}`));
  const more = lines.length > TOLD ? ` and ${lines.length - TOLD} more` : '';
  const single = lines.length === 1 && !shown[0]?.includes('-');
  const where = lines.length === 0 ? first : `${single ? 'line' : 'lines'} ${shown.join(', ')}${more}`;
  const forms = now.starts().length;
  const what = [where, count].filter(Boolean).join(', ');
  const done = present.size === undefined ? `Created ${name}` : `Changed ${name}${what && `: ${what}`}`;
  return `${done}. It has ${forms} top-level ${forms === 1 ? 'form' : 'forms'} now.`;
}

/** Returns the first and the last line of each changed form of a file, as they are now. */
function linesOf({ changed, now }: PlannedFile): [number, number][] {
  return changed.map(({ start, end }) => [lineAt(now.source, start), lineAt(now.source, end - 1)]);
}
