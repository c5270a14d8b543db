// Which files the project has, for the tests of what all of them must be like.

import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../harness.ts';

/** What a clone does not have. */
const NOT_OURS = ['.git', 'node_modules', 'dist', 'dist-tests', 'coverage', '.vscode', '.idea', '.claude'];

/** Returns the entries of FOLDER. A server of another test makes empty folders in the project, and removes them at its
 *  end: of such a one there are none. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(join(PROJECT, folder), { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function filesBelow(folder: string): string[] {
  return entriesOf(folder)
    .filter(({ name }) => !NOT_OURS.includes(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    })
    .sort();
}

/** The paths of all files, from the project's folder. */
export const FILES = filesBelow('.');

/** Returns the paths below FOLDER that end with EXTENSION. Throws when there are none, since a rule about
 *  them would hold for nothing. */
export function filesOf(folder: string, extension: string): string[] {
  const files = FILES.filter((path) => path.startsWith(`${folder}/`) && path.endsWith(extension));
  if (files.length === 0) throw new Error(`There is no ${extension} file in ${folder}.`);
  return files;
}

export function textOf(path: string): string {
  return readFileSync(join(PROJECT, path), 'utf8');
}

export interface Hit {
  path: string;
  line: number;
  /** The text that matched, or its first group. */
  found: string;
}

/** Returns every match of PATTERN, which must be global, in the file at PATH, whose text is TEXT. */
export function hitsIn(path: string, pattern: RegExp, text = textOf(path)): Hit[] {
  return [...text.matchAll(pattern)].map((match) => ({
    path,
    line: text.slice(0, match.index).split('\n').length,
    found: match[1] ?? match[0],
  }));
}

/** Returns HITS as lines for a message. */
export function hitLines(hits: Hit[]): string[] {
  return hits.map(({ path, line, found }) => `${path}:${line}: ${found}`);
}
