// Decides how a running call is ended: interrupt, interrupt again, end its thread, give its image up.

import { type Reason, reasonOf } from './endings.ts';

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

/** Milliseconds after the first interrupt at which the next step is taken, when the call still runs. */
const AGAIN_MS = 1000;
const TERMINATE_MS = 1300;
const ASK_MS = 1350;
/** Milliseconds that it has to end once the image has shown that it reacts, or that the image has to react. */
const KILL_MS = 250;
/** How many it has at most when garbage is collected meanwhile. */
const COLLECTING_MS = 5000;
/** Milliseconds between looks at an image that does not react, and how many in a row must see it stand still. */
const LOOK_MS = 50;
const LOOKS = 5;

/** Watches a call that began now: ends it after LIMIT_MS or when SIGNAL aborts. Returns the function to call
 *  when it has ended. */
export function watch(job: Endable, limitMs: number, signal: AbortSignal | undefined): () => void {
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
    else later(LOOK_MS, () => look(job.collecting() === false ? standing + 1 : 0));
  };
  const ask = async () => {
    await job.reacts();
    later(job.collecting() === undefined ? KILL_MS : COLLECTING_MS, kill);
  };
  const climb = (reason: Reason) => {
    if (timers.length > 1) return;
    job.interrupt(reason);
    later(AGAIN_MS, () => job.interrupt(reason));
    later(TERMINATE_MS, () => job.terminate());
    later(ASK_MS, () => void ask());
    // Looks tell what happened since the one before, so the first counts for nothing.
    later(ASK_MS + KILL_MS - (LOOKS + 1) * LOOK_MS, () => {
      job.collecting();
      later(LOOK_MS, () => look(0));
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
