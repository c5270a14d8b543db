// Resolves paths, creates folders, removes files, and finds programs on PATH.

import { accessSync, constants, existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, parse, relative, sep } from 'node:path';

/** Returns PATH, an absolute path, with the links resolved in its existing part. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

/** True when PATH is FOLDER or is inside it. Both must be absolute. */
export function isInside(folder: string, path: string): boolean {
  const relativePath = relative(folder, path);
  return relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath);
}

/** Returns the user's home, from HOME or the system's user database; undefined when neither has it. */
export function homeFolder(): string | undefined {
  try {
    return isAbsolute(homedir()) ? homedir() : userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** True when REAL is too wide for a workspace that the user did not name: the root of the file system, or a
 *  folder that is or contains HOME. Both are real paths. */
export function isTooWide(real: string, home: string = realPath(homeFolder() ?? '/')): boolean {
  return real === parse(real).root || `${home}${sep}`.startsWith(`${real}${sep}`);
}

/** Returns the folder for compiled files, according to ENVIRONMENT. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'];
  if (base !== undefined && isAbsolute(base)) return join(base, 'live-lisp');
  return join(homeFolder() ?? tmpdir(), '.cache', 'live-lisp');
}

/** Returns the folder for the sockets of images of somebody else; undefined when the user has no home. Emacs
 *  and an MCP client can have different values of HOME, so the default depends on the user database and not
 *  on ENVIRONMENT. */
export function servingFolder(environment: NodeJS.ProcessEnv): string | undefined {
  const named = environment['LIVE_LISP_SERVING'];
  if (named !== undefined && isAbsolute(named)) return named;
  const home = homeInDatabase() ?? homeFolder();
  return home === undefined ? undefined : join(home, '.cache', 'live-lisp', 'serving');
}

/** Returns the folder for the sockets of running servers, inside SERVING, the folder for those of images. */
export function sessionsFolder(serving: string): string {
  return join(serving, 'sessions');
}

/** Returns the user's home from the system's user database; undefined for a user without entry, as in some
 *  containers. */
function homeInDatabase(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** Returns the folder in TEMPORARY for this user's records when the home is not writable. */
export function recordsFolder(temporary: string): string {
  return join(temporary, `live-lisp-${process.geteuid?.()}`);
}

/** Creates FOLDER and its parents with MODE. With the option `recursive`, mkdir never returns when the system
 *  reports ENOENT for a folder with an existing parent, as in /proc, so it is not used. */
export function makeFolder(folder: string, mode = 0o777): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process can have created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Removes the file PATH if possible. A folder stays. */
export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}

/** Returns the executable files NAME in the folders of PATH, in order. Relative folders would be inside the
 *  project in which the server was started, so they are skipped. */
export function programsOf(name: string, path: string = process.env['PATH'] ?? ''): string[] {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .filter(isExecutable);
}

/** True when FILE is an executable regular file. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
