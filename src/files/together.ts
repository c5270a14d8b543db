// Replaces several files: all of them or none, even if the server is killed while it does this.
//
// The steps, and the result of a kill after each step:
// 1. Each new content is written to a temporary file, and each old content gets a second name (an `old`
//    file). After a kill, the files are unchanged. removeStale later removes the temporary and `old` files.
// 2. The files are checked again, and a record of all replacements (the intents) is written to the disk.
//    After a kill, the next server reads the record, and finds that no file was renamed.
// 3. The temporary files are renamed into place, one by one. After a kill, some files have their new
//    content. The next server renames their `old` files back (rollBack). If all files have their new
//    content, it keeps them. If a rename fails, the `old` files are renamed back at once. One for which
//    this fails too has the only copy of its content, so it gets a lasting name, which the error tells.
// 4. The record is removed, and then the other `old` files.

import { constants } from 'node:fs';
import { copyFile, link, rename, rm, unlink } from 'node:fs/promises';
import { CallError, messageOf } from '../errors.ts';
import { visibleName } from '../visible.ts';
import { digestOf } from './digest.ts';
import { fileFailure, systemReason } from './failure.ts';
import type { Folder } from './folder.ts';
import { removeStale, temporaryName } from './half-written.ts';
import type { IntendedFile, Intents } from './intents.ts';
import type { Workspace } from './workspace.ts';
import {
  checkNotCancelled,
  type FileState,
  presentIn,
  replaceFile,
  type WriteTarget,
  withTarget,
  writeTemporary,
} from './write.ts';

interface Replacement {
  path: string;
  bytes: Uint8Array;
  /** Checks the state of the file directly before the change. To prevent the change, it throws. */
  confirm: (present: FileState) => void;
}

interface OpenReplacement extends Replacement, WriteTarget {
  base: string;
}

/** A replacement whose `temporary` file with the new content exists (step 1 at the top of this file). `temporary` and
 * `old` are names of files in the directory of the file. */
interface Prepared extends OpenReplacement {
  temporary: string;
  /** The name of the file with the old content; '' for a new file. */
  old: string;
  intended: IntendedFile;
}

/** Performs REPLACEMENTS in WORKSPACE. Performs none of them when one fails, when SIGNAL aborts, or when a `confirm`
 * throws. INTENTS stores a record, so that the next server can undo the replacements after a kill. */
export async function replaceTogether(
  workspace: Workspace,
  intents: Intents,
  replacements: readonly Replacement[],
  signal?: AbortSignal,
): Promise<void> {
  const [only, ...more] = replacements;
  if (only === undefined) return;
  if (more.length === 0) {
    await replaceFile(workspace, only.path, only.bytes, only.confirm, signal);
    return;
  }
  await workspace.exclusively(() =>
    withTargets(workspace, replacements, [], (opened) => replaceOpened(workspace, intents, opened, signal)),
  );
}

/** Opens the directories of the given replacements. Calls USE with OPENED, the replacements whose directories are open
 * already, and these replacements, while all the directories are open. The function is recursive, because withTarget
 * keeps a directory open only while it calls its argument. */
async function withTargets<Value>(
  workspace: Workspace,
  [first, ...others]: readonly Replacement[],
  opened: readonly OpenReplacement[],
  use: (opened: readonly OpenReplacement[]) => Promise<Value>,
): Promise<Value> {
  if (first === undefined) return use(opened);
  return withTarget(workspace, first.path, (target) => {
    // The names before the last one are those of folders that do not exist.
    if (target.names.length > 1)
      throw new CallError(
        `The folder of ${visibleName(first.path)} does not exist; nothing was written. Create that file in a separate call.`,
      );
    const next = { ...first, ...target, base: target.names[0] ?? '' };
    return withTargets(workspace, others, [...opened, next], use);
  });
}

/** Calls USE and returns its value. An error of the file system is replaced by an error that names the file. */
async function nameFileOnFailure<Value>({ path }: Replacement, use: () => Promise<Value>): Promise<Value> {
  try {
    return await use();
  } catch (error) {
    throw fileFailure(error, path, 'written');
  }
}

