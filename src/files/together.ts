// Replaces several files: all or none, even when the server is killed meanwhile.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, rename, unlink } from 'node:fs/promises';
import { CallError, messageOf } from '../errors.ts';
import { visibleName } from '../visible.ts';
import { fileFailure } from './failure.ts';
import type { Folder } from './folder.ts';
import { removeStale, temporaryName } from './half-written.ts';
import type { IntendedFile, Intents } from './intents.ts';
import type { Workspace } from './workspace.ts';
import {
  checkGoesOn,
  inTarget,
  type Present,
  preparedIn,
  presentIn,
  replaceFile,
  type Target,
} from './write.ts';

/** Replaces the file at PATH by BYTES. CONFIRM gets what is there right before, and throws if it is not as expected. */
export interface Replacement {
  path: string;
  bytes: Uint8Array;
  confirm: (present: Present) => void;
}

/** A replacement with its directory held open. */
interface Held extends Replacement, Target {
  base: string;
}

/** A replacement whose new content is in a temporary file, and whose old content has a second name. */
interface Prepared extends Held {
  temporary: string;
  old: string;
  intended: IntendedFile;
}

/** Replaces files in WORKSPACE by REPLACEMENTS, all or none: none when one fails, SIGNAL aborts, or a CONFIRM throws.
 *  INTENTS records what the next server needs to roll back after a kill. */
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
  await workspace.alone(() =>
    holding(workspace, replacements, [], (held) => replaceHeld(workspace, intents, held, signal)),
  );
}

async function holding<Value>(
  workspace: Workspace,
  [first, ...rest]: readonly Replacement[],
  held: readonly Held[],
  use: (held: readonly Held[]) => Promise<Value>,
): Promise<Value> {
  if (first === undefined) return use(held);
  return inTarget(workspace, first.path, (target) => {
    if (target.names.length > 1)
      throw new CallError(
        `The folder of ${visibleName(first.path)} is not there; nothing was written. Make that file in a call of its own.`,
      );
    const next = { ...first, ...target, base: target.names[0] ?? '' };
    return holding(workspace, rest, [...held, next], use);
  });
}

/** Calls USE, and rethrows a failure as one about the file of the replacement. */
async function about<Value>({ path }: Replacement, use: () => Promise<Value>): Promise<Value> {
  try {
    return await use();
  } catch (error) {
    throw fileFailure(error, path, 'written');
  }
}

async function replaceHeld(
  workspace: Workspace,
  intents: Intents,
  held: readonly Held[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const prepared: Prepared[] = [];
  const present = (each: Held) => presentIn(workspace, each.folder, each.names, each.path, signal);
  try {
    for (const each of held) {
      const now = await about(each, () => present(each));
      each.confirm(now);
      prepared.push(await about(each, () => prepare(each, now.size === undefined)));
    }
    for (const each of held) each.confirm(await about(each, () => present(each)));
    checkGoesOn(signal);
    const done = await begun(intents, prepared);
    await renameAll(prepared);
    for (const { folder } of prepared) await folder.sync();
    await done();
  } finally {
    for (const { folder, temporary, old } of prepared) {
      await unlink(folder.at(temporary)).catch(() => {});
      if (old !== '') await unlink(folder.at(old)).catch(() => {});
      await removeStale(folder);
    }
  }
}

async function begun(intents: Intents, prepared: readonly Prepared[]): Promise<() => Promise<void>> {
  try {
    return await intents.begin(prepared.map(({ intended }) => intended));
  } catch (error) {
    throw new CallError(
      `The change of several files could not be noted beside them (${messageOf(error)}), so nothing was written. Change them one at a time.`,
    );
  }
}

async function prepare(held: Held, isNew: boolean): Promise<Prepared> {
  const { folder, base, bytes } = held;
  const temporary = await preparedIn(folder, base, bytes);
  const intended = { path: `${folder.path}/${base}`, old: '', before: '', after: digestOf(bytes) };
  if (isNew) return { ...held, temporary, old: '', intended };
  const old = temporaryName('old');
  try {
    // Not every file system has links.
    await link(folder.at(base), folder.at(old)).catch(() =>
      copyFile(folder.at(base), folder.at(old), constants.COPYFILE_EXCL),
    );
    const before = await digestIn(held, old);
    return { ...held, temporary, old, intended: { ...intended, old, before: before ?? '' } };
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => {});
    await unlink(folder.at(old)).catch(() => {});
    throw error;
  }
}

