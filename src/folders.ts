// Chooses other folders for the program's files when the program cannot write in the user's folders.

import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, inState } from './config.ts';
import { makeFolder, recordsFolder } from './paths.ts';

/** Returns the reason why this process cannot write in FOLDER; undefined when it can. Creates FOLDER if it does not
 * exist. */
export function obstacleToWriting(folder: string): string | undefined {
  try {
    makeFolder(folder, 0o700);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** Returns a folder in TEMPORARY that only this user can access, and creates it if necessary. Another user can have
 * created a folder of the same name, so the owner and mode are checked. Returns undefined when this fails. */
function ownTemporaryFolder(temporary: string): string | undefined {
  const folder = recordsFolder(temporary);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // The check that follows distinguishes a folder that exists from a failure.
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const isOwn = found?.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
  return isOwn && obstacleToWriting(folder) === undefined ? folder : undefined;
}

/** A configuration, and sentences about those folders that withUsableFolders has replaced in it, because the server
 * could not write there. */
export interface UsableFolders {
  config: Readonly<Config>;
  /** Sentences about the folder of the audit log, for the first answer. */
  notices: string[];
  /** All sentences, for the person who starts the server: `notices`, and those about the cache. */
  remarks: string[];
}

/** Returns a copy of CONFIG in which folders in TEMPORARY replace the user's folders that cannot be written, and
 * sentences about these folders. Keeps an audit log or a cache that the user has named. Also keeps a folder when no
 * other can be created. */
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
