// Decides what in a folder that code in the sandbox changes is only read: what programs outside obey by themselves.

import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { answered, isThere, realPathOf, UnansweredError } from '../../files/answering.ts';
import { readRegularAside } from '../../files/regular.ts';

/** What version control keeps of a folder. Its hooks and settings are run at the next command, or by a prompt. */
const REPOSITORIES = ['.git', '.hg', '.svn', '.jj'];

/** The names of folders in a workspace that code must not make where they are not there. An empty folder in their place
 *  hinders nobody outside: who makes one of these finds it there, empty. In the place of a file it would. */
export const NEVER_MADE = [
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

/** The names of files in a workspace that are noticed when they appear. */
export const NOTICED = [
  '.envrc',
  '.npmrc',
  '.mcp.json',
  'opencode.json',
  'opencode.jsonc',
  '.pre-commit-config.yaml',
] as const;

/** The names that are only read where they are there. */
const ONLY_READ = [...NEVER_MADE, ...NOTICED, ...REPOSITORIES];

/** Folders that are searched for repositories at most, and how deep. */
const SEARCHED = 1000;
const DEEPEST = 6;
/** A folder of packages that no person works in. */
const PACKAGES = 'node_modules';

/** Returns the real paths of what is only read in the workspace ROOT, a real path: its own settings and repositories,
 *  and the repositories in it. Throws an UnansweredError when a file system in it does not answer. */
export async function protectedPaths(root: string): Promise<string[]> {
  const own = [...new Set(ONLY_READ)].map((name) => join(root, name));
  return withRepositories([...own, ...(await repositoriesIn(root))]);
}

/** Returns the real paths of the REPOSITORIES below FOLDER, and of the folders that their links and worktree files
 *  lead to. Throws an UnansweredError when a file system does not answer. */
export async function repositoryPaths(folder: string): Promise<string[]> {
  return withRepositories(await repositoriesIn(folder));
}

/** Returns the real paths of those of PATHS that are there. Throws an UnansweredError when a file system does not answer. */
export async function existingPaths(paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const path of paths) if (await isThere(path)) found.add(await realPathOf(path));
  return [...found];
}

/** Returns the real paths of those of PATHS that are there, with the folders that a file .git among them leads to. */
async function withRepositories(paths: readonly string[]): Promise<string[]> {
  const there = await existingPaths(paths);
  const kept: string[] = [];
  for (const path of there) kept.push(...(await gitFolders(path)));
  return [...new Set([...there, ...(await existingPaths(kept))])];
}

/** Returns the repositories below FOLDER, those that are nearest first. */
async function repositoriesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  const waiting = [{ path: folder, depth: 0 }];
  for (let searched = 0; searched < SEARCHED; searched += 1) {
    const next = waiting.shift();
    if (next === undefined) break;
    for (const entry of await entriesOf(next.path)) {
      const path = join(next.path, entry.name);
      if (REPOSITORIES.includes(entry.name)) found.push(path);
      else if (entry.isDirectory() && entry.name !== PACKAGES && next.depth < DEEPEST)
        waiting.push({ path, depth: next.depth + 1 });
    }
  }
  return found;
}

/** Returns what is in FOLDER: nothing when nobody reads it, or it has gone. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  return answered(folder, () => readdir(folder, { withFileTypes: true })).catch(unlessUnanswered([]));
}

/** Returns what gives VALUE for an error, unless a file system did not answer. */
function unlessUnanswered<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (error instanceof UnansweredError) throw error;
    return value;
  };
}

/** Returns the folders where the repository is kept that PATH, a file of a worktree or a submodule, leads to. */
async function gitFolders(path: string): Promise<string[]> {
  const [, target] = /^gitdir: (.+)$/m.exec(await textOf(path)) ?? [];
  if (target === undefined) return [];
  const own = resolve(dirname(path), target);
  const common = (await textOf(join(own, 'commondir'))).trim();
  return [own, ...(common === '' ? [] : [resolve(own, common)])];
}

/** Octets of a file that names a folder. */
const NAME_LIMIT = 8192;

async function textOf(path: string): Promise<string> {
  const found = await readRegularAside(path, { limit: NAME_LIMIT }).catch(unlessUnanswered(undefined));
  return found?.octets.toString('utf8') ?? '';
}
