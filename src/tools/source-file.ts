// Resolves a path in the arguments of a tool to a Lisp source file.

import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CallError } from '../errors.ts';
import { realPathOf, withFileTimeout } from '../files/answering.ts';
import { fileFailure } from '../files/failure.ts';
import type { Workspace } from '../files/workspace.ts';

/** Returns the absolute path of PATH, which may be relative to the root of WORKSPACE. Throws a CallError when it is not
 * a file or may not be read. */
export async function sourceFile(workspace: Workspace, path: string): Promise<string> {
  const { root } = workspace;
  if (path.includes('\0')) throw new CallError('The path must not contain a NUL character.');
  workspace.checkHere(path);
  const file = resolve(root, path);
  await workspace.checkReadable(await realPathOf(file), file);
  const stats = await statsOf(file, path);
  if (stats === undefined) throw new CallError(`There is no file ${file}. Relative paths start at ${root}.`);
  if (!stats.isFile()) throw new CallError(`${file} is not a file. Name a Lisp source file.`);
  return file;
}

async function statsOf(file: string, path: string): Promise<Stats | undefined> {
  try {
    return await withFileTimeout(dirname(file), () => stat(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileFailure(error, path, 'read');
  }
}
