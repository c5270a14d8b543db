// Copies a root of the workspace. An image can then work with changed contents of some files, and the workspace stays
// unchanged. While the copy is made, code in an image can replace directories of the copy by links, so the copy is
// written through open directories.

import { createHash } from 'node:crypto';
import { type FileHandle, open, realpath, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { CallError } from '../errors.ts';
import { isInside } from '../paths.ts';
import { visibleName } from '../visible.ts';
import { withFileTimeout } from './answering.ts';
import { fileFailure } from './failure.ts';
import { Folder } from './folder.ts';
import { entriesBelow } from './walk.ts';
import type { Workspace } from './workspace.ts';
import { checkNotCancelled } from './write.ts';

/** A copy of `root`, a directory of the workspace, that is to be made in `target`, the real path of an empty directory.
 * `contents` maps real paths of files, which need not exist, to the contents that they get in the copy. */
export interface RootCopy {
  root: string;
  target: string;
  contents: ReadonlyMap<string, Buffer>;
  signal?: AbortSignal | undefined;
}

/** Makes a copy of a root of WORKSPACE. The copy has all files that tools may read, except the directories of version
 * control systems. In place of directories of installed packages, it has links to the originals. Returns a digest of
 * the names and states of the entries in the root. Throws a CallError when a file in `contents` has no place in the
 * copy. */
export async function copyRoot(
  workspace: Workspace,
  { root, target, contents, signal }: RootCopy,
): Promise<string> {
  const state = createHash('sha256');
  const unplaced = new Map(contents);
  // A budget is exceeded when the remaining time is negative.
  const unlimited = { entries: Number.POSITIVE_INFINITY, remainingMs: () => 0 };
  const top = await Folder.open(target).catch((error: unknown) => {
    throw fileFailure(error, target, 'written');
  });
  const copy = new Copy(root, target, top);
  try {
    // TARGET was a real path, so one of its parents has been replaced by a link.
    if (top.path !== target) throw Object.assign(new Error('The folder was replaced.'), { code: 'ESTALE' });
    for await (const { kind, path } of entriesBelow(workspace, [root], unlimited)) {
      checkNotCancelled(signal);
      let entryState: unknown;
      // `place` makes the directory around the path that it gets.
      if (kind === 'folder') await copy.place(`${path}/.`);
      else if (kind === 'file') entryState = await copyFile(workspace, path, copy, unplaced.get(path));
      else entryState = await putLink(path, kind, copy);
      state.update(JSON.stringify([kind, path, entryState]));
      unplaced.delete(path);
    }
    // What is left are new files, and files that the copy leaves out.
    for (const [path, content] of unplaced) {
      const place = isInside(root, path) ? await copy.place(path).catch(() => undefined) : undefined;
      if (place === undefined) throw outside(workspace, path, root);
      await putFile(place, 0o666, content);
    }
    return state.digest('hex');
  } catch (error) {
    throw fileFailure(error, target, 'written');
  } finally {
    await copy.close();
  }
}

function outside(workspace: Workspace, path: string, root: string): CallError {
  return new CallError(
    `run_tests tries edits in a copy of ${visibleName(root)}, and ${visibleName(workspace.name(path))} is not in it: the copy has no other roots, no version control and no installed packages. Nothing was done. Leave out the edits of this file.`,
  );
}

/** The copy of `root` in `target`, which is open as `top`. The directory of the last entry also stays open, because
 * most entries are in the same directory as the previous entry. */
class Copy {
  readonly root: string;
  readonly target: string;
  readonly #top: Folder;
  #last: { path: string; folder: Folder } | undefined;

  constructor(root: string, target: string, top: Folder) {
    this.root = root;
    this.target = target;
    this.#top = top;
  }

  /** Returns the path in the copy of PATH, an entry of the root. */
  pathOf(path: string): string {
    return join(this.target, relative(this.root, path));
  }

  /** Returns the path to which the copy of PATH is to be written. Creates the folder of the copy if it does not exist.
   * On Linux, the path goes through a descriptor of this folder, so it stays valid when somebody renames the folder. */
  async place(path: string): Promise<string> {
    const parent = dirname(path);
    if (this.#last?.path !== parent) {
      await this.#closeLast();
      this.#last = { path: parent, folder: await this.#open(parent) };
    }
    return this.#last.folder.at(basename(path));
  }

  async #open(path: string): Promise<Folder> {
    let folder = this.#top;
    for (const name of relative(this.root, path).split(sep).filter(Boolean)) {
      const parent = folder;
      try {
        folder = (await parent.openOrMake(name)).folder;
      } finally {
        if (parent !== this.#top) await parent.close();
      }
    }
    return folder;
  }

  async #closeLast(): Promise<void> {
    if (this.#last?.folder !== this.#top) await this.#last?.folder.close();
    this.#last = undefined;
  }

  async close(): Promise<void> {
    await this.#closeLast();
    await this.#top.close();
  }
}

/** Maximum number of octets of a file that are in memory at once. */
const CHUNK = 1024 * 1024;

/** Copies the file PATH of WORKSPACE into COPY, with CONTENT in place of its own content if CONTENT is given. Returns
 * numbers for the state of the file, such as its size and its times, which differ once the file has changed. If the
 * file cannot be read, leaves it out and returns undefined, because the image could not read it either. */
async function copyFile(
  workspace: Workspace,
  path: string,
  copy: Copy,
  content: Buffer | undefined,
): Promise<number[] | undefined> {
  let isOpen = false;
  const copied = workspace.read(path, async ({ handle, stats: { mode, size, mtimeMs, ctimeMs, ino } }) => {
    isOpen = true;
    await putFile(await copy.place(path), mode & 0o777, content ?? handle);
    return [size, mtimeMs, ctimeMs, ino];
  });
  return copied.catch((error: unknown) => {
    if (isOpen) throw error;
    return undefined;
  });
}

/** Creates a link in COPY for the entry PATH: a directory of installed packages, or a link. If PATH is a link that
 * leads to an entry of the root, the new link leads to the copy of that entry. Returns the target of PATH; undefined
 * when there is none. */
async function putLink(path: string, kind: 'installed' | 'link', copy: Copy): Promise<string | undefined> {
  const real = await withFileTimeout(dirname(path), () => realpath(path)).catch(() => undefined);
  if (real === undefined) return undefined;
  const target = kind === 'link' && isInside(copy.root, real) ? copy.pathOf(real) : real;
  await symlink(target, await copy.place(path));
  return real;
}

/** Creates the file PLACE with MODE. CONTENT is its content, or an open file with this content. */
async function putFile(place: string, mode: number, content: Buffer | FileHandle): Promise<void> {
  const handle = await open(place, 'wx', mode);
  try {
    if (Buffer.isBuffer(content)) await handle.writeFile(content);
    else await copyContent(content, handle);
  } catch (error) {
    throw spaceError(error) ?? error;
  } finally {
    await handle.close();
  }
}

/** ERROR comes from a write into the copy. If it means that the disk is full or the user's quota is used up, returns a
 * CallError that says so; else undefined. */
function spaceError(error: unknown): CallError | undefined {
  const isFull = error instanceof Error && 'code' in error && /^(?:ENOSPC|EDQUOT)$/.test(String(error.code));
  if (!isFull) return undefined;
  return new CallError(
    `run_tests tries edits in a copy of the workspace. The copy does not fit into ${visibleName(tmpdir())}, so the call failed. Make room there, or ask the user to start the server with TMPDIR set to a directory with more space.`,
  );
}

async function copyContent(source: FileHandle, target: FileHandle): Promise<void> {
  const { size } = await source.stat();
  // Never empty: a read into an empty buffer gives 0, as at the end of the file.
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size + 1));
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return;
    await target.writeFile(buffer.subarray(0, bytesRead));
  }
}
