// Reads a file of lines from its end. Only one chunk and one line are in memory.

import { closeSync, fstatSync, readSync } from 'node:fs';

/** Counts how many octets of files were read. */
export interface Reading {
  octets: number;
}

/** Octets per read. A few hundred typical records fit, so a short list takes one read. */
const CHUNK = 64 * 1024;

const NEWLINE = 10;

/** Yields the non-empty lines of the file that is open as DESCRIPTOR, last line first. Closes the file at the
 *  end, also when the caller stops early. READING counts the octets that are read. */
export function* linesBackwards(descriptor: number, reading: Reading): Generator<string> {
  try {
    /** Parts of a line of which the beginning was not read yet. */
    let lineParts: Buffer[] = [];
    for (let end = fstatSync(descriptor).size; end > 0; end -= CHUNK) {
      const chunk = readRange(descriptor, Math.max(0, end - CHUNK), end);
      reading.octets += chunk.length;
      const first = end > CHUNK ? chunk.indexOf(NEWLINE) : -1;
      if (first === -1 && end > CHUNK) {
        lineParts.unshift(chunk);
        continue;
      }
      const lines = Buffer.concat([chunk.subarray(first + 1), ...lineParts]).toString('utf8');
      for (const line of lines.split('\n').reverse()) if (line !== '') yield line;
      lineParts = [chunk.subarray(0, Math.max(0, first))];
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the octets from START to END of the file that is open as DESCRIPTOR. Returns fewer when the file
 *  ends before END, and none when reading fails. */
export function readRange(descriptor: number, start: number, end: number): Buffer {
  const octets = Buffer.allocUnsafe(Math.max(0, start < 0 ? 0 : end - start));
  try {
    return octets.subarray(0, octets.length && readSync(descriptor, octets, 0, octets.length, start));
  } catch {
    return Buffer.alloc(0);
  }
}