/** Performs the four steps with OPENED. */
async function replaceOpened(
  workspace: Workspace,
  intents: Intents,
  opened: readonly OpenReplacement[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const prepared: Prepared[] = [];
  let unrestored: readonly Unrestored[] = [];
  const confirmed = async (replacement: OpenReplacement) => {
    const file = { workspace, path: replacement.path, signal };
    const present = await nameFileOnFailure(replacement, () => presentIn(file, replacement));
    replacement.confirm(present);
    return present;
  };
  try {
    for (const replacement of opened) {
      const isNew = (await confirmed(replacement)).size === undefined;
      prepared.push(await nameFileOnFailure(replacement, () => prepare(replacement, isNew)));
    }
    for (const replacement of opened) await confirmed(replacement);
    checkNotCancelled(signal);
    const removeIntents = await recordIntents(intents, prepared);
    try {
      const failed = await renameUntilFailure(prepared);
      if (failed !== undefined) {
        unrestored = await restoreAll(failed.renamed);
        throw renameFailure(workspace, failed, unrestored);
      }
      for (const { folder, base } of prepared) workspace.noteChanged(`${folder.path}/${base}`);
      for (const { folder } of prepared) await folder.sync();
    } finally {
      await removeIntents();
    }
  } finally {
    const neededOld = await intents.oldNames();
    for (const replacement of prepared) {
      const { folder, temporary, old } = replacement;
      await unlink(folder.at(temporary)).catch(() => {});
      // An unrestored file still has its `old` file if this could not get a lasting name.
      const isOldNeeded = unrestored.some((file) => file.replacement === replacement);
      if (old !== '' && !isOldNeeded) await unlink(folder.at(old)).catch(() => {});
      await removeStale(folder, neededOld);
    }
  }
}

async function recordIntents(intents: Intents, prepared: readonly Prepared[]): Promise<() => Promise<void>> {
  try {
    return await intents.begin(prepared.map(({ intended }) => intended));
  } catch (error) {
    throw new CallError(
      `live-lisp could not record this change of several files before making it (${messageOf(error)}), so nothing was written. Change the files one at a time.`,
    );
  }
}

/** Performs step 1 (see the top of this file) for one replacement: writes the new content to a temporary file, and
 * gives the old content a second name. IS_NEW is true when no file exists at its path. */
async function prepare(replacement: OpenReplacement, isNew: boolean): Promise<Prepared> {
  const { folder, base, bytes } = replacement;
  const temporary = await writeTemporary(folder, base, bytes);
  const intended = { path: `${folder.path}/${base}`, old: '', before: '', after: digestOf(bytes) };
  if (isNew) return { ...replacement, temporary, old: '', intended };
  const old = temporaryName('old');
  try {
    // If the file system has no hard links, the file is copied.
    await link(folder.at(base), folder.at(old)).catch(() =>
      copyFile(folder.at(base), folder.at(old), constants.COPYFILE_EXCL),
    );
    const before = await digestIn(replacement, old);
    return { ...replacement, temporary, old, intended: { ...intended, old, before: before ?? '' } };
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => {});
    await unlink(folder.at(old)).catch(() => {});
    throw error;
  }
}

/** The rename of `replacement` failed with `error`. Those of `renamed` had succeeded before. */
interface FailedRename {
  replacement: Prepared;
  error: unknown;
  renamed: readonly Prepared[];
}

/** Renames the temporary files of PREPARED into place, until a rename fails. Returns undefined when all succeeded. */
async function renameUntilFailure(prepared: readonly Prepared[]): Promise<FailedRename | undefined> {
  for (const [index, replacement] of prepared.entries()) {
    const { folder, base, temporary } = replacement;
    try {
      await rename(folder.at(temporary), folder.at(base));
    } catch (error) {
      return { replacement, error, renamed: prepared.slice(0, index) };
    }
  }
  return undefined;
}

/** A file that was replaced and could not be restored. `keptAs` is the name of the file in its directory that has the
 * old content; '' for a new file. */
interface Unrestored {
  replacement: Prepared;
  keptAs: string;
}

/** Undoes the replacements RENAMED. Returns those for which this failed. */
async function restoreAll(renamed: readonly Prepared[]): Promise<Unrestored[]> {
  const attempts = renamed.map(async (replacement): Promise<Unrestored[]> => {
    const { folder, base, old } = replacement;
    try {
      await restore(folder, base, old);
      return [];
    } catch {
      return [{ replacement, keptAs: old === '' ? '' : await keepOld(replacement) }];
    }
  });
  return (await Promise.all(attempts)).flat();
}

/** Undoes the replacement of the file BASE in FOLDER: renames OLD to BASE. If OLD is '', BASE was a new file, so
 * removes it. */
async function restore(folder: Folder, base: string, old: string): Promise<void> {
  if (old === '') await rm(folder.at(base), { force: true });
  else await rename(folder.at(old), folder.at(base));
}

/** Gives the `old` file of a replacement a name that removeStale leaves alone. Returns the name that the file has
 * then. */
async function keepOld({ folder, base, old }: Prepared): Promise<string> {
  const lasting = `${base}${old.replace('.live-lisp', '')}`;
  return rename(folder.at(old), folder.at(lasting)).then(
    () => lasting,
    () => old,
  );
}

/** Returns the error to throw when a rename failed and UNRESTORED are the files that could not be restored. */
function renameFailure(
  workspace: Workspace,
  { replacement: { path }, error }: FailedRename,
  unrestored: readonly Unrestored[],
): unknown {
  if (unrestored.length === 0) return fileFailure(error, path, 'written');
  const shown = (folder: Folder, name: string) => visibleName(workspace.name(`${folder.path}/${name}`));
  const files = unrestored.map(({ replacement: { folder, base }, keptAs }) => {
    const before =
      keptAs === '' ? 'it did not exist before' : `its old content is in ${shown(folder, keptAs)}`;
    return `${shown(folder, base)} (${before})`;
  });
  return new CallError(
    `${visibleName(path)} cannot be written: ${reasonText(error)}. Before it, other files were written, and these could not be put back: ${files.join(', ')}. Put them back before you call again.`,
  );
}

