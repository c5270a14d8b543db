// Keeps lines in an append-only file. Several servers may write to it, and a crash may cut off a line.

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { namesIn } from '../leftovers.ts';
import { linesBackwards, type Reading, readRange } from './backwards.ts';

export interface LineFileOptions {
  /** Size, in bytes, at which a new file is begun. */
  limit: number;
  /** How many full files are kept besides the current one. */
  kept: number;
}

/** Maximum number of octets added between two checks of the file, so that a check has to read little. */
const UNVERIFIED_LIMIT = 64 * 1024;

const NEWLINE = 10;

/** O_NONBLOCK prevents waiting when a FIFO stands in the place of the file. */
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

export class LineFile {
  readonly path: string;
  readonly #options: LineFileOptions;
  #descriptor: number | undefined;
  #inode = 0;
  /** Part of the names of full files, so that two files that become full in the same millisecond have
   *  different names. */
  #rotations = 1_000_000;
  /** The lines that were added since the last check of the file, their octets, and the size of the file at
   *  that check. */
  #unverified: string[] = [];
  #unverifiedOctets = 0;
  #verifiedSize = 0;
  /** True when the last line may be incomplete, because the disk was full. */
  #torn = false;

  constructor(path: string, options: LineFileOptions) {
    this.path = path;
    this.#options = options;
  }

  /** Appends the lines TEXTS. Readers see all of these lines or none. With SYNC, they are on the disk when
   *  this returns. Throws when they cannot be written. */
  append(texts: string | readonly string[], sync = false): void {
    this.verify();
    const lines = typeof texts === 'string' ? `${texts}\n` : texts.map((text) => `${text}\n`).join('');
    const descriptor = this.#descriptorFor(lines.length);
    this.#verifiedSize += this.#write(descriptor, lines);
    if (sync) fsyncSync(descriptor);
  }

  /** Appends the line TEXT. If the file was checked before, does not check it again. The file may have been
   *  removed since, or its last line may be incomplete, so TEXT is certainly there only after the next call
   *  of verify. */
  add(text: string): void {
    if (this.#descriptor === undefined || this.#torn) {
      this.append(text);
      return;
    }
    this.#unverifiedOctets += this.#write(this.#descriptor, `${text}\n`);
    this.#unverified.push(text);
    if (this.#unverifiedOctets > UNVERIFIED_LIMIT) this.verify();
  }

  /** Checks that the lines which were added are in the file, and appends missing lines. Begins a new file
   *  when the current one is full. Throws when a line cannot be written; the next call tries again. */
  verify(): void {
    if (this.#descriptor === undefined || this.#unverified.length === 0) return;
    const { nlink, size } = fstatSync(this.#descriptor);
    // If the file was emptied since, the lines can be anywhere in it.
    const start = size < this.#verifiedSize + this.#unverifiedOctets ? 0 : this.#verifiedSize;
    const tail = nlink === 0 ? '' : readRange(this.#descriptor, start, size).toString('utf8');
    const present = new Set(tail.split('\n').slice(0, -1));
    const missing = this.#unverified.filter((text) => !present.has(text));
    this.#unverified = [];
    try {
      this.#descriptorFor(0);
      if (missing.length > 0) this.append(missing);
    } catch (error) {
      this.#unverified = missing;
      throw error;
    }
    this.#unverifiedOctets = 0;
  }

  /** Yields all kept lines, newest first, including incomplete ones. READING counts the octets that are
   *  read. */
  *newestFirst(reading: Reading = { octets: 0 }): Generator<string> {
    // Opened before the full files are listed. If the current file becomes full meanwhile, it is also in the
    // list; its inode shows this.
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

  /** Returns a descriptor of the current file. First begins a new file when MORE further bytes would not
   *  fit. */
  #descriptorFor(more: number): number {
    if (this.#descriptor !== undefined && !this.#isCurrent()) this.#close();
    this.#descriptor ??= this.#openFile();
    const { size } = fstatSync(this.#descriptor);
    if (size === 0 || size + more <= this.#options.limit) return this.#endLastLine(this.#descriptor, size);
    this.#rotate();
    this.#descriptor = this.#openFile();
    return this.#endLastLine(this.#descriptor, fstatSync(this.#descriptor).size);
  }

  /** Writes LINES to DESCRIPTOR, and returns their length in octets. */
  #write(descriptor: number, lines: string): number {
    const octets = Buffer.byteLength(lines);
    if (writeSync(descriptor, lines) === octets) return octets;
    this.#torn = true;
    throw new Error('the disk is full');
  }

  /** True when the file at the path is the one that is open. Another server may have begun a new file. */
  #isCurrent(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  #openFile(): number {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const descriptor = openRegular(this.path, O_APPEND | O_CREAT | O_RDWR);
    this.#inode = fstatSync(descriptor).ino;
    return descriptor;
  }

  /** Adds a newline to the file open as DESCRIPTOR if its last line has none, and returns DESCRIPTOR. A
   *  crash, even of another server, or a full disk can have cut off that line, and the next line must be
   *  complete. */
  #endLastLine(descriptor: number, size: number): number {
    const [last = NEWLINE] = readRange(descriptor, size - 1, size);
    if (last !== NEWLINE) writeSync(descriptor, '\n');
    this.#torn = false;
    this.#verifiedSize = size;
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
      return; // Another server renamed the file first, or a later call tries again.
    }
    for (const old of this.#full().slice(0, -this.#options.kept)) rmSync(old, { force: true });
  }

  /** Paths of the full files, oldest first. */
  #full(): string[] {
    const { dir, name, ext } = parse(this.path);
    const isFullFile = (file: string) =>
      file.startsWith(`${name}.`) &&
      file.endsWith(ext) &&
      /^\d{17}-\d+-\d+$/.test(basename(file, ext).slice(name.length + 1));
    return namesIn(dir)
      .filter(isFullFile)
      .sort()
      .map((file) => join(dir, file));
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** Opens FILE with FLAGS. Throws unless it is a regular file, because records must not go through a link or
 *  into a device. */
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
    return undefined; // Nothing was written yet, or the file was rotated away.
  }
}
