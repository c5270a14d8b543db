// Writes a file completely or not at all. Replaces only content that the caller has confirmed.

import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CallError } from '../errors.ts';
import { visibleName } from '../visible.ts';
import { withFileTimeout } from './answering.ts';
import { digestOf } from './digest.ts';
import { fileFailure } from './failure.ts';
import { Folder, type OpenFile } from './folder.ts';
import { removeStale, temporaryName } from './half-written.ts';
import { readBytes, WHOLE_FILE_LIMIT } from './lines.ts';
import { checkKind, kindError } from './path-refusals.ts';
import type { Workspace } from './workspace.ts';

/** The current state of a file that is to be written. */
export interface FileState {
  /** The name of the file for messages, relative to the workspace. */
  name: string;
  /** Size in octets; undefined when the file does not exist. */
  size: number | undefined;
  /** The content; undefined when the file does not exist, or is larger than WHOLE_FILE_LIMIT. */
  bytes: Buffer | undefined;
  /** A digest of the real path and of the content. */
  fingerprint: string;
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY, W_OK } = constants;

/** Returns the current state of the file PATH in WORKSPACE. Throws a CallError when tools cannot write to it. */
export async function presentFile(
  workspace: Workspace,
  path: string,
  signal?: AbortSignal,
): Promise<FileState> {
  return withTarget(workspace, path, (target) => presentIn({ workspace, path, signal }, target));
}

/** Replaces the content of the file PATH in WORKSPACE by BYTES, and returns the name of the file for messages. Creates
 * missing directories. Calls CONFIRM with the current state of the file twice: before anything is created, and directly
 * before the rename. If writing fails, SIGNAL aborts or CONFIRM throws, throws and changes nothing. */
export async function replaceFile(
  workspace: Workspace,
  path: string,
  bytes: Uint8Array,
  confirm: (present: FileState) => void,
  signal?: AbortSignal,
): Promise<string> {
  const file = { workspace, path, signal };
  const change = async (target: WriteTarget) => {
    const present = await presentIn(file, target);
    confirm(present);
    await inParent(target, async (parent, base) => {
      const check = async () => {
        confirm(await presentIn(file, { folder: parent, names: [base] }));
        checkNotCancelled(signal);
      };
      await replaceIn(parent, base, bytes, check);
      workspace.noteChanged(join(parent.path, base));
    });
    return present.name;
  };
  return workspace.exclusively(() => withTarget(workspace, path, change));
}

/** The file at `path` in `workspace`, for a call that `signal` cancels. */
interface WrittenFile {
  workspace: Workspace;
  path: string;
  signal: AbortSignal | undefined;
}

/** The place to which a path leads. */
export interface WriteTarget {
  /** The last directory of the path that exists. It is open. */
  folder: Folder;
  /** The names that follow `folder` in the path. The last one is that of the file. */
  names: string[];
}

/** Calls USE with the location of PATH, while its folder is open. Throws a CallError when tools may not write to it. */
export async function withTarget<Value>(
  workspace: Workspace,
  path: string,
  use: (target: WriteTarget) => Promise<Value>,
): Promise<Value> {
  // `real` is the real path of the existing part of PATH, and `missing` is a list of the names after that part.
  const { real, missing } = await workspace.locate(path, 'write');
  if (/\/\.{0,2}$/.test(path) && missing.length > 0) {
    throw new CallError(`Path ${visibleName(path)} ends like a directory. Give the path of a file.`);
  }
  try {
    const stats = await withFileTimeout(dirname(real), () => lstat(real));
    if (missing.length === 0) checkKind(path, stats);
    if (missing.length > 0 && !stats.isDirectory()) {
      throw new CallError(
        `${visibleName(path)} cannot be written: ${visibleName(workspace.name(real))} is not a directory.`,
      );
    }
    const folder = await Folder.open(missing.length > 0 ? real : dirname(real));
    const names = missing.length > 0 ? missing : [basename(real)];
    try {
      // `locate` has checked REAL. Since then, code in the image can have replaced a folder of REAL by a link.
      await workspace.check(join(folder.path, ...names), 'write', path);
      return await use({ folder, names });
    } finally {
      await folder.close();
    }
  } catch (error) {
    throw fileFailure(error, path, 'written');
  }
}

/** Throws a CallError when SIGNAL has aborted, because a call that fails must not change anything. */
export function checkNotCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw new CallError('The call was cancelled before the file was changed; nothing was written.');
  }
}

