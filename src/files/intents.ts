// Decides what is kept on the disk while several files are replaced, so that the next server can take back what a kill cut
// off.

import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { runs } from '../leftovers.ts';
import { isOwn } from '../own.ts';
import { makeFolder } from '../paths.ts';
import { readIfRegular } from './regular.ts';

/** One of the files: the name beside it of what it was, and digests of that and of what it becomes. OLD and BEFORE are empty
 *  for a file that was not there. */
export interface IntendedFile {
  path: string;
  old: string;
  before: string;
  after: string;
}

/** Octets of a note: of some thousand files. */
const LIMIT = 16 * 1024 * 1024;

const NAME = /^(\d+)-[0-9a-f]{16}\.json$/;

/** What servers of this user are about to replace, in a folder of its own. */
export class Intents {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Keeps that FILES are replaced from now on. Returns what to call when that is done. Throws when it cannot be kept. */
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

  /** Returns what servers that are gone did not end, each with what to call when that is settled. */
  async left(): Promise<{ files: IntendedFile[]; settled: () => Promise<void> }[]> {
    const names = await readdir(this.#folder).catch(() => []);
    // A former process can have had the number of this one, which has begun nothing before it asks.
    const isGone = (pid: number) => pid === process.pid || !runs(pid);
    const gone = names.filter((name) => NAME.test(name) && isGone(Number(NAME.exec(name)?.[1])));
    const found = [];
    for (const name of gone) {
      const path = join(this.#folder, name);
      const note = readIfRegular(path, { limit: LIMIT });
      const files = note && isOwn(note.stats) ? filesIn(note.octets.toString('utf8')) : undefined;
      // Half of it was written before any file was touched.
      if (files === undefined) await forget(path);
      else found.push({ files, settled: () => forget(path) });
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

/** Returns the files that TEXT tells, or undefined when it is not whole. */
function filesIn(text: string): IntendedFile[] | undefined {
  try {
    const files: unknown = JSON.parse(text);
    const fits = (each: unknown) =>
      ['path', 'old', 'before', 'after'].every(
        (name) => typeof (each as { [name: string]: unknown } | null)?.[name] === 'string',
      );
    return Array.isArray(files) && files.every(fits) ? files : undefined;
  } catch {
    return undefined;
  }
}
