// Adds a note to answers that found nothing, when no system of the workspace is loaded. The note names the systems of
// the workspace.

import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { withFileTimeout } from '../files/answering.ts';
import type { Workspace } from '../files/workspace.ts';
import type { Image } from '../image/image.ts';
import { toResult } from '../kernel/outcome.ts';
import { joinSections } from '../kernel/reply.ts';
import type { CallContext, Tool } from '../kernel/tool.ts';
import { systemsIn } from '../source/systems.ts';
import { TopLevelForms } from '../source/top-level.ts';
import { visibleName } from '../visible.ts';
import { callOptions } from './calling.ts';
import type { Places } from './places.ts';

interface NoteDependencies {
  image: Image;
  workspace: Workspace;
  places: Places;
}

/** Maximum number of names in a sentence. */
const NAME_LIMIT = 10;
/** Maximum number of .asd files that are read. */
const FILE_LIMIT = 50;

/** Returns TOOL with a handler that adds the note from `unloadedNote` to results that found nothing. */
export function notingUnloaded(tool: Tool, dependencies: NoteDependencies): Tool {
  return {
    ...tool,
    handler: async (args, context) => {
      const answer = await tool.handler(args, context);
      const result = toResult(answer);
      // Lisp code in the image gets only the data of a result, so no note is made for it.
      if (!result.unfound || context.forData) return answer;
      const note = joinSections([result.note, await unloadedNote(dependencies, context)]);
      return note === '' ? result : { ...result, note };
    },
  };
}

async function unloadedNote(
  { image, workspace, places }: NoteDependencies,
  context: CallContext,
): Promise<string> {
  const roots = workspace.realRoots;
  const folders = roots.map((root) => `${root}/`);
  const { data } = await image.call('loaded-below', { folders }, callOptions(context));
  if (data.value) return '';
  const own = await filesIn(roots);
  const [root] = roots;
  if (own.length > 0 || root === undefined) return systemsNote('it has', own, places);
  const below = await filesIn(await foldersIn(root));
  const names = [...new Set(below.map((file) => visibleName(basename(dirname(file)))))];
  if (below.length > 0) return systemsNote(`its ${counted(names, 'folder', 'has', 'have')}`, below, places);
  const [above] = await filesIn([dirname(root)]);
  if (above === undefined) return '';
  const folder = visibleName(dirname(above));
  return `Note: the workspace ${visibleName(root)} has no .asd file, and ${visibleName(above)} is one folder up. Start the client in ${folder}, or the server with --root ${folder}.`;
}

/** Returns the note about the systems that FILES, .asd files, define; '' when they define none. WHERE is the subject
 * and verb of the clause about these systems, such as `it has`. */
async function systemsNote(where: string, files: readonly string[], places: Places): Promise<string> {
  const read = files.slice(0, FILE_LIMIT);
  await places.prepare(read);
  const systems = [...new Set(read.flatMap((file) => namesIn(file, places)))];
  if (systems.length === 0) return '';
  const which = systems.length === 1 ? 'it' : 'one';
  return `Note: nothing of this workspace is loaded; ${where} the ${counted(systems, 'system')}: load_system loads ${which}.`;
}

/** Returns NOUN in the singular or plural, NAMES, and a verb: ONE if there is one name, else SEVERAL. */
function counted(names: readonly string[], noun: string, one = '', several = ''): string {
  const shown = names.slice(0, NAME_LIMIT).join(', ');
  const more = names.length > NAME_LIMIT ? ` and ${names.length - NAME_LIMIT} more` : '';
  const text = `${noun}${names.length === 1 ? '' : 's'} ${shown}${more}`;
  return [text, names.length === 1 ? one : several].filter((part) => part !== '').join(' ');
}

/** Returns the names of the systems that FILE defines, if they are literals. `PLACES.prepare` must have read FILE
 * before. */
function namesIn(file: string, places: Places): string[] {
  const source = places.sourceText(file);
  return source === undefined ? [] : systemsIn(new TopLevelForms(source, new Set()));
}

async function filesIn(folders: readonly string[]): Promise<string[]> {
  const each = await Promise.all(
    folders.map(async (folder) =>
      (await entriesOf(folder))
        .filter((entry) => entry.name.endsWith('.asd') && !entry.isDirectory())
        .map(({ name }) => join(folder, name)),
    ),
  );
  return each.flat();
}

async function foldersIn(folder: string): Promise<string[]> {
  return (await entriesOf(folder))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

/** Returns the entries of FOLDER, sorted by name; [] when FOLDER cannot be read. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await withFileTimeout(folder, () => readdir(folder, { withFileTypes: true }));
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch {
    return [];
  }
}
