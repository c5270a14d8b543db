// Decides how a running call is ended: interrupt, interrupt again, end its thread, give its image up.

import { type Reason, reasonOf } from './endings.ts';
import { TIMES, type Times } from './times.ts';

/** What it takes to end a call. */
export interface Endable {
  interrupt(reason: Reason): void;
  terminate(): void;
  /** Resolves when the image reacts. While it collects garbage it does not, and no call can be ended. */
  reacts(): Promise<unknown>;
  /** Whether garbage is being collected or was since the last look; undefined when that cannot be seen. */
  collecting(): boolean | undefined;
  kill(): void;
}

/** How many looks in a row must see an image stand still. */
const LOOKS = 5;

/** Watches a call that began now: ends it after LIMIT_MS or when SIGNAL aborts, by steps at TIMES. Returns the function
 *  to call when it has ended. */
export function watch(
  job: Endable,
  limitMs: number,
  signal: AbortSignal | undefined,
  times: Times = TIMES,
): () => void {
  const timers: NodeJS.Timeout[] = [];
  let ended = false;
  const later = (ms: number, step: () => void) => {
    if (!ended) timers.push(setTimeout(step, ms));
  };
  const kill = () => {
    if (!ended) job.kill();
    ended = true;
  };
  const look = (standing: number) => {
    if (standing === LOOKS) kill();
    else later(times.look, () => look(job.collecting() === false ? standing + 1 : 0));
  };
  const ask = async () => {
    await job.reacts();
    later(job.collecting() === undefined ? times.kill : times.collecting, kill);
  };
  const climb = (reason: Reason) => {
    if (timers.length > 1) return;
    job.interrupt(reason);
    later(times.again, () => job.interrupt(reason));
    later(times.terminate, () => job.terminate());
    later(times.ask, () => void ask());
    // Looks tell what happened since the one before, so the first counts for nothing.
    later(times.ask + times.kill - (LOOKS + 1) * times.look, () => {
      job.collecting();
      later(times.look, () => look(0));
    });
  };
  const cancel = () => climb(reasonOf(signal));
  later(limitMs, () => climb('timeout'));
  if (signal?.aborted) cancel();
  else signal?.addEventListener('abort', cancel, { once: true });
  return () => {
    ended = true;
    for (const timer of timers) clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  };
}
