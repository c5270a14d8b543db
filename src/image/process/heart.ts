// Pings an image while calls wait for answers, and kills a frozen image.

import { TIMES, type Times } from '../wire/times.ts';

interface HeartbeatTarget {
  busy(): boolean;
  ping(): Promise<unknown>;
  /** True when the image is collecting garbage or has collected since the previous call. Undefined when
   *  unknown. */
  collecting(): boolean | undefined;
  /** Milliseconds for which the system has denied the image the CPU since the first call of this function. */
  deniedMs(): number;
  kill(): void;
}

/** Returns the number of silent milliseconds after which an image with HEAP_MB megabytes of heap counts as
 *  frozen. */
export function frozenAfter(heapMb: number, times: Times = TIMES): number {
  return times.frozen + times.frozenPerGb * (heapMb / 1024);
}

/** An image that does not collect garbage is killed after this many silent beats in a row. */
const SILENT_BEATS = 5;

/** Pings TARGET every BEAT_MS milliseconds while calls wait, and returns a function that stops the pings.
 *  Kills TARGET after SILENT_BEATS beats without answer and garbage collection, or after FROZEN_MS
 *  milliseconds without answer. FROZEN_MS is long, because the collection of a large heap stops all threads
 *  for long. Time without CPU, up to another FROZEN_MS, does not count. While no calls wait, pings at
 *  intervals of IDLE_MS, if given, need no answer. */
export function startHeartbeat(
  target: HeartbeatTarget,
  frozenMs: number,
  beatMs: number = TIMES.beat,
  idleMs = Number.POSITIVE_INFINITY,
): () => void {
  let pingedAt = performance.now();
  let silentSince: number | undefined;
  let silentBeats = 0;
  let deniedBefore = 0;
  let denied = 0;
  const beat = () => {
    if (silentSince !== undefined) {
      const deniedNow = Math.min(target.deniedMs() - deniedBefore, frozenMs);
      if (target.collecting() !== false) silentBeats = 0;
      else if (deniedNow === denied) silentBeats += 1;
      denied = deniedNow;
      if (silentBeats >= SILENT_BEATS || performance.now() - silentSince - denied > frozenMs) target.kill();
      return;
    }
    silentBeats = 0;
    if (!target.busy()) {
      if (performance.now() - pingedAt < idleMs) return;
      pingedAt = performance.now();
      void target.ping();
      return;
    }
    silentSince = performance.now();
    pingedAt = silentSince;
    deniedBefore = target.deniedMs();
    denied = 0;
    void target.ping().then(() => {
      silentSince = undefined;
    });
  };
  const timer = setInterval(beat, beatMs);
  timer.unref();
  return () => clearInterval(timer);
}
