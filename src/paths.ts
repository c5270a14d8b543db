// Decides where a path leads, whether that is in a folder, how a folder is made, and which programs a PATH has.

import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';

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

/** Returns the folder for compiled files that ENVIRONMENT means. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'];
  if (base !== undefined && isAbsolute(base)) return join(base, 'live-lisp');
  return join(homeFolder() ?? tmpdir(), '.cache', 'live-lisp');
}

/** Returns the folder in TEMPORARY, a folder for temporary files, where this user's servers keep their records when they
 *  cannot write in the home. */
export function recordsIn(temporary: string): string {
  return join(temporary, `live-lisp-${process.geteuid?.()}`);
}

/** Makes FOLDER with its parents, and with MODE where they are not there. Not by `recursive`, which never returns where the system says ENOENT for
 *  a folder whose parent exists, as below /proc. */
export function makeFolder(folder: string, mode = 0o777): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  mkdirSync(folder, { mode });
}

/** Returns the programs NAME in the folders of PATH, in their order. A relative one is passed over: it would be whatever the
 *  project has that the server was started in. */
export function programsOf(name: string, path: string = process.env['PATH'] ?? ''): string[] {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .filter(isExecutable);
}

/** Returns whether FILE is a program that can be run. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
