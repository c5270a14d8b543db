// Records on the disk which files a server is replacing together. After a kill, the next server undoes the replacement.

import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isOwn, isRunning } from '../ownership.ts';
import { makeFolder } from '../paths.ts';
import { readIfRegular } from './regular.ts';

/** A file that is to be replaced. `old` is the name of a file in the same folder that has the old content. `before` and
 * `after` are digests of the old and the new content. For a new file, `old` and `before` are ''. */
export interface IntendedFile {
  path: string;
  old: string;
  before: string;
  after: string;
}

/** Maximum number of octets of a record. It is enough for some thousand files. */
const LIMIT = 16 * 1024 * 1024;

const NAME = /^(\d+)-[0-9a-f]{16}\.json$/;

/** The records of those replacements of files that servers of this user have begun, in a folder for these records
 * alone. */
export class Intents {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes a record that FILES are being replaced. Returns a function that removes the record. Throws when the record
   * cannot be written. */
  async begin(files: readonly IntendedFile[]): Promise<() => Promise<void>> {
    makeFolder(this.#folder, 0o700);
    const path = join(this.#folder, `${process.pid}-${randomBytes(8).toString('hex')}.json`);
    await withFile(await open(path, 'wx', 0o600), async (file) => {
      await file.writeFile(JSON.stringify(files));
      await file.sync();
    });
    await withFile(await open(this.#folder, 'r'), (folder) => folder.sync());
    return () => forget(path);
  }

  /** Returns the names of the `old` files in all records, also in those of servers that run. */
  async oldNames(): Promise<ReadonlySet<string>> {
    const names = await readdir(this.#folder).catch(() => []);
    const files = names.filter((name) => NAME.test(name)).flatMap((name) => this.#filesOf(name) ?? []);
    return new Set(files.map(({ old }) => old));
  }

  /** Returns the files in the record NAME. Returns undefined when it is incomplete, or another user wrote it. */
  #filesOf(name: string): IntendedFile[] | undefined {
    const record = readIfRegular(join(this.#folder, name), { limit: LIMIT });
    return record && isOwn(record.stats) ? filesIn(record.octets.toString('utf8')) : undefined;
  }

  /** Returns the records that servers left when they ended. Each has its files, and a function that removes it. */
  async unfinished(): Promise<{ files: IntendedFile[]; remove: () => Promise<void> }[]> {
    const names = await readdir(this.#folder).catch(() => []);
    // A server calls `unfinished` before it calls `begin`. So a record with the id of this process was left by an
    // earlier process.
    const isGone = (pid: number) => pid === process.pid || !isRunning(pid);
    const gone = names.filter((name) => NAME.test(name) && isGone(Number(NAME.exec(name)?.[1])));
    const found = [];
    for (const name of gone) {
      const path = join(this.#folder, name);
      const files = this.#filesOf(name);
      // A server renames files only after it has written a complete record, so an incomplete record needs no rollback.
      if (files === undefined) await forget(path);
      else found.push({ files, remove: () => forget(path) });
    }
    return found;
  }
}

async function withFile(file: FileHandle, use: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await use(file);
  } finally {
    await file.close();
  }
}

async function forget(path: string): Promise<void> {
  await unlink(path).catch(() => {});
}

/** Returns the files in TEXT, the text of a record; undefined when TEXT is incomplete. */
function filesIn(text: string): IntendedFile[] | undefined {
  try {
    const files: unknown = JSON.parse(text);
    const isIntendedFile = (file: unknown) =>
      ['path', 'old', 'before', 'after'].every(
        (name) => typeof (file as { [name: string]: unknown } | null)?.[name] === 'string',
      );
    return Array.isArray(files) && files.every(isIntendedFile) ? files : undefined;
  } catch {
    return undefined;
  }
}
