// Decides when an image counts as frozen.

/** What can be asked whether it lives. */
export interface Beating {
  /** Whether calls wait for it. */
  busy(): boolean;
  ping(): Promise<unknown>;
  /** Whether it collects garbage or did since the last look; undefined when that cannot be seen. */
  collecting(): boolean | undefined;
  kill(): void;
}

/** How long an image may be silent, a garbage collection stopping everything, and how much longer for each GB. */
const FROZEN_MS = 15_000;
const FROZEN_MS_PER_GB = 1_000;

/** Returns how many milliseconds an image with HEAP_MB of heap may be silent. */
export function frozenAfter(heapMb: number): number {
  return FROZEN_MS + FROZEN_MS_PER_GB * (heapMb / 1024);
}

const BEAT_MS = 1000;
/** How many beats in a row one that collects no garbage may be silent. */
const SILENT_BEATS = 5;

/** Pings HEART each second while calls wait for it, and kills it when a ping is not answered for SILENT_BEATS, or
 *  within FROZEN_MS. That is long, because a garbage collection of a large heap stops everything. Returns the
 *  function that ends this. */
export function listenToHeart(heart: Beating, frozenMs: number): () => void {
  let silentSince: number | undefined;
  let silentBeats = 0;
  const beat = () => {
    if (silentSince !== undefined) {
      silentBeats = heart.collecting() === false ? silentBeats + 1 : 0;
      if (silentBeats >= SILENT_BEATS || performance.now() - silentSince > frozenMs) heart.kill();
      return;
    }
    silentBeats = 0;
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
