// Decides how several files are written: all of them or none.

import { fileFailure } from './failure.ts';
import type { Folder } from './folder.ts';
import { removeStale } from './half-written.ts';
import type { Workspace } from './workspace.ts';
import { checkGoesOn, inTarget, type Present, presentIn, withNewFile } from './write.ts';

/** What becomes of the file at PATH, which exists. CONFIRM throws when that must not be done to what stands there. */
export interface Replacement {
  path: string;
  bytes: Uint8Array;
  confirm: (present: Present) => void;
}

/** A file of which the new content stands beside it. */
interface Ready {
  folder: Folder;
  base: string;
  path: string;
  confirm: (present: Present) => void;
  /** Puts the new content in the place of the file. */
  take: () => Promise<void>;
}

/** Makes each of REPLACEMENTS the content of its file in WORKSPACE. The new contents stand beside the files before the first
 *  takes its place. Throws, with every file as it was, when one cannot be written, SIGNAL ends it, or a confirm throws. */
export async function writeTogether(
  workspace: Workspace,
  replacements: readonly Replacement[],
  signal?: AbortSignal,
): Promise<void> {
  await workspace.alone(() => prepared(workspace, replacements, [], signal));
}

async function prepared(
  workspace: Workspace,
  [first, ...more]: readonly Replacement[],
  ready: readonly Ready[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (first === undefined) return takeAll(workspace, ready, signal);
  const { path, bytes, confirm } = first;
  await inTarget(workspace, path, async ({ folder, names }) => {
    const [base = ''] = names;
    confirm(await presentIn(workspace, folder, names, path, signal));
    await withNewFile(folder, base, bytes, (take) =>
      prepared(workspace, more, [...ready, { folder, base, path, confirm, take }], signal),
    );
    await removeStale(folder);
    await folder.sync();
  });
}

/** Puts the new content of each of READY in its place. When one cannot be, those before get their old content back. */
async function takeAll(
  workspace: Workspace,
  ready: readonly Ready[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const olds: Present[] = [];
  for (const { folder, base, path, confirm } of ready) {
    const present = await presentIn(workspace, folder, [base], path, signal);
    confirm(present);
    olds.push(present);
  }
  checkGoesOn(signal);
  for (const [index, { take, path }] of ready.entries()) {
    try {
      await take();
    } catch (error) {
      await takeBack(ready.slice(0, index), olds);
      throw fileFailure(error, path, 'written');
    }
  }
}

/** Gives the files of TAKEN the content back that they have in OLDS. */
async function takeBack(taken: readonly Ready[], olds: readonly Present[]): Promise<void> {
  for (const [index, { folder, base }] of taken.entries()) {
    const { bytes } = olds[index] ?? {};
    if (bytes !== undefined) await withNewFile(folder, base, bytes, (take) => take());
  }
}
