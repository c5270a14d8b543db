// Decides when a long work lets all else have its turn.

import { setImmediate as pause } from 'node:timers/promises';

/** Milliseconds of a work after which all else has its turn. */
const SLICE_MS = 20;

/** Returns a function for a work to wait for between its parts: it lets all else have its turn when they took long. */
export function takingTurns(): () => Promise<void> {
  let until = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < until) return;
    await pause();
    until = performance.now() + SLICE_MS;
  };
}
