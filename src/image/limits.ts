// Decides how a running call is ended: interrupt, interrupt again, end its thread, replace the image.

import type { Reason } from './image.ts';

/** What it takes to end a call. */
export interface Endable {
  interrupt(reason: Reason): void;
  terminate(): void;
  kill(): void;
}

/** Milliseconds after the first interrupt at which the next step is taken, when the call still runs. */
const AGAIN_MS = 500;
const TERMINATE_MS = 1000;
const KILL_MS = 1700;

/** Watches a call that began now: ends it after LIMIT_MS or when SIGNAL aborts. Returns the function to call
 *  when it has ended. */
export function watch(job: Endable, limitMs: number, signal: AbortSignal | undefined): () => void {
  const timers: NodeJS.Timeout[] = [];
  const later = (ms: number, step: () => void) => timers.push(setTimeout(step, ms));
  const climb = (reason: Reason) => {
    if (timers.length > 1) return;
    job.interrupt(reason);
    later(AGAIN_MS, () => job.interrupt(reason));
    later(TERMINATE_MS, () => job.terminate());
    later(KILL_MS, () => job.kill());
  };
  const cancel = () => climb('cancelled');
  later(limitMs, () => climb('timeout'));
  if (signal?.aborted) cancel();
  else signal?.addEventListener('abort', cancel, { once: true });
  return () => {
    for (const timer of timers) clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  };
}
