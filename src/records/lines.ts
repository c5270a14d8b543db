// Decides how lines are kept in a file that only grows, that several servers may write, and that a crash may cut.

import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';

export interface LineFileOptions {
  /** Bytes after which a new file is begun. */
  limit: number;
  /** How many full files are kept beside the one that grows. */
  kept: number;
}

const NEWLINE = 10;

export class LineFile {
  readonly path: string;
  readonly #options: LineFileOptions;
  #descriptor: number | undefined;
  #inode = 0;
  /** Tells apart the files that became full within a millisecond. */
  #rotations = 1_000_000;

  constructor(path: string, options: LineFileOptions) {
    this.path = path;
    this.#options = options;
  }

  /** Appends TEXT, which is one line, whole or not at all for readers; when SYNC, it is on the disk before this
   *  returns. Throws when it cannot be written. */
  append(text: string, sync = false): void {
    const descriptor = this.#open(text.length);
    const octets = Buffer.from(`${text}\n`);
    if (writeSync(descriptor, octets) < octets.length) {
      throw new Error('the disk is full');
    }
    if (sync) fsyncSync(descriptor);
  }

  /** Returns all lines that are kept, the newest first; those that a crash cut are among them. */
  *newestFirst(): Generator<string> {
    for (const file of [this.path, ...this.#full().reverse()]) {
      const lines = readText(file).split('\n');
      for (const line of lines.reverse()) if (line !== '') yield line;
    }
  }

  /** Returns a descriptor of the file, which is begun anew when MORE bytes have no room in it. */
  #open(more: number): number {
    if (this.#descriptor !== undefined && !this.#isCurrent()) this.#close();
    this.#descriptor ??= this.#openFile();
    const { size } = fstatSync(this.#descriptor);
    if (size === 0 || size + more <= this.#options.limit) return this.#whole(this.#descriptor, size);
    this.#rotate();
    this.#descriptor = this.#openFile();
    return this.#whole(this.#descriptor, fstatSync(this.#descriptor).size);
  }

  /** Whether the file of that name is still the one that is open: another server may have begun a new one. */
  #isCurrent(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  #openFile(): number {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const descriptor = openSync(this.path, 'a+', 0o600);
    this.#inode = fstatSync(descriptor).ino;
    return descriptor;
  }

  /** Returns DESCRIPTOR once its last line has an end. A crash, of another server too, or a full disk may have cut it,
   *  and the next one must be whole. */
  #whole(descriptor: number, size: number): number {
    const last = Buffer.alloc(1);
    if (size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE) {
      writeSync(descriptor, '\n');
    }
    return descriptor;
  }

  #rotate(): void {
    const mine = this.#isCurrent();
    this.#close();
    if (!mine) return;
    const { dir, name, ext } = parse(this.path);
    const stamp = new Date().toISOString().replace(/\D/g, '');
    try {
      renameSync(this.path, join(dir, `${name}.${stamp}-${process.pid}-${this.#rotations++}${ext}`));
    } catch {
      return; // Another server was quicker; a file that stays is full and tried again.
    }
    for (const old of this.#full().slice(0, -this.#options.kept)) rmSync(old, { force: true });
  }

  /** The full files, the oldest first. */
  #full(): string[] {
    const { dir, name, ext } = parse(this.path);
    const own = (file: string) =>
      file.startsWith(`${name}.`) &&
      file.endsWith(ext) &&
      /^\d{17}-\d+-\d+$/.test(basename(file, ext).slice(name.length + 1));
    return readNames(dir)
      .filter(own)
      .sort()
      .map((file) => join(dir, file));
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // Nothing was written yet, or it was rotated away.
  }
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
