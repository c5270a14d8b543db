// Implements a lock between processes, so that only one of them at a time changes shared files. It is held for a short
// time only.

import { lstatSync, mkdirSync, rmSync } from 'node:fs';

/** A lock that is older than this, in milliseconds, was left by a killed process. */
const STALE_LOCK_MS = 2000;
/** Milliseconds between two attempts to take the lock. */
const PAUSE_MS = 2;

/** Runs CHANGE while this process holds the lock, and returns its value. LOCK is the path of the lock. Blocks while
 * another process holds the lock. Throws when LOCK cannot be created, or is still held after twice STALE_LOCK_MS. */
export function withLock<Value>(lock: string, change: () => Value): Value {
  acquire(lock);
  try {
    return change();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function acquire(lock: string): void {
  const end = Date.now() + 2 * STALE_LOCK_MS;
  while (Date.now() < end) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    // The lock can have a time in the future, when a clock was set back or a file server has a different clock.
    const lockedAt = lstatSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    if (lockedAt !== undefined && Math.abs(Date.now() - lockedAt) > STALE_LOCK_MS)
      rmSync(lock, { recursive: true, force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
  throw new Error(`${lock} stays locked`);
}
