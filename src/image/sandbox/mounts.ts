// Decides which folders and sockets outside the workspace an image in the sandbox must not see.

import { lstatSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { isInside, realPath } from '../../paths.ts';

/** Returns whether PATH is one of FOLDERS or in one of them. */
export function isIn(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => isInside(folder, path));
}

/** Returns the real paths of ROOTS, without those that lie in another, or are reached through another. Code that can
 *  write there decides where these lead. */
export function outermost(roots: readonly string[]): string[] {
  const real = [...new Map(roots.map((root) => [realPath(root), root]))];
  return real
    .filter(([path, root]) => !real.some(([other]) => other !== path && leadsThrough(root, other)))
    .map(([path]) => path);
}

/** Whether the way to PATH, with its links, leads through FOLDER. */
function leadsThrough(path: string, folder: string): boolean {
  const parent = dirname(path);
  return isInside(folder, realPath(path)) || (parent !== path && leadsThrough(parent, folder));
}

/** Returns the folders that are empty in the sandbox. They are those for temporary files, and those where services of
 *  the system and of the user's session have their sockets. */
export function hiddenFolders(): string[] {
  const folders = ['/tmp', '/var/tmp', '/run', tmpdir(), process.env['XDG_RUNTIME_DIR'] || '/run'];
  const real = [...new Set(folders.map(realPath))].filter(
    (path) => path !== '/' && kindOf(path) === 'folder',
  );
  return real.filter((path) => !real.some((other) => other !== path && isInside(other, path)));
}

/** Returns the real paths of the sockets in the file system that processes of this network namespace have open. A mount
 *  that is only read does not keep code from connecting to them. */
export function openSockets(): string[] {
  const paths = [...readTable().matchAll(/ (\/.*)$/gm)].map(([, path = '']) => realPath(path));
  return [...new Set(paths)].filter((path) => kindOf(path) === 'socket');
}

function readTable(): string {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return ''; // No Linux, and so no sandbox either.
  }
}

function kindOf(path: string): 'folder' | 'socket' | undefined {
  try {
    const stats = lstatSync(path);
    return stats.isDirectory() ? 'folder' : stats.isSocket() ? 'socket' : undefined;
  } catch {
    return undefined;
  }
}
