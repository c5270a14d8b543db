// Reads and replaces the configuration of a client: never half-written, never through a link that a project can have planted,
// and with a backup in our own folder.

import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { messageOf, SetupError } from '../errors.ts';
import { readRegular } from '../files/regular.ts';
import { makeOwnFolder } from '../own.ts';
import { makeFolder, realPath } from '../paths.ts';

const NO_FILE: readonly unknown[] = ['ENOENT', 'ENOTDIR'];

/** Octets of a configuration: more than any client has. */
const LIMIT = 16 * 1024 * 1024;

/** Where the configuration of a client may be. */
export interface Bounds {
  /** Our own folder, where backups are. */
  state: string;
  /** The folder of the project that it belongs to; absent for one of the user. */
  project?: string;
}

/** Returns where FILE is kept in the folder STATE as it was before it was changed. */
export function backupOf(file: string, { state }: Bounds): string {
  const digest = createHash('sha256').update(realPath(file)).digest('hex').slice(0, 24);
  return join(state, 'configurations', digest);
}

/** Throws a SetupError when FILE is not where it is named: what a project has as a link can lead to anything of the user. A
 *  link of the user's own must lead to something. */
export function checkLinks(file: string, { project }: Bounds): void {
  const real = realPath(file);
  if (project !== undefined && real !== join(realPath(project), relative(project, file))) {
    throw new SetupError(
      `${file} is a link, or is reached through one (to ${real}). No link of a project is followed. Put a file there, and run this again.`,
    );
  }
  if (isLink(real)) {
    throw new SetupError(
      `${file} is a link that leads nowhere. Make the file that it leads to, or remove the link, and run this again.`,
    );
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false; // Nothing is there.
  }
}

/** Returns the text of FILE; undefined when there is none. Throws a SetupError when it cannot be read. */
export function readText(file: string): string | undefined {
  let octets: Buffer;
  try {
    octets = readRegular(file, { limit: LIMIT }).octets;
  } catch (error) {
    if (NO_FILE.includes((error as NodeJS.ErrnoException).code)) return undefined;
    throw new SetupError(
      `${file} cannot be read (${messageOf(error)}). Make it readable, and run this again.`,
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets);
  } catch {
    throw new SetupError(
      `${file} is not in UTF-8, and was left as it is. Save it in UTF-8, and run this again.`,
    );
  }
}

/** Replaces FILE by TEXT at once, or removes it when TEXT is undefined. Its owner and mode stay; one behind a link is
 *  replaced there. Throws a SetupError when it cannot be written; then it is as it was. */
export function replaceText(file: string, text: string | undefined): void {
  const real = realPath(file);
  // A name that nobody can have taken before.
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
    // Not by the flag of above: that leaves out what the mask of this process does.
    chmodSync(partial, mode & 0o777);
    renameSync(partial, real);
  } catch (error) {
    removeIfThere(partial);
    throw new SetupError(
      `${file} cannot be written (${messageOf(error)}), and is as it was. Make it writable, and run this again.`,
    );
  }
}

function keepOwner(file: string, uid: number, gid: number): void {
  const now = statSync(file);
  if (now.uid !== uid || now.gid !== gid) chownSync(file, uid, gid);
}

function removeIfThere(file: string): void {
  try {
    rmSync(file);
  } catch {
    // It was not made.
  }
}

/** Keeps FILE, whose text is TEXT, as it is now; nothing when there is none. Only this user can read that. */
export function keepBackup(file: string, text: string | undefined, bounds: Bounds): void {
  if (text === undefined) return;
  const backup = backupOf(file, bounds);
  try {
    makeOwnFolder(dirname(backup));
  } catch (error) {
    throw new SetupError(
      `${file} was left as it is, since no backup of it can be kept (${messageOf(error)}). Make that folder usable, and run this again.`,
    );
  }
  rmSync(backup, { force: true });
  replaceText(backup, text);
}
