// Writes the complete preview of an approval to a file, which exists until the question is answered.

import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import { makeOwnFolder } from '../ownership.ts';
import { removeIfPossible } from '../paths.ts';

/** The path of a file with a preview, and a function to remove the file; or the reason why it could not be written.
 * Neither writing nor removing throws. */
export type PreviewFile = { path: string; remove: () => void } | { why: string };

const NAME = /^[0-9a-f]+\.diff$/;
/** Number of random octets in a file name. It is low, because a question has little space for the name. */
const NAME_OCTETS = 2;
const TRY_LIMIT = 20;

export class PreviewFiles {
  readonly #folder: string;
  readonly #maxAgeMs: number;
  readonly #open = new Set<string>();

  /** FOLDER is the folder for the files, which is created when needed. SECONDS is the time limit of a question. */
  constructor(folder: string, seconds: number) {
    this.#folder = folder;
    // Files of other servers' open questions are younger than twice the time limit, so only older files are removed.
    this.#maxAgeMs = 2000 * seconds;
    process.on('exit', () => this.#open.forEach(removeIfPossible));
  }

  /** Writes TEXT to a new file that only its owner can read. */
  write(text: string): PreviewFile {
    try {
      makeOwnFolder(this.#folder);
      this.#removeOld();
    } catch (error) {
      return { why: messageOf(error) };
    }
    for (let tries = 1; ; tries += 1) {
      const path = join(this.#folder, `${randomBytes(NAME_OCTETS).toString('hex')}.diff`);
      try {
        writeFileSync(path, `${text}\n`, { mode: 0o600, flag: 'wx' });
      } catch (error) {
        const nameExists = (error as NodeJS.ErrnoException).code === 'EEXIST';
        if (nameExists && tries < TRY_LIMIT) continue;
        if (!nameExists) removeIfPossible(path); // Half a preview would mislead.
        return { why: messageOf(error) };
      }
      return this.#previewFile(path);
    }
  }

  #previewFile(path: string): PreviewFile {
    this.#open.add(path);
    const close = () => {
      // Another server can use the same name later, so the file is removed only once.
      if (this.#open.delete(path)) removeIfPossible(path);
    };
    return { path, remove: close };
  }

  #removeOld(): void {
    for (const name of readdirSync(this.#folder).filter((each) => NAME.test(each))) {
      const path = join(this.#folder, name);
      const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
      if (mtimeMs !== undefined && Date.now() - mtimeMs > this.#maxAgeMs) removeIfPossible(path);
    }
  }
}