function reasonText(error: unknown): string {
  return error instanceof Error && 'code' in error ? systemReason(String(error.code)) : messageOf(error);
}

/** Returns the digest of the file NAME in a folder; undefined when NAME is not a regular file. */
async function digestIn({ folder }: WriteTarget, name: string): Promise<string | undefined> {
  const file = await folder.openFile(name);
  if (file === undefined || !('handle' in file)) return undefined;
  try {
    return digestOf(await file.handle.readFile());
  } finally {
    await file.handle.close();
  }
}

/** Undoes the unfinished replacements of killed servers in WORKSPACE, according to the records in INTENTS. Keeps a
 * replacement if all its files were renamed. Returns sentences for the user about what was undone. */
export async function rollBackUnfinished(workspace: Workspace, intents: Intents): Promise<string[]> {
  const notes: string[] = [];
  for (const { files, remove } of await intents.unfinished()) {
    await workspace.exclusively(async () => {
      const states = await statesAfterKill(workspace, files).catch(() => undefined);
      // The record belongs to another workspace. A server for that workspace will undo the replacement.
      if (states === undefined) return;
      try {
        const text = await rollBack(workspace, files, states);
        await remove();
        if (text !== undefined) notes.push(text);
      } catch (error) {
        // The record and the `old` files stay, so the next server tries again.
        notes.push(notUndoneText(workspace, files, error));
      }
    });
  }
  return notes;
}

/** The state of a file after a kill. 'before': it has its old content. 'after': it has its new content, and the old
 * content is saved. 'changed': it has some other content, or the old content is lost, so it is not touched. */
type StateAfterKill = 'before' | 'after' | 'changed';

/** Returns the states of FILES. Throws when one of them is not in WORKSPACE. */
async function statesAfterKill(
  workspace: Workspace,
  files: readonly IntendedFile[],
): Promise<StateAfterKill[]> {
  const states: StateAfterKill[] = [];
  for (const file of files)
    states.push(await withTarget(workspace, file.path, (target) => stateOf(target, file)));
  return states;
}

/** Undoes an unfinished replacement of FILES, the files that its record lists; STATES are their states. Returns a text
 * about what was undone. Returns undefined when all files were renamed, so that nothing has to be undone. */
async function rollBack(
  workspace: Workspace,
  files: readonly IntendedFile[],
  states: readonly StateAfterKill[],
): Promise<string | undefined> {
  const allReplaced = states.every((state) => state === 'after');
  for (const [index, file] of files.entries()) {
    await withTarget(workspace, file.path, async (target) => {
      const [base = ''] = target.names;
      if (states[index] === 'after' && !allReplaced)
        await restore(target.folder, base, file.old).catch((error: unknown) => {
          throw new CallError(`${visibleName(workspace.name(file.path))}: ${reasonText(error)}`);
        });
      else if (file.old !== '') await unlink(target.folder.at(file.old)).catch(() => {});
      await target.folder.sync();
    });
  }
  return allReplaced ? undefined : rollBackText(workspace, files, states);
}

/** Returns the state of the file TARGET, which a kill may have left unfinished. The third parameter is what a server
 * recorded about this file before it began to replace it. In place of the digest of a missing file, '' is compared. */
async function stateOf(target: WriteTarget, { old, before, after }: IntendedFile): Promise<StateAfterKill> {
  const now = await digestIn(target, target.names[0] ?? '');
  if ((now ?? '') === before) return 'before';
  const saved = old === '' ? '' : await digestIn(target, old);
  return now === after && saved === before ? 'after' : 'changed';
}

function notUndoneText(workspace: Workspace, files: readonly IntendedFile[], error: unknown): string {
  const names = files.map(({ path }) => visibleName(workspace.name(path))).join(', ');
  return `A change of ${names} was cut off when the server was killed, and live-lisp could not undo all of it (${messageOf(error)}). The next start of the server tries it again.`;
}

function rollBackText(
  workspace: Workspace,
  files: readonly IntendedFile[],
  states: readonly StateAfterKill[],
): string {
  const namesWhere = (matches: (state: StateAfterKill | undefined) => boolean) =>
    files.flatMap(({ path }, index) => (matches(states[index]) ? [visibleName(workspace.name(path))] : []));
  const changed = namesWhere((state) => state === 'changed');
  const asBefore = namesWhere((state) => state !== 'changed');
  return [
    `A change of ${namesWhere(() => true).join(', ')} was cut off when the server was killed, so live-lisp has undone it:`,
    `${asBefore.join(', ') || 'no file'} ${asBefore.length > 1 ? 'are' : 'is'} as before.`,
    changed.length > 0 &&
      `Somebody has changed these files since, so live-lisp has not restored them: ${changed.join(', ')}.`,
  ]
    .filter(Boolean)
    .join(' ');
}
