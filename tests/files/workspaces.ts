// A workspace in a temporary folder, beside a folder that no tool may reach.

import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Workspace } from '../../src/files/workspace.ts';
import { FORBIDDEN_FOLDERS } from '../../src/image/sandbox/protected.ts';
import { temporaryFolder } from '../harness.ts';

export interface TestWorkspace {
  workspace: Workspace;
  /** The root. */
  root: string;
  /** A folder beside the root with the file `secret.txt`. */
  outside: string;
  /** Writes CONTENT as PATH below the root and returns the whole path. */
  put(path: string, content: string | Buffer): string;
  remove(): void;
}

/** Returns a new workspace; READ_ROOTS are beside its root. */
export function makeWorkspace(...readRoots: string[]): TestWorkspace {
  const folder = temporaryFolder();
  const base = realpathSync(folder.path);
  const [root, outside] = [join(base, 'app'), join(base, 'outside')];
  for (const path of [root, outside, ...readRoots.map((name) => join(base, name))]) mkdirSync(path);
  writeFileSync(join(outside, 'secret.txt'), 'SECRET\n');
  const workspace = new Workspace({
    roots: [root],
    readRoots: readRoots.map((name) => join(base, name)),
    sources: async () => [],
  });
  const put = (path: string, content: string | Buffer) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  return { workspace, root, outside, put, remove: folder.remove };
}

/** Returns the paths of all files and directories below FOLDER, sorted, without the empty folders that a sandbox holds in
 *  the workspace. */
export function tree(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  return names.filter((name) => !FORBIDDEN_FOLDERS.some((held) => held === name)).sort();
}