/** Returns the current state of a file. The second parameter is the place to which its path leads. */
export async function presentIn(
  { workspace, path, signal }: WrittenFile,
  { folder, names }: WriteTarget,
): Promise<FileState> {
  checkNotCancelled(signal);
  const real = join(folder.path, ...names);
  await workspace.checkSaved(real, path);
  const [base = '', ...more] = names;
  const file = await folder.openFile(base);
  const fingerprintOf = (content: string) => digestOf(JSON.stringify([real, content]));
  if (file === undefined) {
    return { name: workspace.name(real), size: undefined, bytes: undefined, fingerprint: fingerprintOf('') };
  }
  // If more names follow BASE, BASE did not exist when the path was resolved. Now it exists and is not a directory.
  if (!('handle' in file) || more.length > 0) throw kindError(path, file.stats);
  try {
    await checkWritable(folder, base, file.stats, path);
    const { digest, bytes, size } = await contentOf(file, signal);
    return { name: workspace.name(real), size, bytes, fingerprint: fingerprintOf(digest) };
  } finally {
    await file.handle.close();
  }
}

/** Throws a CallError when the file is read-only, although its directory would allow to replace it. Also tests the
 * mode, because the system lets root write to a read-only file. */
async function checkWritable(folder: Folder, base: string, { mode }: Stats, path: string): Promise<void> {
  const denied = await access(folder.at(base), W_OK).then(
    () => false,
    () => true,
  );
  if (!denied && (mode & 0o222) !== 0) return;
  throw new CallError(
    `${visibleName(path)} is not writable (mode ${(mode & 0o777).toString(8)}); nothing was written. Ask the user to make it writable.`,
  );
}

async function contentOf(
  { handle, stats }: OpenFile,
  signal: AbortSignal | undefined,
): Promise<{ digest: string; bytes?: Buffer; size: number }> {
  const hash = createHash('sha256');
  const whole = stats.size <= WHOLE_FILE_LIMIT ? await readBytes(handle, 0, WHOLE_FILE_LIMIT) : undefined;
  if (whole !== undefined)
    return { digest: hash.update(whole).digest('hex'), bytes: whole, size: whole.length };
  let size = 0;
  for (let part = await readBytes(handle, 0, WHOLE_FILE_LIMIT); part.length > 0; ) {
    checkNotCancelled(signal);
    hash.update(part);
    size += part.length;
    part = await readBytes(handle, size, WHOLE_FILE_LIMIT);
  }
  return { digest: hash.digest('hex'), size };
}

/** Creates the missing directories of a target. Then calls USE with the last directory and the last name. If USE fails,
 * removes the directories again. */
async function inParent(
  { folder, names: [name = '', ...more] }: WriteTarget,
  use: (folder: Folder, base: string) => Promise<void>,
): Promise<void> {
  if (more.length === 0) return use(folder, name);
  const { folder: child, created } = await folder.openOrMake(name);
  try {
    await inParent({ folder: child, names: more }, use);
  } catch (error) {
    if (created) await folder.removeEmpty(name);
    throw error;
  } finally {
    await child.close();
  }
  if (created) await folder.sync();
}

/** Replaces the file BASE in FOLDER by BYTES with one rename, so that readers see either the old or the new content.
 * Calls CONFIRM directly before the rename. If CONFIRM throws, nothing is renamed. */
async function replaceIn(
  folder: Folder,
  base: string,
  bytes: Uint8Array,
  confirm: () => Promise<void>,
): Promise<void> {
  const temporary = await writeTemporary(folder, base, bytes);
  try {
    await confirm();
    await rename(folder.at(temporary), folder.at(base));
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => {});
    throw error;
  }
  await removeStale(folder);
  await folder.sync();
}

/** Writes BYTES to a temporary file in the folder of BASE, with the owner and mode of BASE. Returns the name of this
 * file. */
export async function writeTemporary(folder: Folder, base: string, bytes: Uint8Array): Promise<string> {
  const temporary = temporaryName();
  const existing = await lstat(folder.at(base)).catch(() => undefined);
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  // Until keepOwner sets the mode of BASE, nobody else can read the new content.
  const handle = await open(folder.at(temporary), flags, existing ? 0o600 : 0o666);
  try {
    try {
      await folder.confirm(temporary, await handle.stat());
      await handle.writeFile(bytes);
      if (existing) await keepOwner(handle, existing);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return temporary;
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => {});
    throw error;
  }
}

/** Gives a new file the mode of the old file, and also its owner if the system allows this. */
async function keepOwner(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const created = await handle.stat();
  const ownerKept =
    (created.uid === uid && created.gid === gid) ||
    (await handle.chown(uid, gid).then(
      () => true,
      () => false,
    ));
  // The set-user-ID and set-group-ID bits must not take effect for another owner.
  await handle.chmod(mode & (ownerKept ? 0o7777 : 0o777));
}
