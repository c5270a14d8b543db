// Writes the whole text of an answer that was cut to a file.

import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import { makeOwnFolder } from '../own.ts';
import { cacheFolder, removeIfPossible } from '../paths.ts';

/** A file is kept for this long, in milliseconds. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Writes TEXT, a whole answer, to a file of the user alone, and removes those of earlier days. Returns a sentence with
 *  the file's name, or why there is none. */
export function keptText(text: string): string {
  const folder = join(cacheFolder(), 'answers');
  const file = join(folder, `${Date.now()}-${process.pid}.txt`);
  try {
    makeOwnFolder(folder);
    removeOld(folder);
    writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx' });
    return `The whole answer, ${text.length} characters, is in ${file} for a day.`;
  } catch (error) {
    return `The whole answer, ${text.length} characters, could not be kept in ${folder} (${messageOf(error)}). Ask for less, or make that folder writable.`;
  }
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > KEPT_MS)
      removeIfPossible(file);
  }
}
