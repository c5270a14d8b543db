// Writes the messages that refuse a path: for its text, for the kind of its file, and for its place outside of the
// folders of a workspace.

import type { Stats } from 'node:fs';
import { resolve } from 'node:path';
import { CallError } from '../errors.ts';
import { isInside } from '../paths.ts';
import { visibleName } from '../visible.ts';

export type Access = 'read' | 'write';

/** The folders of a workspace as absolute paths, with links not resolved. */
export interface NamedFolders {
  roots: readonly string[];
  readRoots: readonly string[];
  /** The folder in which relative paths start when there are no roots. */
  start: string;
  /** True when the sources of loaded systems can be read too. */
  readsSources: boolean;
}

/** Returns the folder in which relative paths start. */
export function firstFolder({ roots, start }: NamedFolders): string {
  return roots[0] ?? start;
}

/** Length, in octets, of the longest path that any supported system opens. */
const PATH_LIMIT = 4096;

/** Throws a CallError when no file can have the path PATH. Relative paths start in FOLDER. */
export function checkSyntax(path: string, folder: string): void {
  if (path === '') throw new CallError('The path must not be empty.');
  if (path.includes('\0')) throw new CallError('The path must not contain a NUL character.');
  if (Buffer.byteLength(path) > PATH_LIMIT) {
    throw new CallError(`The path is longer than ${PATH_LIMIT} bytes. Give a shorter one.`);
  }
  if (/^~(?:\/|$)/.test(path)) {
    throw new CallError(
      `Path ${visibleName(path)} begins with ~, which is not expanded here. Relative paths start at ${folder}.`,
    );
  }
}

/** Throws a CallError when STATS are not those of a regular file, or when PATH ends like the path of a directory. */
export function checkKind(path: string, stats: Stats): void {
  if (!stats.isFile()) throw kindError(path, stats);
  if (/\/\.?$/.test(path))
    throw new CallError(`Path ${visibleName(path)} ends like a directory, but is a file.`);
}

/** Returns the error that PATH is not a regular file. STATS say what it is. */
export function kindError(path: string, stats: Stats): CallError {
  const shown = visibleName(path);
  if (stats.isDirectory()) return new CallError(`${shown} is a directory. Give the path of a file.`);
  const kind = stats.isFIFO()
    ? 'a FIFO'
    : stats.isSocket()
      ? 'a socket'
      : stats.isSymbolicLink()
        ? 'a link'
        : 'a device';
  return new CallError(`${shown} is ${kind}. File tools read and write regular files only.`);
}

/** Returns the message that PATH can be read, but not written. */
export function onlyReadText(path: string, folders: NamedFolders): string {
  const head = `Path ${visibleName(path)} is in a read-only directory.`;
  if (folders.roots.length === 0) return `${head} ${noRootsText(folders)}`;
  return `${head} Write inside ${rootsText(folders)}; the user can add a root with --root DIR.`;
}

/** Returns the message for PATH when no folder with permission for ACCESS contains it. */
export function outsideText(path: string, access: Access, folders: NamedFolders): string {
  const { roots, readRoots, readsSources } = folders;
  if (roots.length === 0) return `Path ${visibleName(path)} is in no workspace. ${noRootsText(folders)}`;
  const target = resolve(firstFolder(folders), path);
  const byLink = [...roots, ...readRoots].some((root) => isInside(root, target));
  const also = access === 'read' && readRoots.length > 0;
  const loaded = readsSources ? '. Sources of loaded systems can be read too' : '';
  const where = rootsText(folders) + (also ? ` and the read roots ${listed(readRoots)}` : '');
  return [
    `Path ${visibleName(path)} ${byLink ? 'leads by a link outside' : 'is outside'} ${where}.`,
    `File tools stay inside ${also || roots.length > 1 ? 'them' : 'it'};`,
    `the user can add a root with --root DIR${access === 'read' ? `, or a read-only one with --read-root DIR${loaded}` : ''}.`,
  ].join(' ');
}

/** Returns the reason why a workspace has no roots, and advice. */
export function noRootsText({ start }: NamedFolders): string {
  return `The server was started in ${visibleName(start)}, which is too broad for a workspace: it is or contains the home directory, or is the root. The user can still name any directory: --root DIR.`;
}

function rootsText({ roots }: NamedFolders): string {
  return `the workspace${roots.length > 1 ? 's' : ''} ${listed(roots)}`;
}

function listed(paths: readonly string[]): string {
  return paths.map(visibleName).join(', ');
}