/** Renames the new contents of all PREPARED into place. When one fails, those before it are put back. */
async function renameAll(prepared: readonly Prepared[]): Promise<void> {
  const done: Prepared[] = [];
  for (const each of prepared) {
    const { folder, base, temporary } = each;
    try {
      await rename(folder.at(temporary), folder.at(base));
    } catch (error) {
      for (const { folder, base, old } of done) await putBack(folder, base, old);
      throw fileFailure(error, each.path, 'written');
    }
    done.push(each);
  }
}

/** Restores the file BASE of FOLDER from OLD. Removes BASE when OLD is '', because the file is new. */
async function putBack(folder: Folder, base: string, old: string): Promise<void> {
  if (old === '') await unlink(folder.at(base));
  else await rename(folder.at(old), folder.at(base));
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Returns the digest of the file NAME in the target's folder, or undefined when there is no regular file. */
async function digestIn({ folder }: Target, name: string): Promise<string | undefined> {
  const file = await folder.openFile(name);
  if (file === undefined || !('handle' in file)) return undefined;
  try {
    return digestOf(await file.handle.readFile());
  } finally {
    await file.handle.close();
  }
}

/** Rolls back, in WORKSPACE, the replacements in INTENTS that killed servers left unfinished; those done for all files
 *  stay. Returns sentences about it for the user. */
export async function takeBackUnfinished(workspace: Workspace, intents: Intents): Promise<string[]> {
  const told: string[] = [];
  for (const { files, settled } of await intents.left()) {
    try {
      const text = await workspace.alone(() => takeBack(workspace, files));
      await settled();
      if (text !== undefined) told.push(text);
    } catch {
      // The record belongs to another workspace, whose server will roll it back.
    }
  }
  return told;
}

type State = 'before' | 'after' | 'changed';

async function takeBack(workspace: Workspace, files: readonly IntendedFile[]): Promise<string | undefined> {
  const states: State[] = [];
  for (const file of files)
    states.push(await inTarget(workspace, file.path, (target) => stateOf(target, file)));
  const whole = states.every((state) => state === 'after');
  for (const [index, file] of files.entries()) {
    await inTarget(workspace, file.path, async (target) => {
      const [base = ''] = target.names;
      if (states[index] === 'after' && !whole) await putBack(target.folder, base, file.old);
      else if (file.old !== '') await unlink(target.folder.at(file.old)).catch(() => {});
      await target.folder.sync();
    });
  }
  return whole ? undefined : takenBackText(workspace, files, states);
}

async function stateOf(target: Target, { old, before, after }: IntendedFile): Promise<State> {
  const now = await digestIn(target, target.names[0] ?? '');
  if ((now ?? '') === before) return 'before';
  const kept = old === '' ? '' : await digestIn(target, old);
  return now === after && kept === before ? 'after' : 'changed';
}

function takenBackText(
  workspace: Workspace,
  files: readonly IntendedFile[],
  states: readonly State[],
): string {
  const named = (wanted: (state: State | undefined) => boolean) =>
    files.flatMap(({ path }, index) => (wanted(states[index]) ? [visibleName(workspace.name(path))] : []));
  const changed = named((state) => state === 'changed');
  const kept = named((state) => state !== 'changed');
  return [
    `A change of ${named(() => true).join(', ')} was cut off when the server was killed, and is taken back:`,
    `${kept.join(', ') || 'none'} ${kept.length > 1 ? 'are' : 'is'} as before.`,
    changed.length > 0 && `Changed since, and left as they are: ${changed.join(', ')}.`,
  ]
    .filter(Boolean)
    .join(' ');
}
