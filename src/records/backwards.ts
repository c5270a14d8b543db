// Decides how a file of lines is read from its end, with no more of it in memory than a part and a line.

import { closeSync, fstatSync, readSync } from 'node:fs';

/** How much of files was read so far. */
export interface Reading {
  octets: number;
}

/** Octets that are read at once: a few hundred usual records, so that a short list takes one read. */
const PART = 64 * 1024;

const NEWLINE = 10;

/** Returns the lines of the file that is open as DESCRIPTOR, the last first, but no empty ones. Closes it then, also
 *  when not all are taken. READING counts what is read. */
export function* linesBackwards(descriptor: number, reading: Reading): Generator<string> {
  try {
    /** The parts of a line whose beginning was not read yet. */
    let rest: Buffer[] = [];
    for (let end = fstatSync(descriptor).size; end > 0; end -= PART) {
      const part = readRange(descriptor, Math.max(0, end - PART), end);
      reading.octets += part.length;
      const first = end > PART ? part.indexOf(NEWLINE) : -1;
      if (first === -1 && end > PART) {
        rest.unshift(part);
        continue;
      }
      const lines = Buffer.concat([part.subarray(first + 1), ...rest]).toString('utf8');
      for (const line of lines.split('\n').reverse()) if (line !== '') yield line;
      rest = [part.subarray(0, Math.max(0, first))];
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Returns what the file that is open as DESCRIPTOR holds from START to END; less where it ends or cannot be read. */
export function readRange(descriptor: number, start: number, end: number): Buffer {
  const octets = Buffer.allocUnsafe(Math.max(0, start < 0 ? 0 : end - start));
  try {
    return octets.subarray(0, octets.length && readSync(descriptor, octets, 0, octets.length, start));
  } catch {
    return Buffer.alloc(0);
  }
}
