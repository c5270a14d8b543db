// Decides how it is known, once an image has ended, which requests had begun to run in it: in memory that both share.

import { closeSync, ftruncateSync, openSync, readSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Requests that the memory has a word for: the number of each stands at its remainder. */
const WORDS = 512;
const WORD_OCTETS = 8;

let count = 0;

export class Begun {
  /** The file of the memory, which has no name; undefined when there can be none. */
  readonly descriptor: number | undefined;
  #closed = false;

  constructor() {
    this.descriptor = openShared();
  }

  /** Returns whether the request ID began to run; undefined when that cannot be known. */
  has(id: number): boolean | undefined {
    if (this.descriptor === undefined || this.#closed) return undefined;
    const word = Buffer.alloc(WORD_OCTETS);
    readSync(this.descriptor, word, 0, WORD_OCTETS, WORD_OCTETS * (id % WORDS));
    return word.readBigUInt64LE() === BigInt(id);
  }

  /** Gives the memory back. */
  close(): void {
    if (this.descriptor !== undefined && !this.#closed) closeSync(this.descriptor);
    this.#closed = true;
  }
}

/** Returns a descriptor of a new file for WORDS words, which is gone when nobody has it open. */
function openShared(): number | undefined {
  count += 1;
  const path = join(tmpdir(), `live-lisp-${process.pid}-begun-${count}`);
  try {
    const descriptor = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    ftruncateSync(descriptor, WORDS * WORD_OCTETS);
    return descriptor;
  } catch {
    return undefined; // Then a request of a lost image is not sent again.
  }
}
