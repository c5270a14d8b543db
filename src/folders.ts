// Decides where the program keeps its files when the folders of the user cannot be written.

import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, inState } from './config.ts';
import { makeFolder, recordsIn } from './paths.ts';

/** Returns why nothing can be written in FOLDER, which is made when it is not there; undefined when it can. */
export function obstacleToWriting(folder: string): string | undefined {
  try {
    makeFolder(folder, 0o700);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** Returns a folder in TEMPORARY that only this user can reach, which is made when it is not there; undefined where
 *  there can be none. Others can make one of that name before, so it is looked at. */
function ownTemporaryFolder(temporary: string): string | undefined {
  const folder = recordsIn(temporary);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It is there, or cannot be made, which the next look tells.
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const own = found?.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
  return own && obstacleToWriting(folder) === undefined ? folder : undefined;
}

/** What was decided, and the sentences that tell a person of it. */
export interface UsableFolders {
  config: Readonly<Config>;
  /** What the first answer tells too: where the records of calls are. */
  notices: string[];
  /** What only the person who starts the server needs to know. */
  remarks: string[];
}

/** Returns CONFIG with folders in TEMPORARY in place of those of the user that cannot be written. A file or a cache that
 *  was named for this program stays, and so does a folder where there is no other. */
export function withUsableFolders(config: Readonly<Config>, temporary = tmpdir()): UsableFolders {
  const notices: string[] = [];
  const remarks: string[] = [];
  let usable = config;
  const replace = (folder: string, what: string, variable: string, into: string[]) => {
    const obstacle = obstacleToWriting(folder);
    const other = obstacle === undefined ? undefined : ownTemporaryFolder(temporary);
    if (other !== undefined) {
      into.push(
        `${folder} cannot be written (${obstacle}), so ${what} ${other}. To keep them elsewhere, set ${variable}.`,
      );
    }
    return other;
  };
  const state = replace(
    config.state,
    'the audit log, histories and journals are in',
    'XDG_STATE_HOME',
    notices,
  );
  if (state !== undefined) usable = { ...usable, ...inState(state, config) };
  const cache = config.cacheNamed
    ? undefined
    : replace(config.cache, 'compiled files are in', 'XDG_CACHE_HOME', remarks);
  if (cache !== undefined) usable = { ...usable, cache: join(cache, 'cache') };
  return { config: Object.freeze(usable), notices, remarks: [...notices, ...remarks] };
}
