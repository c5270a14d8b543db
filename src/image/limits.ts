// Decides how a running call is ended (interrupt, interrupt again, end its thread, replace the image), and when
// an image counts as frozen.

import type { Reason } from './image.ts';

/** What it takes to end a call. */
export interface Endable {
  interrupt(reason: Reason): void;
  terminate(): void;
  /** Resolves when the image reacts. While it collects garbage it does not, and no call can be ended. */
  reacts(): Promise<unknown>;
  kill(): void;
}

/** What a signal aborts with that says why. */
export class Stop {
  readonly why: Reason;

  constructor(why: Reason) {
    this.why = why;
  }
}

/** Returns why SIGNAL aborted: the client cancelled, unless something else was said. */
export function reasonOf(signal: AbortSignal | undefined): Reason {
  const reason: unknown = signal?.reason;
  return reason instanceof Stop ? reason.why : 'cancelled';
}

/** Milliseconds after the first interrupt at which the next step is taken, when the call still runs. */
const AGAIN_MS = 1000;
const TERMINATE_MS = 1400;
const ASK_MS = 1500;
/** Milliseconds that it has to end once the image has shown that it reacts. */
const KILL_MS = 300;

/** Watches a call that began now: ends it after LIMIT_MS or when SIGNAL aborts. Returns the function to call
 *  when it has ended. */
export function watch(job: Endable, limitMs: number, signal: AbortSignal | undefined): () => void {
  const timers: NodeJS.Timeout[] = [];
  let ended = false;
  const later = (ms: number, step: () => void) => {
    if (!ended) timers.push(setTimeout(step, ms));
  };
  const climb = (reason: Reason) => {
    if (timers.length > 1) return;
    job.interrupt(reason);
    later(AGAIN_MS, () => job.interrupt(reason));
    later(TERMINATE_MS, () => job.terminate());
    later(ASK_MS, () => void job.reacts().then(() => later(KILL_MS, () => job.kill())));
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

/** What can be asked whether it lives. */
export interface Beating {
  /** Whether calls wait for it. */
  busy(): boolean;
  ping(): Promise<unknown>;
  kill(): void;
}

const BEAT_MS = 1000;

/** Pings HEART each second while calls wait for it, and kills it when a ping is not answered within FROZEN_MS.
 *  That is long, because a garbage collection of a large heap stops everything. Returns the function that
 *  ends this. */
export function listenToHeart(heart: Beating, frozenMs: number): () => void {
  let silentSince: number | undefined;
  const beat = () => {
    if (silentSince !== undefined) {
      if (performance.now() - silentSince > frozenMs) heart.kill();
      return;
    }
    if (!heart.busy()) return;
    silentSince = performance.now();
    void heart.ping().then(() => {
      silentSince = undefined;
    });
  };
  const timer = setInterval(beat, BEAT_MS);
  timer.unref();
  return () => clearInterval(timer);
}
