// Lets long work yield to the event loop.

import { setImmediate as pause } from 'node:timers/promises';

/** Long work yields after this many milliseconds. */
const SLICE_MS = 20;

/** Returns a function that long work awaits between its steps. It yields to the event loop when 20 ms have
 * passed since the last yield. */
export function takingTurns(): () => Promise<void> {
  let until = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < until) return;
    await pause();
    until = performance.now() + SLICE_MS;
  };
}
