// Timeouts and intervals of an image and its calls, where the user chooses none.

/** All in milliseconds. */
export const TIMES = {
  /** For a call that runs on after its first interrupt: time until the next interrupt, until its thread is terminated,
   *  and until the image is asked to react. */
  again: 1000,
  terminate: 1300,
  ask: 1350,
  /** Time for a call to end once the image has reacted, or for the image to react. */
  kill: 250,
  /** How much later the steps above come at most while the image collects garbage or gets no CPU, and the extra time
   *  per GB of heap: to copy a GB takes 2 s, and several collections can follow. */
  collecting: 7500,
  collectingPerGb: 2500,
  /** Interval between polls of an image in which a call is being ended. */
  poll: 50,
  /** Interval between pings of an image that calls wait for. */
  beat: 1000,
  /** How long an image may be silent while a garbage collection stops everything, and the extra time per GB of heap. */
  frozen: 15_000,
  frozenPerGb: 1000,
  /** Time for the greeting of an image that somebody else runs. */
  greeting: 10_000,
  /** Time for the greeting of our own image, and the interval at which it is resumed, should a signal stop it. */
  start: 60_000,
  wake: 1000,
  /** Time for each step of making a core, which runs at low priority. */
  core: 600_000,
  /** Time to read the last output of a process that has ended. */
  lastWords: 20,
  /** Time for a process that is about to exit. */
  exit: 4000,
  /** Time for the agent's status. */
  status: 70,
  /** Interval between progress reports of a running call. */
  progress: 1000,
  /** Time for any load. */
  load: 600_000,
  /** Time for cleanup forms of calls when the server ends. */
  cleanup: 150,
  /** Time for a whole rebuild; no entry is begun later. It is longer than the time for one load, so that a load that
   *  hangs does not keep the rest from being rebuilt. */
  rebuild: 120_000,
  /** Time for one form of a rebuild, and for a file whose load was cut off. */
  rebuiltForm: 10_000,
  /** Time for a probe after a rebuilt form. */
  probe: 5000,
  /** Time for an image to prove that it works, after calls that failed in a way that can be its own fault. */
  alive: 1500,
  /** Time for any other file or system of a rebuild. */
  rebuiltLoad: 60_000,
  /** A rebuilt image that lives longer than this was not lost because of the rebuild. */
  soon: 10_000,
};
export type Times = typeof TIMES;

/** Returns the TIMES for an image with HEAP_MB of heap. */
export function timesFor(heapMb: number, times: Times = TIMES): Times {
  return { ...times, collecting: times.collecting + times.collectingPerGb * (heapMb / 1024) };
}
