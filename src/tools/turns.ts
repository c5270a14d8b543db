// Lets long work yield to the event loop, so that other work can run.

import { setImmediate as pause } from 'node:timers/promises';

/** Number of milliseconds after which long work yields. */
const SLICE_MS = 20;

/** Returns a function that long work must await between its steps. The function yields to the event loop when SLICE_MS
 * milliseconds have passed since it last did. */
export function takingTurns(): () => Promise<void> {
  let until = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < until) return;
    await pause();
    until = performance.now() + SLICE_MS;
  };
}
