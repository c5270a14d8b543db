// Decides what in a folder that code in the sandbox changes is only read: what programs outside obey by themselves.

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readIfRegular } from '../../files/regular.ts';
import { realPath } from '../../paths.ts';

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
] as const;

/** The names that are only read where they are there. */
const ONLY_READ = [
  ...NEVER_MADE,
  ...REPOSITORIES,
  '.envrc',
  '.npmrc',
  '.mcp.json',
  'opencode.json',
  'opencode.jsonc',
  '.opencode',
  '.agents',
  '.cursor',
  '.windsurf',
  '.zed',
  '.husky',
  '.devcontainer',
  '.pre-commit-config.yaml',
];

/** Folders that are searched for repositories at most, and how deep. */
const SEARCHED = 1000;
const DEEPEST = 6;
/** A folder of packages that no person works in. */
const PACKAGES = 'node_modules';

/** Returns the real paths of what is only read in the workspace ROOT, a real path: its own settings and repositories,
 *  and the repositories in it. */
export function protectedPaths(root: string): string[] {
  const own = [...new Set(ONLY_READ)].map((name) => join(root, name));
  return withRepositories([...own, ...repositoriesIn(root)]);
}

/** Returns the real paths of the repositories in FOLDER, and of what they are kept in. */
export function repositoryPaths(folder: string): string[] {
  return withRepositories(repositoriesIn(folder));
}

/** Returns the real paths of those of PATHS that are there, with the folders that a file .git among them leads to. */
function withRepositories(paths: readonly string[]): string[] {
  const there = paths.filter((path) => existsSync(path));
  return [...new Set([...there, ...there.flatMap(gitFolders)].map(realPath))];
}

/** Returns the repositories below FOLDER, those that are nearest first. */
function repositoriesIn(folder: string): string[] {
  const found: string[] = [];
  const waiting = [{ path: folder, depth: 0 }];
  for (let searched = 0; searched < SEARCHED; searched += 1) {
    const next = waiting.shift();
    if (next === undefined) break;
    for (const entry of entriesOf(next.path)) {
      const path = join(next.path, entry.name);
      if (REPOSITORIES.includes(entry.name)) found.push(path);
      else if (entry.isDirectory() && entry.name !== PACKAGES && next.depth < DEEPEST)
        waiting.push({ path, depth: next.depth + 1 });
    }
  }
  return found;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Nobody reads it, or it has gone.
  }
}

/** Returns the folders where the repository is kept that PATH, a file of a worktree or a submodule, leads to. */
function gitFolders(path: string): string[] {
  const [, target] = /^gitdir: (.+)$/m.exec(textOf(path)) ?? [];
  if (target === undefined) return [];
  const own = resolve(dirname(path), target);
  const common = textOf(join(own, 'commondir')).trim();
  return [own, ...(common === '' ? [] : [resolve(own, common)])].filter((folder) => existsSync(folder));
}

/** Octets of a file that names a folder. */
const NAME_LIMIT = 8192;

function textOf(path: string): string {
  return readIfRegular(path, { limit: NAME_LIMIT })?.octets.toString('utf8') ?? '';
}
