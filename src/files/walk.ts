// Lists the files of the workspace that a search reads.

import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { isInside } from '../paths.ts';
import { withFileTimeout } from './answering.ts';
import type { Budget } from './budget.ts';
import { Folder } from './folder.ts';
import { isTemporary } from './half-written.ts';
import type { Workspace } from './workspace.ts';

/** Names of directories of version control systems. */
const VERSION_CONTROL = new Set('.git .hg .svn .bzr .jj _darcs CVS'.split(' '));
/** Names of directories that do not contain sources of the project, but installed packages or caches. */
const INSTALLED = new Set('node_modules .qlot ocicl quicklisp .venv venv __pycache__ .cache'.split(' '));

/** An entry of a directory. The walk does not enter directories of kind `installed`, and does not follow links. */
interface Entry {
  kind: 'file' | 'folder' | 'installed' | 'link';
  path: string;
}

/** Yields the real path of each readable file below FOLDERS of WORKSPACE. The walk is breadth first, in order of name
 * within a directory, and follows no links. It uses up BUDGET, and stops when BUDGET is exceeded. */
export async function* filesBelow(
  workspace: Workspace,
  folders: readonly string[],
  budget: Budget,
): AsyncGenerator<string> {
  for await (const { kind, path } of entriesBelow(workspace, folders, budget))
    if (kind === 'file') yield path;
}

/** Like filesBelow, but also yields directories and links. Leaves out directories of version control systems. A
 * directory comes before its entries. */
export async function* entriesBelow(
  workspace: Workspace,
  folders: readonly string[],
  budget: Budget,
): AsyncGenerator<Entry> {
  await workspace.secretsKnown;
  const pending = [...folders];
  const seen = new Set<string>();
  for (let path = pending.shift(); path !== undefined; path = pending.shift()) {
    const { real, entries } = await entriesOf(workspace, path);
    if (seen.has(real)) continue;
    seen.add(real);
    for (const entry of entries) {
      budget.exceeded = budget.entries <= 0 || budget.remainingMs() < 0;
      if (budget.exceeded) return;
      budget.entries -= 1;
      const inner = join(real, entry.name);
      if (VERSION_CONTROL.has(entry.name) || workspace.forbids(inner) !== undefined) continue;
      const kind = kindOf(entry);
      if (kind === 'folder') pending.push(inner);
      if (kind !== undefined) yield { kind, path: inner };
    }
  }
}

/** Returns true when FILE, a real path, is not inside FOLDER, or filesBelow leaves it out because of its name or the
 * name of a directory around it. */
export function isSkippedBelow(folder: string, file: string): boolean {
  const folders = relative(folder, file).split(sep);
  const name = folders.pop() ?? '';
  return (
    !isInside(folder, file) ||
    isTemporary(name) ||
    folders.some((each) => VERSION_CONTROL.has(each) || INSTALLED.has(each))
  );
}

function kindOf(entry: Dirent): Entry['kind'] | undefined {
  if (entry.isDirectory()) return INSTALLED.has(entry.name) ? 'installed' : 'folder';
  if (entry.isFile()) return isTemporary(entry.name) ? undefined : 'file';
  return entry.isSymbolicLink() ? 'link' : undefined;
}

/** Returns the entries of the directory PATH; none when it cannot be read or was replaced by a link. */
async function entriesOf(workspace: Workspace, path: string): Promise<{ real: string; entries: Dirent[] }> {
  const folder = await Folder.open(path).catch(() => undefined);
  if (folder === undefined) return { real: path, entries: [] };
  try {
    await workspace.check(folder.path, 'read', path);
    const entries = await withFileTimeout(folder.path, () =>
      readdir(folder.at('.'), { withFileTypes: true }),
    );
    return { real: folder.path, entries: entries.sort((one, other) => (one.name < other.name ? -1 : 1)) };
  } catch {
    return { real: path, entries: [] };
  } finally {
    await folder.close();
  }
}
