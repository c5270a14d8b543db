// Reads and replaces the configuration files of clients. Replaces a file atomically and with a backup, and never
// through a link in a project.

import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { messageOf, SetupError } from '../errors.ts';
import { digestOf } from '../files/digest.ts';
import { readRegular } from '../files/regular.ts';
import { makeOwnFolder } from '../ownership.ts';
import { makeFolder, realPath, removeIfPossible } from '../paths.ts';

const NO_FILE: readonly unknown[] = ['ENOENT', 'ENOTDIR'];

/** Maximum number of octets of a configuration file. No client's file is larger. */
const LIMIT = 16 * 1024 * 1024;

/** Describes the owner of a configuration file, and the place for its backup. */
export interface ConfigFileRules {
  /** The folder of live-lisp in which backups are stored. */
  state: string;
  /** The folder of the project that the configuration belongs to; absent when it belongs to the user. */
  project?: string;
}

/** Returns the path, in the folder `state`, of the backup of FILE. */
export function backupOf(file: string, { state }: ConfigFileRules): string {
  const digest = digestOf(realPath(file)).slice(0, 24);
  return join(state, 'configurations', digest);
}

/** Throws a SetupError when FILE belongs to a project and is behind a link, because the link could lead to any file of
 * the user. Links in the user's own configuration are allowed, if they lead to a file. */
export function checkLinks(file: string, { project }: ConfigFileRules): void {
  const real = realPath(file);
  if (project !== undefined && real !== join(realPath(project), relative(project, file))) {
    throw new SetupError(
      `${file} is a link or below a link (to ${real}). Links in a project are not followed. Replace the link with a real file or folder, and run this again.`,
    );
  }
  if (isLink(real)) {
    throw new SetupError(
      `${file} is a broken link. Create its target, or remove the link, and run this again.`,
    );
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false; // There is no file.
  }
}

/** Returns the text of FILE; undefined when it does not exist. Throws a SetupError when it cannot be read. */
export function readConfigFile(file: string): string | undefined {
  let octets: Buffer;
  try {
    octets = readRegular(file, { limit: LIMIT }).octets;
  } catch (error) {
    if (NO_FILE.includes((error as NodeJS.ErrnoException).code)) return undefined;
    throw new SetupError(
      `${file} cannot be read (${reasonOf(error)}). Make it readable, and run this again.`,
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets);
  } catch {
    throw new SetupError(
      `${file} is not in UTF-8, and was not changed. Save it in UTF-8, and run this again.`,
    );
  }
}

/** Replaces FILE by TEXT, atomically, with the same owner and mode. If FILE is a link, replaces its target. If TEXT is
 * undefined, removes FILE. If this fails, throws a SetupError and does not change FILE. */
export function replaceText(file: string, text: string | undefined): void {
  const real = realPath(file);
  // The name is random, so that nobody can have prepared a file with this name.
  const partial = `${real}.${randomBytes(8).toString('hex')}`;
  try {
    if (text === undefined) {
      rmSync(real, { force: true });
      return;
    }
    makeFolder(dirname(real));
    const { uid, gid, mode = 0o600 } = statSync(real, { throwIfNoEntry: false }) ?? {};
    writeFileSync(partial, text, { mode: 0o600, flag: 'wx' });
    if (uid !== undefined && gid !== undefined) keepOwner(partial, uid, gid);
    // The umask of the process removes bits of the mode that writeFileSync gets, so the mode is set again.
    chmodSync(partial, mode & 0o777);
    renameSync(partial, real);
  } catch (error) {
    removeIfPossible(partial);
    throw new SetupError(
      `${file} cannot be written (${reasonOf(error)}), and is unchanged. Make it writable, and run this again.`,
    );
  }
}

/** Returns the system's message in ERROR without the name of the system call, which differs between versions of
 * Node. */
function reasonOf(error: unknown): string {
  return messageOf(error).replace(/, [a-z]+ '.*$/s, '');
}

function keepOwner(file: string, uid: number, gid: number): void {
  const now = statSync(file);
  if (now.uid !== uid || now.gid !== gid) chownSync(file, uid, gid);
}

/** Saves TEXT, the content of the configuration file FILE, as a backup that only this user can read. If TEXT is
 * undefined, removes an older backup. BOUNDS say where the backup is. Throws a SetupError when its folder cannot be
 * made. */
export function keepBackup(file: string, text: string | undefined, bounds: ConfigFileRules): void {
  const backup = backupOf(file, bounds);
  if (text === undefined) {
    replaceText(backup, undefined);
    return;
  }
  try {
    makeOwnFolder(dirname(backup));
  } catch (error) {
    throw new SetupError(
      `${file} was not changed, because no backup of it can be stored (${messageOf(error)}). Make the folder for backups usable, and run this again.`,
    );
  }
  rmSync(backup, { force: true });
  replaceText(backup, text);
}
