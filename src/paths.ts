// Decides where a path leads, and whether that is in a folder.

import { realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Returns PATH, a whole path, with the links in what exists of it resolved. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

/** Returns whether the file or directory at PATH is FOLDER or in it; both are whole paths. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Returns the folder of the user, as HOME or the system's list of users names it; undefined where neither does. */
export function homeFolder(): string | undefined {
  try {
    return isAbsolute(homedir()) ? homedir() : userInfo().homedir;
  } catch {
    return undefined;
  }
}
