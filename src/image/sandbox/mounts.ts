// Decides in which order the folders of a sandbox are mounted, and which are empty in it.

import { lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, sep } from 'node:path';
import { isInside, realPath } from '../../paths.ts';

/** Bytes that a folder which is in memory can hold. */
const EMPTY_SIZE = String(1024 ** 3);

/** What is at a path in the sandbox: the same as outside, to change or only to read, an empty folder, or nothing that
 *  can be read. */
export type Kind = 'changed' | 'read' | 'empty' | 'hidden';

/** Real paths, each with what is there. Of one path, what comes last holds. */
export type Mounts = readonly (readonly [Kind, string])[];

/** Returns the arguments of bubblewrap that make MOUNTS: a folder before what is in it. */
export function mountArguments(mounts: Mounts): string[] {
  const last = new Map(mounts.map(([kind, path]) => [path, kind]));
  const sorted = [...last].sort(([one], [other]) => depth(one) - depth(other));
  const closed = sorted.filter(([path, kind]) => kind === 'hidden' && kindOf(path) === 'folder');
  return [
    ...sorted.flatMap(([path, kind]) => mount(kind, path)),
    // Only now, because what is mounted in one needs a name there.
    ...closed.flatMap(([path]) => ['--remount-ro', path]),
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

/** Returns mounts with which PATHS are only read, though they lie in AREAS, which code changes. */
export function onlyRead(paths: readonly string[], areas: readonly string[]): Mounts {
  const whole = paths.filter((path) => !paths.some((other) => other !== path && isInside(other, path)));
  return whole.filter((path) => isIn(areas, path)).flatMap((path) => [...fixed(path, areas), ['read', path]]);
}

/** Returns mounts of the folders that lead to PATH in the innermost of AREAS that has it. What is mounted by itself cannot
 *  be renamed, so nothing else can be put in the place of PATH. */
export function fixed(path: string, areas: readonly string[]): Mounts {
  const [area] = areas.filter((each) => isInside(each, path)).sort((one, other) => other.length - one.length);
  if (area === undefined || area === path) return [];
  return foldersBetween(area, path).map((folder) => ['changed', folder] as const);
}

/** Returns the folders in AREA that lead to PATH. */
function foldersBetween(area: string, path: string): string[] {
  const parent = dirname(path);
  return parent === area ? [] : [...foldersBetween(area, parent), parent];
}

/** Returns whether PATH is one of FOLDERS or in one of them. */
export function isIn(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => isInside(folder, path));
}

/** Returns the real paths of ROOTS, without those that lie in another, or are reached through another. Code that can
 *  write there decides where these lead. */
export function outermost(roots: readonly string[]): string[] {
  const real = [...new Map(roots.map((root) => [realPath(root), root]))];
  return real
    .filter(([path, root]) => !real.some(([other]) => other !== path && leadsThrough(root, other)))
    .map(([path]) => path);
}

/** Whether the way to PATH, with its links, leads through FOLDER. */
function leadsThrough(path: string, folder: string): boolean {
  const parent = dirname(path);
  return isInside(folder, realPath(path)) || (parent !== path && leadsThrough(parent, folder));
}

/** Returns the folders for temporary files, which programs share. */
export function temporaryFolders(): string[] {
  return existingFolders(['/tmp', tmpdir()]);
}

/** Returns the folders where services of the system and of the user's session have what is theirs. */
export function serviceFolders(): string[] {
  return existingFolders(['/run', process.env['XDG_RUNTIME_DIR'] || '/run']);
}

/** Returns the real paths of those of FOLDERS that are folders, without those in another. */
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
