// Resolves paths, creates folders, removes files, and finds programs in the folders of PATH.

import { accessSync, constants, existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, parse, relative, sep } from 'node:path';

/** Returns PATH, an absolute path, after resolving the links in the part of it that exists. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

/** Returns true when PATH is FOLDER or is inside FOLDER. Both must be absolute. */
export function isInside(folder: string, path: string): boolean {
  const relativePath = relative(folder, path);
  return relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath);
}

/** Returns FOLDER, which must be absolute, and all folders that contain it, the nearest first. */
export function withFoldersAbove(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withFoldersAbove(parent)];
}

/** Returns the user's home folder, from HOME or from the system's user database; undefined when neither contains it. */
export function homeFolder(): string | undefined {
  try {
    return isAbsolute(homedir()) ? homedir() : userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** Returns true when REAL is too wide to be a workspace, unless the user has named it. The root of the file system, and
 * a folder that is HOME or contains HOME, are too wide. Both arguments are real paths. */
export function isTooWide(real: string, home: string = realPath(homeFolder() ?? '/')): boolean {
  return real === parse(real).root || `${home}${sep}`.startsWith(`${real}${sep}`);
}

/** Returns the folder in which live-lisp stores compiled files, according to ENVIRONMENT. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'];
  if (base !== undefined && isAbsolute(base)) return join(base, 'live-lisp');
  return join(homeFolder() ?? tmpdir(), '.cache', 'live-lisp');
}

/** Returns the folder with the sockets of images that servers can attach to; undefined when the user has no
 * home. By default it is in the home folder that the user database names, because Emacs and an MCP client can have
 * different values of HOME. */
export function servingFolder(environment: NodeJS.ProcessEnv): string | undefined {
  const named = environment['LIVE_LISP_SERVING'];
  if (named !== undefined && isAbsolute(named)) return named;
  const home = homeInDatabase() ?? homeFolder();
  return home === undefined ? undefined : join(home, '.cache', 'live-lisp', 'serving');
}

/** Returns the folder with the sockets of running servers. SERVING is the folder with the sockets of images. */
export function sessionsFolder(serving: string): string {
  return join(serving, 'sessions');
}

/** Returns the user's home folder according to the system's user database. Returns undefined when the user is not in
 * it, as in some containers. */
function homeInDatabase(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** Returns the folder in TEMPORARY for this user's records, which is used when the home folder cannot be written. */
export function recordsFolder(temporary: string): string {
  return join(temporary, `live-lisp-${process.geteuid?.()}`);
}

/** Creates FOLDER and its parents with MODE. Does not use the option `recursive` of mkdir: with it, mkdir never returns
 * when the system reports ENOENT although the parent exists, as in /proc. */
export function makeFolder(folder: string, mode = 0o777): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process can have created the folder at the same time.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Removes the file PATH. Ignores all errors, for example when PATH is a folder. */
export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}

/** Returns the executable files NAME in the folders that PATH lists, in this order. Skips relative folders, because
 * they would be inside the project in which the server was started. */
export function programsOf(name: string, path: string = process.env['PATH'] ?? ''): string[] {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .filter(isExecutable);
}

/** Returns true when FILE is a regular file that this user can execute. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
