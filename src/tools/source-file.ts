// Decides which file of the disk a tool means that takes a Lisp source file.

import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CallError } from '../errors.ts';
import { fileFailure } from '../files/failure.ts';
import type { Workspace } from '../files/workspace.ts';
import { visibleName } from '../visible.ts';
import { realName } from './sources.ts';

/** Returns the path of the file that PATH names from the root of WORKSPACE. Throws a CallError when it is none that may be
 *  read. */
export function sourceFile(workspace: Workspace, path: string): string {
  const { root } = workspace;
  if (path.includes('\0')) throw new CallError('The path must not contain a NUL character.');
  const file = resolve(root, path);
  const why = workspace.forbids(realName(file));
  if (why !== undefined)
    throw new CallError(`${visibleName(file)} is not read: ${why}. Put a copy into the workspace.`);
  const stats = statsOf(file, path);
  if (stats === undefined) throw new CallError(`There is no file ${file}. Relative paths start at ${root}.`);
  if (!stats.isFile()) throw new CallError(`${file} is not a file. Name a Lisp source file.`);
  return file;
}

function statsOf(file: string, path: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    throw fileFailure(error, path, 'read');
  }
}
