// Lists the files of the workspace for a search.

import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { isInside } from '../paths.ts';
import { withFileTimeout } from './answering.ts';
import type { Budget } from './budget.ts';
import { Folder } from './folder.ts';
import { isTemporary } from './half-written.ts';
import type { Workspace } from './workspace.ts';

/** Directories without source of the project: of version control, installed packages, caches. */
const SKIPPED_FOLDERS = new Set(
  '.git .hg .svn .bzr .jj _darcs CVS node_modules .qlot ocicl quicklisp .venv venv __pycache__ .cache'.split(
    ' ',
  ),
);

/** Yields the real path of each readable file below FOLDERS of WORKSPACE, breadth first, and sorted by name
 *  within a directory. Follows no links. Uses up BUDGET, and stops when it is exceeded. */
export async function* filesBelow(
  workspace: Workspace,
  folders: readonly string[],
  budget: Budget,
): AsyncGenerator<string> {
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
      if (entry.isFile() && !isTemporary(entry.name) && workspace.forbids(inner) === undefined) yield inner;
      if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) pending.push(inner);
    }
  }
}

/** True when filesBelow would not yield FILE, a real path, for FOLDER, because of its name. */
export function isSkippedBelow(folder: string, file: string): boolean {
  const folders = relative(folder, file).split(sep);
  const name = folders.pop() ?? '';
  return !isInside(folder, file) || isTemporary(name) || folders.some((each) => SKIPPED_FOLDERS.has(each));
}

/** Returns the entries of the directory at PATH; none when it is unreadable or has become a link. */
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
