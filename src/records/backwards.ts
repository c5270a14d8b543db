// Reads a file of lines from its end, with only one chunk and one line in memory.

import { closeSync, fstatSync, readSync } from 'node:fs';

/** How many octets of files have been read. */
export interface Reading {
  octets: number;
}

/** Octets per read: a few hundred usual records, so that a short list takes one read. */
const PART = 64 * 1024;

const NEWLINE = 10;

/** Returns the non-empty lines of the file open as DESCRIPTOR, last first. Closes it at the end, even when the caller
 *  stops early. READING counts the octets read. */
export function* linesBackwards(descriptor: number, reading: Reading): Generator<string> {
  try {
    /** Parts of a line whose beginning was not read yet. */
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

/** Returns the octets from START to END of the file open as DESCRIPTOR; fewer where the file ends or cannot be read. */
export function readRange(descriptor: number, start: number, end: number): Buffer {
  const octets = Buffer.allocUnsafe(Math.max(0, start < 0 ? 0 : end - start));
  try {
    return octets.subarray(0, octets.length && readSync(descriptor, octets, 0, octets.length, start));
  } catch {
    return Buffer.alloc(0);
  }
}
