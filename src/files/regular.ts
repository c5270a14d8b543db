// Opens all files that an image, a workspace or a configuration names. Opens only regular files, never blocks on other
// files such as FIFOs, and reads only a limited number of octets.

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isInside } from '../paths.ts';
import { UnreadableFile, withFileTimeout } from './answering.ts';

/** With O_NONBLOCK, opening never blocks. Without it, a FIFO that replaces the file after the check would block. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Folders in which the kernel represents its state, processes and devices as files. */
const SYSTEM_FOLDERS = ['/proc', '/sys', '/dev'];

const HAS_DESCRIPTORS = existsSync('/proc/self/fd');

/** The folder of shared memory. Its files behave like files on a disk. */
const SHARED_MEMORY = '/dev/shm';

/** Returns true when REAL, a real path, is in one of SYSTEM_FOLDERS but not in SHARED_MEMORY. */
export function isSystemFile(real: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => isInside(folder, real)) && !isInside(SHARED_MEMORY, real);
}

export interface ReadLimits {
  /** Maximum number of octets to read. */
  limit: number;
  /** True if only the beginning of a file that is too large is read. Otherwise such a file is refused. */
  head?: boolean;
  /** Returns the reason, as a clause, why the file `real`, a real path, may not be read; undefined when it may be
   * read. By default, a system file may not be read (see isSystemFile). */
  forbids?: (real: string) => string | undefined;
}

/** The content of a file, and the stats that it had when it was opened. */
export interface RegularFile {
  octets: Buffer;
  stats: Stats;
}

/** Returns the regular file that PATH leads to. Throws an UnreadableFile, or an error of the system. */
export function readRegular(path: string, bounds: ReadLimits): RegularFile {
  // Opening a device can start it, and opening a FIFO wakes the process that writes to it. So the kind of the file is
  // checked first.
  checkKind(statSync(path));
  const descriptor = openSync(path, FLAGS);
  try {
    const stats = fstatSync(descriptor);
    checkOpened(stats, realNameOf(descriptor, path), bounds);
    return { octets: readSome(descriptor, bounds.limit), stats };
  } finally {
    closeSync(descriptor);
  }
}

/** Like readRegular, but asynchronous, so that the main thread is not blocked. */
export async function readRegularAsync(path: string, bounds: ReadLimits): Promise<RegularFile> {
  const step = <Value>(operation: () => Promise<Value>) => withFileTimeout(dirname(path), operation);
  checkKind(await step(() => stat(path)));
  const handle = await step(() => open(path, FLAGS));
  try {
    const stats = await step(() => handle.stat());
    const real = await step(() =>
      HAS_DESCRIPTORS ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(path),
    );
    checkOpened(stats, real, bounds);
    const parts: Buffer[] = [];
    for (let remaining = bounds.limit; remaining > 0; ) {
      const chunk = Buffer.allocUnsafe(Math.min(remaining, CHUNK));
      const { bytesRead } = await step(() => handle.read(chunk, 0, chunk.length, null));
      if (bytesRead === 0) break;
      parts.push(chunk.subarray(0, bytesRead));
      remaining -= bytesRead;
    }
    return { octets: Buffer.concat(parts), stats };
  } finally {
    // Closing the file can block too when its file system does not answer, so the result is not awaited.
    handle.close().catch(() => {});
  }
}

/** Like readRegular, but returns undefined when readRegular would throw. */
export function readIfRegular(path: string, bounds: ReadLimits): RegularFile | undefined {
  try {
    return readRegular(path, bounds);
  } catch {
    return undefined;
  }
}

/** Opens the file PATH, which must not be a link. If it is not a regular file, returns only its `stats`. */
export async function openRegular(path: string): Promise<{ handle?: FileHandle; stats: Stats }> {
  const handle = await open(path, FLAGS | constants.O_NOFOLLOW);
  const stats = await handle.stat();
  if (stats.isFile()) return { handle, stats };
  await handle.close();
  return { stats };
}

function refuseSystemFile(real: string): string | undefined {
  return isSystemFile(real) ? 'it is in /proc, /sys or /dev, not on a disk' : undefined;
}

function checkOpened(
  stats: Stats,
  real: string,
  { limit, head = false, forbids = refuseSystemFile }: ReadLimits,
): void {
  checkKind(stats);
  const reason = forbids(real);
  if (reason !== undefined) throw new UnreadableFile(reason);
  if (stats.size > limit && !head) throw new UnreadableFile(`it has more than ${limit / 1024 / 1024} MB`);
}

function checkKind(stats: Stats): void {
  if (stats.isDirectory()) throw new UnreadableFile('it is a directory');
  if (!stats.isFile()) throw new UnreadableFile('it is not a regular file');
}

/** Returns the real path of the file that is open as DESCRIPTOR; PATH may lead to another file by now. On a system
 * without /proc, returns the current real path of PATH. */
function realNameOf(descriptor: number, path: string): string {
  return HAS_DESCRIPTORS ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync(path);
}

/** Reads the open file DESCRIPTOR to its end, but at most LIMIT octets. Does not ask for the size of the file first: a
 * file can grow, and files in /proc have the size 0. */
function readSome(descriptor: number, limit: number): Buffer {
  const parts: Buffer[] = [];
  for (let remaining = limit; remaining > 0; ) {
    const chunk = Buffer.allocUnsafe(Math.min(remaining, CHUNK));
    const count = readSync(descriptor, chunk, 0, chunk.length, null);
    if (count === 0) break;
    parts.push(chunk.subarray(0, count));
    remaining -= count;
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

const CHUNK = 256 * 1024;
