// Stores lines in a file that is only appended to. Several servers may write to it, and a crash may cut off its last
// line.

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { namesInFolder } from '../leftovers.ts';

interface LineFileOptions {
  /** When a file would become larger than this number of octets, a new file is begun. */
  limit: number;
  /** Number of full files that are kept, in addition to the current one. */
  kept: number;
  /** Called before a missing file is created. */
  beforeCreation?: () => void;
}

const NEWLINE = 10;

/** Number of octets per read. It is enough for some hundred typical records, so that one read suffices for a short
 * list. */
const CHUNK = 64 * 1024;

/** With O_NONBLOCK, opening a FIFO does not wait for its writer. */
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

export class LineFile {
  readonly path: string;
  readonly #options: LineFileOptions;
  #descriptor: number | undefined;
  #inode = 0;
  /** Size of the open file after the last line that this object appended; 0 before the first one. */
  #end = 0;
  /** Part of the name of a full file. It distinguishes two files that become full in the same millisecond. It always
   * has seven digits, so the names can be sorted. */
  #rotations = 1_000_000;

  constructor(path: string, options: LineFileOptions) {
    this.path = path;
    this.#options = options;
  }

  /** Appends the line TEXT. If SYNC is true, returns only when the line is on the disk. Throws when the file cannot be
   * opened or the disk is full. */
  append(text: string, sync = false): void {
    const line = `${text}\n`;
    const octets = Buffer.byteLength(line);
    const { descriptor, size } = this.#fileFor(octets);
    const mayBeCutOff = size !== this.#end;
    if (mayBeCutOff) endLastLine(descriptor, size);
    if (writeSync(descriptor, line) !== octets) throw new Error('the disk is full');
    this.#end = size + octets;
    if (sync) fsyncSync(descriptor);
  }

  /** Yields all lines, including incomplete ones. The newest comes first. */
  *newestFirst(): Generator<string> {
    // The current file is opened before the full files are listed. If it becomes full between these steps, its inode
    // shows that it is one of them.
    const current = openToRead(this.path);
    const inode = current === undefined ? undefined : fstatSync(current).ino;
    const full = this.#fullNewestFirst();
    if (current !== undefined) yield* linesBackwards(current);
    for (const file of full) {
      const descriptor = openToRead(file);
      if (descriptor === undefined) continue;
      if (fstatSync(descriptor).ino === inode) closeSync(descriptor);
      else yield* linesBackwards(descriptor);
    }
  }

  /** Returns a descriptor of the current file, and the size of that file. If MORE further octets would exceed the
   * limit, begins a new file first. */
  #fileFor(more: number): { descriptor: number; size: number } {
    const file = this.#openFile() ?? this.#reopen();
    if (file.size === 0 || file.size + more <= this.#options.limit) return file;
    this.#rotate();
    return this.#reopen();
  }

  /** Returns the open file. Returns undefined when none is open, or when another file is at the path, because another
   * server has begun a new file. */
  #openFile(): { descriptor: number; size: number } | undefined {
    if (this.#descriptor === undefined) return undefined;
    const current = statSync(this.path, { throwIfNoEntry: false });
    return current?.ino === this.#inode ? { descriptor: this.#descriptor, size: current.size } : undefined;
  }

  #reopen(): { descriptor: number; size: number } {
    this.#close();
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    if (!existsSync(this.path)) this.#options.beforeCreation?.();
    const descriptor = openRegular(this.path, O_APPEND | O_CREAT | O_RDWR);
    const { ino, size } = fstatSync(descriptor);
    this.#descriptor = descriptor;
    this.#inode = ino;
    this.#end = 0;
    return { descriptor, size };
  }

  #rotate(): void {
    if (this.#openFile() === undefined) return;
    const { dir, name, ext } = parse(this.path);
    const stamp = new Date().toISOString().replace(/\D/g, '');
    try {
      renameSync(this.path, join(dir, `${name}.${stamp}-${process.pid}-${this.#rotations++}${ext}`));
    } catch {
      return; // Another server renamed the file first, or a later call tries again.
    }
    for (const old of this.#fullNewestFirst().slice(this.#options.kept)) rmSync(old, { force: true });
  }

  #fullNewestFirst(): string[] {
    const { dir, name, ext } = parse(this.path);
    const isFullFile = (file: string) =>
      file.startsWith(`${name}.`) &&
      file.endsWith(ext) &&
      /^\d{17}-\d+-\d+$/.test(basename(file, ext).slice(name.length + 1));
    return namesInFolder(dir)
      .filter(isFullFile)
      .sort()
      .reverse()
      .map((file) => join(dir, file));
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** Opens FILE with FLAGS. Throws when FILE is not a regular file, so that records are never written to a link or a
 * device. */
function openRegular(file: string, flags: number): number {
  const descriptor = openSync(file, flags | O_NOFOLLOW | O_NONBLOCK, 0o600);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw new Error(`${file} is no regular file`);
}

/** Adds a newline to the file DESCRIPTOR, which has SIZE octets, if its last line lacks one. A crash, also of another
 * server, or a full disk can have cut off that line, and the next line must be separate. */
function endLastLine(descriptor: number, size: number): void {
  const last = Buffer.from([NEWLINE]);
  if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
  if (last[0] !== NEWLINE) writeSync(descriptor, '\n');
}

function openToRead(file: string): number | undefined {
  try {
    return openRegular(file, O_RDONLY);
  } catch {
    return undefined; // Nothing was written yet, or the file was rotated away.
  }
}

/** Yields the non-empty lines of the file DESCRIPTOR, last line first. Holds one chunk and one line in memory. Closes
 * the file at the end, or when the caller stops. */
function* linesBackwards(descriptor: number): Generator<string> {
  try {
    /** The parts, so far, of a line whose beginning is not read yet. */
    let lineParts: Buffer[] = [];
    for (let end = fstatSync(descriptor).size; end > 0; end -= CHUNK) {
      const octets = Buffer.allocUnsafe(Math.min(end, CHUNK));
      const chunk = octets.subarray(0, readSync(descriptor, octets, 0, octets.length, end - octets.length));
      // The line at the beginning of a chunk is complete only at the beginning of the file.
      const startsFile = end <= CHUNK;
      const cut = startsFile ? 0 : chunk.indexOf(NEWLINE);
      if (cut === -1) {
        lineParts.unshift(chunk);
        continue;
      }
      const lines = Buffer.concat([chunk.subarray(cut), ...lineParts]).toString('utf8');
      for (const line of lines.split('\n').reverse()) if (line !== '') yield line;
      lineParts = [chunk.subarray(0, cut)];
    }
  } finally {
    closeSync(descriptor);
  }
}
