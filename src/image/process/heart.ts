// Pings an image while calls wait for answers, and kills it when it is frozen.

import { SILENT_BEATS, TIMES, type Times } from '../wire/times.ts';

interface HeartbeatTarget {
  busy(): boolean;
  ping(): Promise<unknown>;
  /** Returns true when the image is collecting garbage, or has collected since the previous call; undefined when this
   * is unknown. */
  collecting(): boolean | undefined;
  /** Returns the number of milliseconds for which the image has waited for a CPU since the first call of this method
   * (see starving.ts). */
  deniedMs(): number;
  kill(): void;
}

/** Returns the number of milliseconds without a reaction after which an image with HEAP_MB megabytes of heap counts as
 * frozen. */
export function frozenAfter(heapMb: number, times: Times = TIMES): number {
  return times.frozen + times.frozenPerGb * (heapMb / 1024);
}

/** Pings TARGET every BEAT_MS milliseconds while calls wait. Returns a function that stops this. Kills TARGET in two
 * cases. The first: it has not answered a ping for SILENT_BEATS of these intervals, in which it neither collected
 * garbage nor waited for a CPU. The second: it has not answered for FROZEN_MS milliseconds. These are many, because all
 * threads stop while a large heap is collected. If TARGET waits for a CPU, it gets this time in addition, but at most
 * another FROZEN_MS. If IDLE_MS is given, TARGET is also pinged every IDLE_MS milliseconds while no calls wait. These
 * pings need no answer. */
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
