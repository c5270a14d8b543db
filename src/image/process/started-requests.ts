// Records the requests that have begun to run in an image, so that they are known when the image has ended. The image
// writes their ids to memory that it shares with the server.

import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Number of words in the shared memory. When a request begins, the image writes its id to the word with the number id
 * modulo WORD_COUNT, unless the word already has the id of a later request. */
const WORD_COUNT = 512;
const WORD_OCTETS = 8;

let count = 0;

export class StartedRequests {
  /** The file descriptor of the shared memory; undefined when its file could not be created. */
  readonly descriptor: number | undefined;
  #closed = false;

  constructor() {
    this.descriptor = openShared();
  }

  /** Returns true when the request ID has begun to run, and false when it has not. Returns undefined when this is
   * unknown, for example because its word now has the id of a later request. */
  has(id: number): boolean | undefined {
    if (this.descriptor === undefined || this.#closed) return undefined;
    const word = Buffer.alloc(WORD_OCTETS);
    readSync(this.descriptor, word, 0, WORD_OCTETS, WORD_OCTETS * (id % WORD_COUNT));
    const noted = word.readBigUInt64LE();
    return noted > BigInt(id) ? undefined : noted === BigInt(id);
  }

  close(): void {
    if (this.descriptor !== undefined && !this.#closed) closeSync(this.descriptor);
    this.#closed = true;
  }
}

/** Returns the descriptor of a new, unlinked file of WORD_COUNT words; undefined when it cannot be created. */
function openShared(): number | undefined {
  count += 1;
  const path = join(tmpdir(), `live-lisp-${process.pid}-begun-${count}`);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    // To write zeros allocates the blocks of the file now. If the disk were full later, the first write would kill the
    // image.
    writeSync(descriptor, Buffer.alloc(WORD_COUNT * WORD_OCTETS));
    return descriptor;
  } catch {
    if (descriptor !== undefined) closeSync(descriptor);
    return undefined; // If this image is lost, its requests are not repeated in the next image: they may have begun.
  }
}
