// Pings an image while calls wait for answers, and kills the image when it is frozen.

import { TIMES, type Times } from '../wire/times.ts';

/** The functions by which the heartbeat observes an image and kills it. */
interface HeartbeatTarget {
  /** True when calls wait for an answer. */
  busy(): boolean;
  ping(): Promise<unknown>;
  /** True when the image collects garbage or has collected since the last call of this function; undefined
   *  when that cannot be known. */
  collecting(): boolean | undefined;
  /** Milliseconds for which the system has denied the image the CPU since the first call of this function. */
  deniedMs(): number;
  kill(): void;
}

/** Returns how many milliseconds an image with HEAP_MB megabytes of heap may be silent before it counts as
 *  frozen. */
export function frozenAfter(heapMb: number, times: Times = TIMES): number {
  return times.frozen + times.frozenPerGb * (heapMb / 1024);
}

/** After this many silent beats in a row, an image that does not collect garbage is killed. */
const SILENT_BEATS = 5;

/** Pings TARGET every BEAT_MS milliseconds while calls wait. Kills it when a ping has no answer for
 *  SILENT_BEATS beats without garbage collection, or for FROZEN_MS milliseconds. FROZEN_MS is long, because
 *  the collection of a large heap stops all threads for long. Time without CPU, up to another FROZEN_MS,
 *  counts towards neither limit. If IDLE_MS is given, TARGET is also pinged at this interval while no calls
 *  wait; these pings need no answer. Returns a function that stops the pings. */
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
