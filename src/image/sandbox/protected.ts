// Finds what stays read-only in a folder that sandboxed code can write: files that programs outside the sandbox obey.

import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isThere, realPathOf, UnansweredError, withFileTimeout } from '../../files/answering.ts';
import { readRegularAsync } from '../../files/regular.ts';

/** Folders of version control systems. Programs run their hooks and obey their settings at the next command,
 *  or when a shell shows its prompt. */
const REPOSITORIES = ['.git', '.hg', '.svn', '.jj'];

/** Folders that sandboxed code must not create in a workspace. The server creates a missing one as an empty
 *  folder, which disturbs no program. Names of files are not here, because a folder with the name of a file
 *  would. */
export const FORBIDDEN = [
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

/** Files that are reported when they appear in a workspace. */
export const REPORTED = [
  '.envrc',
  '.npmrc',
  '.mcp.json',
  'opencode.json',
  'opencode.jsonc',
  '.pre-commit-config.yaml',
] as const;

/** Names that are read-only where they exist. */
const READ_ONLY = [...FORBIDDEN, ...REPORTED, ...REPOSITORIES];

/** The search for repositories visits at most 1000 folders, at most 6 levels deep. */
const MAX_FOLDERS = 1000;
const MAX_DEPTH = 6;
/** Folder of installed packages, which no person edits, so it is not searched. */
const PACKAGES = 'node_modules';

/** Returns the real paths that stay read-only in the workspace ROOT (a real path): its settings and all
 *  repositories in it. Throws an UnansweredError when a file system does not answer. */
export async function protectedPaths(root: string): Promise<string[]> {
  const settings = [...new Set(READ_ONLY)].map((name) => join(root, name));
  return withRepositories([...settings, ...(await repositoriesIn(root))]);
}

/** Returns the real paths of the repositories below FOLDER, and of the folders that their links and worktree files lead
 *  to. Throws an UnansweredError when a file system does not answer. */
export async function repositoryPaths(folder: string): Promise<string[]> {
  return withRepositories(await repositoriesIn(folder));
}

/** Returns the real paths of those of PATHS that exist. Throws an UnansweredError when a file system does not
 *  answer. */
export async function existingPaths(paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const path of paths) if (await isThere(path)) found.add(await realPathOf(path));
  return [...found];
}

/** Returns the real paths of those of PATHS that exist, and of the folders that .git files among them point to. */
async function withRepositories(paths: readonly string[]): Promise<string[]> {
  const existing = await existingPaths(paths);
  const linked: string[] = [];
  for (const path of existing) linked.push(...(await gitFolders(path)));
  return [...new Set([...existing, ...(await existingPaths(linked))])];
}

/** Returns the repositories below FOLDER, nearest first. */
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

/** Returns the entries of FOLDER; none when it cannot be read or does not exist. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  return withFileTimeout(folder, () => readdir(folder, { withFileTypes: true })).catch(unlessUnanswered([]));
}

/** Returns an error handler that returns VALUE, but rethrows when a file system did not answer. */
function unlessUnanswered<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (error instanceof UnansweredError) throw error;
    return value;
  };
}

/** Returns the repository folders that PATH, the .git file of a worktree or a submodule, points to. */
async function gitFolders(path: string): Promise<string[]> {
  const [, target] = /^gitdir: (.+)$/m.exec(await textOf(path)) ?? [];
  if (target === undefined) return [];
  const own = resolve(dirname(path), target);
  const common = (await textOf(join(own, 'commondir'))).trim();
  return [own, ...(common === '' ? [] : [resolve(own, common)])];
}

/** At most this many octets are read of a file that names a folder. */
const NAME_LIMIT = 8192;

async function textOf(path: string): Promise<string> {
  const found = await readRegularAsync(path, { limit: NAME_LIMIT }).catch(unlessUnanswered(undefined));
  return found?.octets.toString('utf8') ?? '';
}
