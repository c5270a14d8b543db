// Finds the files and folders from which programs outside the sandbox read settings or commands. Sandboxed code must
// not change them, even inside folders that it can change.

import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isThere, realPathOf, UnresponsiveFolderError, withFileTimeout } from '../../files/answering.ts';
import { readRegularAsync } from '../../files/regular.ts';

/** Names of folders of version control systems. Programs execute hooks and obey settings in them at the next command,
 * or even when a shell shows its prompt. */
const REPOSITORIES = ['.git', '.hg', '.svn', '.jj'];

/** Folders that sandboxed code must not create in a workspace. To prevent this, the server itself creates each missing
 * one as an empty folder, which the sandbox makes read-only. Empty folders with these names do not disturb programs.
 * No files are listed here: programs would be disturbed by a folder in place of a file that they read. */
export const FORBIDDEN_FOLDERS = [
  '.git',
  '.hg',
  '.claude',
  '.codex',
  '.gemini',
  '.vscode',
  '.idea',
  '.github',
  '.opencode',
  '.agents',
  '.cursor',
  '.windsurf',
  '.zed',
  '.husky',
  '.devcontainer',
] as const;

/** Files whose appearance in a workspace is reported to the model (see NewFileWatcher). */
export const REPORTED_FILES = [
  '.envrc',
  '.npmrc',
  '.mcp.json',
  'opencode.json',
  'opencode.jsonc',
  '.pre-commit-config.yaml',
] as const;

const READ_ONLY = [...FORBIDDEN_FOLDERS, ...REPORTED_FILES, ...REPOSITORIES];

const MAX_FOLDERS = 1000;
const MAX_DEPTH = 6;
/** The folder of installed packages. It is not searched, because nobody works in repositories there. */
const PACKAGES = 'node_modules';

/** Returns the paths that sandboxed code must not write: the files with settings in the workspace ROOT, and all
 * repositories below ROOT. Neither ROOT nor the results contain symbolic links. Throws an UnresponsiveFolderError when
 * a file system does not answer. */
export async function protectedPaths(root: string): Promise<string[]> {
  const settings = [...new Set(READ_ONLY)].map((name) => join(root, name));
  return withRepositories([...settings, ...(await repositoriesIn(root))]);
}

/** Returns the real paths of the repositories below FOLDER, including those that .git files of worktrees and submodules
 * refer to. Throws an UnresponsiveFolderError when a file system does not answer. */
export async function repositoryPaths(folder: string): Promise<string[]> {
  return withRepositories(await repositoriesIn(folder));
}

/** Returns the real paths of those of PATHS that exist. Throws an UnresponsiveFolderError when a file system does not
 * answer. */
export async function existingPaths(paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const path of paths) if (await isThere(path)) found.add(await realPathOf(path));
  return [...found];
}

/** Returns the real paths of those of PATHS that exist, and of the repositories that .git files among them refer to. */
async function withRepositories(paths: readonly string[]): Promise<string[]> {
  const existing = await existingPaths(paths);
  const linked: string[] = [];
  for (const path of existing) linked.push(...(await gitFolders(path)));
  return [...new Set([...existing, ...(await existingPaths(linked))])];
}

/** Returns the paths below FOLDER whose last name is in REPOSITORIES, the nearest first. Searches at most MAX_DEPTH
 * levels and MAX_FOLDERS folders. */
async function repositoriesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  const queue = [{ path: folder, depth: 0 }];
  for (let searched = 0; searched < MAX_FOLDERS; searched += 1) {
    const next = queue.shift();
    if (next === undefined) break;
    for (const entry of await entriesOf(next.path)) {
      const path = join(next.path, entry.name);
      if (REPOSITORIES.includes(entry.name)) found.push(path);
      else if (entry.isDirectory() && entry.name !== PACKAGES && next.depth < MAX_DEPTH)
        queue.push({ path, depth: next.depth + 1 });
    }
  }
  return found;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return withFileTimeout(folder, () => readdir(folder, { withFileTypes: true })).catch(unlessUnanswered([]));
}

/** Returns a function that handles an error by returning VALUE. If the error is that a file system does not answer, the
 * function throws it again. */
function unlessUnanswered<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (error instanceof UnresponsiveFolderError) throw error;
    return value;
  };
}

/** Returns the folders of the repository that PATH, the .git file of a worktree or submodule, refers to. */
async function gitFolders(path: string): Promise<string[]> {
  const [, target] = /^gitdir: (.+)$/m.exec(await textOf(path)) ?? [];
  if (target === undefined) return [];
  const own = resolve(dirname(path), target);
  const common = (await textOf(join(own, 'commondir'))).trim();
  return [own, ...(common === '' ? [] : [resolve(own, common)])];
}

/** Maximum number of octets that are read of a file that contains the path of a folder. */
const NAME_LIMIT = 8192;

async function textOf(path: string): Promise<string> {
  const found = await readRegularAsync(path, { limit: NAME_LIMIT }).catch(unlessUnanswered(undefined));
  return found?.octets.toString('utf8') ?? '';
}
