// Lets long work yield to the event loop.

import { setImmediate as pause } from 'node:timers/promises';

/** Work yields after this many milliseconds. */
const SLICE_MS = 20;

/** Returns a function for long work to await between steps. It yields to the event loop once SLICE_MS have
 *  passed. */
export function takingTurns(): () => Promise<void> {
  let until = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < until) return;
    await pause();
    until = performance.now() + SLICE_MS;
  };
}
