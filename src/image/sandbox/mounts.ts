// Computes the mounts of a sandbox, and their order.

import { lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, sep } from 'node:path';
import { isInside, realPath } from '../../paths.ts';

/** Maximum size, in octets, of an empty folder in which code can write (a tmpfs). */
const EMPTY_SIZE = String(1024 ** 3);

/** The effect of a mount for code in the sandbox. `changed`: it sees the original and can write it. `read`: it sees the
 * original and can only read it. `empty`: it sees an empty folder and can write it. `hidden`: it sees an empty folder
 * or file and can only read it. */
export type Kind = 'changed' | 'read' | 'empty' | 'hidden';

/** Pairs of a kind and a real path. If a path occurs several times, its last pair counts. */
export type Mounts = readonly (readonly [Kind, string])[];

/** Returns the arguments of bubblewrap for MOUNTS. A folder is mounted before the paths in it. */
export function mountArguments(mounts: Mounts): string[] {
  const kindByPath = new Map(mounts.map(([kind, path]) => [path, kind]));
  const sorted = [...kindByPath].sort(([one], [other]) => depth(one) - depth(other));
  const hiddenFolders = sorted.filter(([path, kind]) => kind === 'hidden' && kindOf(path) === 'folder');
  return [
    ...sorted.flatMap(([path, kind]) => mount(kind, path)),
    // Mount points in these folders must be created first. So they are made read-only at the end.
    ...hiddenFolders.flatMap(([path]) => ['--remount-ro', path]),
  ];
}

function depth(path: string): number {
  return path === '/' ? 0 : path.split(sep).length;
}

function mount(kind: Kind, path: string): string[] {
  switch (kind) {
    case 'changed':
      return ['--bind', path, path];
    case 'read':
      return ['--ro-bind', path, path];
    case 'empty':
      return ['--size', EMPTY_SIZE, '--tmpfs', path];
    case 'hidden':
      return kindOf(path) === 'folder' ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
  }
}

/** Returns mounts that make PATHS read-only, including the mounts that `pinned` returns for them. Leaves out a path
 * outside AREAS, which are folders that code can write, and a path inside another of PATHS. */
export function readOnlyMounts(paths: readonly string[], areas: readonly string[]): Mounts {
  const outer = paths.filter((path) => !paths.some((other) => other !== path && isInside(other, path)));
  return outer
    .filter((path) => isIn(areas, path))
    .flatMap((path) => [...pinned(path, areas), ['read', path]]);
}

/** Returns a writable mount for each folder between PATH and the innermost of AREAS that contains PATH. This protects
 * PATH: code cannot rename a mount point, and put another folder in its place. */
export function pinned(path: string, areas: readonly string[]): Mounts {
  const [area] = areas.filter((each) => isInside(each, path)).sort((one, other) => other.length - one.length);
  if (area === undefined || area === path) return [];
  return foldersBetween(area, path).map((folder) => ['changed', folder] as const);
}

function foldersBetween(area: string, path: string): string[] {
  const parent = dirname(path);
  return parent === area ? [] : [...foldersBetween(area, parent), parent];
}

/** Returns true when PATH is one of FOLDERS or is inside one of them. */
export function isIn(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => isInside(folder, path));
}

/** Returns the length of the path of the innermost of FOLDERS that contains PATH; 0 when none does. */
export function innermostPathLength(folders: readonly string[], path: string): number {
  return Math.max(0, ...folders.filter((folder) => isInside(folder, path)).map(({ length }) => length));
}

/** Returns the real paths of ROOTS. Leaves out a root that is inside another root. Leaves out a root whose path leads
 * through a link in another root, because code there could change the link. */
export function outermost(roots: readonly string[]): string[] {
  const real = [...new Map(roots.map((root) => [realPath(root), root]))];
  return real
    .filter(([path, root]) => !real.some(([other]) => other !== path && leadsThrough(root, other)))
    .map(([path]) => path);
}

function leadsThrough(path: string, folder: string): boolean {
  const parent = dirname(path);
  return isInside(folder, realPath(path)) || (parent !== path && leadsThrough(parent, folder));
}

/** Returns the real paths of the folders in which all programs put temporary files. */
export function temporaryFolders(): string[] {
  return existingFolders(['/tmp', tmpdir()]);
}

/** Returns the real paths of the folders in which services of the system, and of the user's session, have their sockets
 * and state. */
export function serviceFolders(): string[] {
  return existingFolders(['/run', process.env['XDG_RUNTIME_DIR'] || '/run']);
}

/** Returns the real paths of those of FOLDERS that exist. Leaves out `/`, and folders that are inside another of
 * FOLDERS. */
export function existingFolders(folders: readonly string[]): string[] {
  const real = [...new Set(folders.map(realPath))].filter(
    (path) => path !== '/' && kindOf(path) === 'folder',
  );
  return real.filter((path) => !real.some((other) => other !== path && isInside(other, path)));
}

function kindOf(path: string): 'folder' | 'other' | undefined {
  try {
    return lstatSync(path).isDirectory() ? 'folder' : 'other';
  } catch {
    return undefined;
  }
}
