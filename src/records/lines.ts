// Decides how lines are kept in a file that only grows, that several servers may write, and that a crash may cut.

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { linesBackwards, type Reading, readRange } from './backwards.ts';

export interface LineFileOptions {
  /** Bytes after which a new file is begun. */
  limit: number;
  /** How many full files are kept beside the one that grows. */
  kept: number;
}

/** Octets that `add` writes at most before it looks where they went: what that must read again stays small. */
const UNPROVEN_LIMIT = 64 * 1024;

const NEWLINE = 10;

/** O_NONBLOCK: where a FIFO stands in the place of a file, nothing waits for who reads or writes it. */
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

export class LineFile {
  readonly path: string;
  readonly #options: LineFileOptions;
  #descriptor: number | undefined;
  #inode = 0;
  /** Tells apart the files that became full within a millisecond. */
  #rotations = 1_000_000;
  /** The lines that were added since the last look, their octets, and where that ended. */
  #unproven: string[] = [];
  #unprovenOctets = 0;
  #looked = 0;
  /** Whether the last line can be torn, because the disk was full. */
  #torn = false;

  constructor(path: string, options: LineFileOptions) {
    this.path = path;
    this.#options = options;
  }

  /** Appends TEXTS, which are lines, whole or not at all for readers; when SYNC, they are on the disk before this
   *  returns. Throws when they cannot be written. */
  append(texts: string | readonly string[], sync = false): void {
    this.prove();
    const lines = typeof texts === 'string' ? `${texts}\n` : texts.map((text) => `${text}\n`).join('');
    const descriptor = this.#look(lines.length);
    this.#looked += this.#write(descriptor, lines);
    if (sync) fsyncSync(descriptor);
  }

  /** Appends the line TEXT as append does, without a look at the file where it was looked at before. The file can have
   *  been removed meanwhile, and its last line torn: only after the next call of prove is TEXT surely there. */
  add(text: string): void {
    if (this.#descriptor === undefined || this.#torn) {
      this.append(text);
      return;
    }
    this.#unprovenOctets += this.#write(this.#descriptor, `${text}\n`);
    this.#unproven.push(text);
    if (this.#unprovenOctets > UNPROVEN_LIMIT) this.prove();
  }

  /** Looks whether what was added is there, appends what is not, and begins a file that became full anew. Throws when
   *  something cannot be written, which is tried again the next time. */
  prove(): void {
    if (this.#descriptor === undefined || this.#unproven.length === 0) return;
    const { nlink, size } = fstatSync(this.#descriptor);
    // One that somebody emptied meanwhile has them anywhere.
    const start = size < this.#looked + this.#unprovenOctets ? 0 : this.#looked;
    const there = nlink === 0 ? '' : readRange(this.#descriptor, start, size).toString('utf8');
    const whole = new Set(there.split('\n').slice(0, -1));
    const missing = this.#unproven.filter((text) => !whole.has(text));
    this.#unproven = [];
    try {
      this.#look(0);
      if (missing.length > 0) this.append(missing);
    } catch (error) {
      this.#unproven = missing;
      throw error;
    }
    this.#unprovenOctets = 0;
  }

  /** Returns all lines that are kept, the newest first; those that a crash cut are among them. READING tells how much
   *  was read for that. */
  *newestFirst(reading: Reading = { octets: 0 }): Generator<string> {
    // Before the others are listed: one that becomes full meanwhile is in the list, and known by its number.
    const current = openToRead(this.path);
    const inode = current === undefined ? undefined : fstatSync(current).ino;
    const full = this.#full().reverse();
    if (current !== undefined) yield* linesBackwards(current, reading);
    for (const file of full) {
      const descriptor = openToRead(file);
      if (descriptor === undefined) continue;
      if (fstatSync(descriptor).ino === inode) closeSync(descriptor);
      else yield* linesBackwards(descriptor, reading);
    }
  }

  /** Returns a descriptor of the file, which is begun anew when MORE bytes have no room in it. */
  #look(more: number): number {
    if (this.#descriptor !== undefined && !this.#isCurrent()) this.#close();
    this.#descriptor ??= this.#openFile();
    const { size } = fstatSync(this.#descriptor);
    if (size === 0 || size + more <= this.#options.limit) return this.#whole(this.#descriptor, size);
    this.#rotate();
    this.#descriptor = this.#openFile();
    return this.#whole(this.#descriptor, fstatSync(this.#descriptor).size);
  }

  /** Writes LINES, and returns how many octets they are. */
  #write(descriptor: number, lines: string): number {
    const octets = Buffer.byteLength(lines);
    if (writeSync(descriptor, lines) === octets) return octets;
    this.#torn = true;
    throw new Error('the disk is full');
  }

  /** Whether the file of that name is still the one that is open: another server may have begun a new one. */
  #isCurrent(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  #openFile(): number {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const descriptor = openRegular(this.path, O_APPEND | O_CREAT | O_RDWR);
    this.#inode = fstatSync(descriptor).ino;
    return descriptor;
  }

  /** Returns DESCRIPTOR once its last line has an end. A crash, of another server too, or a full disk may have cut it,
   *  and the next one must be whole. */
  #whole(descriptor: number, size: number): number {
    const [last = NEWLINE] = readRange(descriptor, size - 1, size);
    if (last !== NEWLINE) writeSync(descriptor, '\n');
    this.#torn = false;
    this.#looked = size;
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

/** Opens FILE with FLAGS. Throws an error unless it is a regular file: records go through no link, and into no device. */
function openRegular(file: string, flags: number): number {
  const descriptor = openSync(file, flags | O_NOFOLLOW | O_NONBLOCK, 0o600);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw new Error(`${file} is no regular file`);
}

function openToRead(file: string): number | undefined {
  try {
    return openRegular(file, O_RDONLY);
  } catch {
    return undefined; // Nothing was written yet, or it was rotated away.
  }
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
