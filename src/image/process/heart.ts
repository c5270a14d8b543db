// Decides when an image counts as frozen.

import { TIMES, type Times } from '../wire/times.ts';

/** What can be asked whether it lives. */
export interface Beating {
  /** Whether calls wait for it. */
  busy(): boolean;
  ping(): Promise<unknown>;
  /** Whether it collects garbage or did since the last look; undefined when that cannot be seen. */
  collecting(): boolean | undefined;
  /** For how many milliseconds it was denied the CPU since the first look. */
  deniedMs(): number;
  kill(): void;
}

/** Returns how many milliseconds an image with HEAP_MB of heap may be silent, by TIMES. */
export function frozenAfter(heapMb: number, times: Times = TIMES): number {
  return times.frozen + times.frozenPerGb * (heapMb / 1024);
}

/** How many beats in a row one that collects no garbage may be silent. */
const SILENT_BEATS = 5;

/** Pings HEART every BEAT_MS milliseconds while calls wait for it. Kills it when a ping is not answered for SILENT_BEATS,
 *  or within FROZEN_MS. That is long, because a garbage collection of a large heap stops everything. What it was denied
 *  the CPU counts for neither, up to another FROZEN_MS. Returns the function that ends this. */
export function listenToHeart(heart: Beating, frozenMs: number, beatMs: number = TIMES.beat): () => void {
  let silentSince: number | undefined;
  let silentBeats = 0;
  let deniedBefore = 0;
  let denied = 0;
  const beat = () => {
    if (silentSince !== undefined) {
      const deniedNow = Math.min(heart.deniedMs() - deniedBefore, frozenMs);
      if (heart.collecting() !== false) silentBeats = 0;
      else if (deniedNow === denied) silentBeats += 1;
      denied = deniedNow;
      if (silentBeats >= SILENT_BEATS || performance.now() - silentSince - denied > frozenMs) heart.kill();
      return;
    }
    silentBeats = 0;
    if (!heart.busy()) return;
    silentSince = performance.now();
    deniedBefore = heart.deniedMs();
    denied = 0;
    void heart.ping().then(() => {
      silentSince = undefined;
    });
  };
  const timer = setInterval(beat, beatMs);
  timer.unref();
  return () => clearInterval(timer);
}
