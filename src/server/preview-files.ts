// Decides where a person finds the whole of what they are asked to approve: a file of its own until they have answered.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import { makeFolder } from '../paths.ts';

/** A preview that was written to the file at PATH, or WHY it could not be. */
export type PreviewFile = { path: string; remove: () => void } | { why: string };

export class PreviewFiles {
  readonly #folder: string;
  readonly #open = new Set<string>();

  /** The files are in FOLDER, which is made when it is needed. */
  constructor(folder: string) {
    this.#folder = folder;
    process.on('exit', () => this.#removeAll());
  }

  /** Writes TEXT to a new file that only its owner can read. */
  write(text: string): PreviewFile {
    const path = join(this.#folder, `${process.pid}-${randomBytes(4).toString('hex')}.diff`);
    try {
      makeFolder(dirname(this.#folder));
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#removeLeft();
      writeFileSync(path, `${text}\n`, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      return { why: messageOf(error) };
    }
    this.#open.add(path);
    return { path, remove: () => this.#remove(path) };
  }

  #remove(path: string): void {
    this.#open.delete(path);
    rmSync(path, { force: true });
  }

  #removeAll(): void {
    for (const path of this.#open) this.#remove(path);
  }

  /** Removes what servers left that were killed. */
  #removeLeft(): void {
    for (const name of readdirSync(this.#folder)) {
      const pid = Number(/^(\d+)-[0-9a-f]{8}\.diff$/.exec(name)?.[1]);
      if (pid > 0 && !isAlive(pid)) rmSync(join(this.#folder, name), { force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
