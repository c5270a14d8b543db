// Chooses substitute folders for the program's files when the program cannot write in the user's folders.

import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, inState } from './config.ts';
import { makeFolder, recordsFolder } from './paths.ts';

/** Returns why this process cannot write in FOLDER, or undefined. Creates FOLDER if it does not exist. */
export function obstacleToWriting(folder: string): string | undefined {
  try {
    makeFolder(folder, 0o700);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** Returns a folder in TEMPORARY that only this user can reach, and creates it if it does not exist. Returns
 *  undefined when there can be none. Checks the owner and mode of the folder, because another user can have
 *  created it first. */
function ownTemporaryFolder(temporary: string): string | undefined {
  const folder = recordsFolder(temporary);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // The folder exists, or cannot be created. The check below distinguishes these.
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const isOwn = found?.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
  return isOwn && obstacleToWriting(folder) === undefined ? folder : undefined;
}

/** The configuration with usable folders, and sentences for people about the choice. */
export interface UsableFolders {
  config: Readonly<Config>;
  /** Sentences that also belong in the first answer, because they say where the records of calls are. */
  notices: string[];
  /** Sentences only for the person who starts the server. */
  remarks: string[];
}

/** Returns CONFIG with folders in TEMPORARY instead of folders of the user in which this process cannot
 *  write. Keeps an audit log or cache folder that the user named, and a folder for which there is no
 *  substitute. */
export function withUsableFolders(config: Readonly<Config>, temporary = tmpdir()): UsableFolders {
  const notices: string[] = [];
  const remarks: string[] = [];
  let usable = config;
  const replace = (folder: string, what: string, variable: string, sentences: string[]) => {
    const obstacle = obstacleToWriting(folder);
    const substitute = obstacle === undefined ? undefined : ownTemporaryFolder(temporary);
    if (substitute !== undefined) {
      sentences.push(
        `${folder} cannot be written (${obstacle}), so ${what} ${substitute}. To keep them elsewhere, set ${variable}.`,
      );
    }
    return substitute;
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
