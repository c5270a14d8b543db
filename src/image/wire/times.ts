// Timeouts and intervals of an image and its calls, where the user chooses none.

/** All in milliseconds. */
export interface Times {
  /** For a call that runs on after its first interrupt: time until the next interrupt, until its thread is terminated,
   *  and until the image is asked to react. */
  again: number;
  terminate: number;
  ask: number;
  /** Time for a call to end once the image has reacted, or for the image to react. */
  kill: number;
  /** The steps come at most this much later, while the image collects garbage or is denied the CPU. A larger heap gets
   *  more time: to copy a GB takes 2 s, and several collections can follow. */
  collecting: number;
  collectingPerGb: number;
  /** Interval between polls of an image in which a call is being ended. */
  look: number;
  /** Interval between pings of an image that calls wait for. */
  beat: number;
  /** How long an image may be silent while a garbage collection stops everything, and the extra time per GB of heap. */
  frozen: number;
  frozenPerGb: number;
  /** Time for the greeting of an image that somebody else runs. */
  greeting: number;
  /** Time for the greeting of our own image, and the interval at which it is resumed, should a signal stop it. */
  start: number;
  wake: number;
  /** Time for each step of making a core, which runs at low priority. */
  core: number;
  /** Time to read the last output of a process that has ended. */
  lastWords: number;
  /** Time for a process that is about to exit. */
  exit: number;
  /** Time for the agent's status. */
  status: number;
  /** Interval between progress reports of a running call. */
  progress: number;
  /** Time for any load. */
  load: number;
  /** Time for cleanup forms of calls when the server ends. */
  cleanup: number;
  /** Time for a whole rebuild; no entry is begun later. It is longer than the time for one load, so that a load that
   *  hangs does not keep the rest from being rebuilt. */
  rebuild: number;
  /** Time for one form of a rebuild, and for a file whose load was cut off. */
  rebuiltForm: number;
  /** Time for a probe after a rebuilt form. */
  probe: number;
  /** Time for an image to prove that it works, after calls that failed in a way that can be its own fault. */
  alive: number;
  /** Time for any other file or system of a rebuild. */
  rebuiltLoad: number;
  /** A rebuilt image that lives longer than this was not lost because of the rebuild. */
  soon: number;
}

export const TIMES: Readonly<Times> = {
  again: 1000,
  terminate: 1300,
  ask: 1350,
  kill: 250,
  collecting: 7500,
  collectingPerGb: 2500,
  look: 50,
  beat: 1000,
  frozen: 15_000,
  frozenPerGb: 1000,
  greeting: 10_000,
  start: 60_000,
  wake: 1000,
  core: 600_000,
  lastWords: 20,
  exit: 4000,
  status: 70,
  progress: 1000,
  load: 600_000,
  cleanup: 150,
  rebuild: 120_000,
  rebuiltForm: 10_000,
  probe: 5000,
  alive: 1500,
  rebuiltLoad: 60_000,
  soon: 10_000,
};

/** Returns the TIMES for an image with HEAP_MB of heap. */
export function timesFor(heapMb: number, times: Times = TIMES): Times {
  return { ...times, collecting: times.collecting + times.collectingPerGb * (heapMb / 1024) };
}
