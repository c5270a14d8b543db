// Timeouts and intervals of an image and its calls, except those that the user chooses.

/** All in milliseconds. */
export const TIMES = {
  /** When a call runs on after it was interrupted: the time until the second interrupt (AGAIN), until its
   *  thread is terminated (TERMINATE), and until the image is asked to react (ASK). */
  again: 1000,
  terminate: 1300,
  ask: 1350,
  /** Once the image has reacted as asked: time for the call to end, before the image is killed. */
  kill: 250,
  /** Longest time by which these steps are delayed while the image collects garbage or gets no CPU, and the
   *  extra time for each GB of heap. To copy 1 GB takes 2 s, and several collections can follow each
   *  other. */
  collecting: 7500,
  collectingPerGb: 2500,
  /** Interval between two polls of an image in which a call is being ended. */
  poll: 50,
  /** Interval between two pings of an image that calls wait for. */
  beat: 1000,
  /** How long an image may be silent, since a garbage collection stops all its threads, and the extra time
   *  for each GB of heap. */
  frozen: 15_000,
  frozenPerGb: 1000,
  /** Time for the greeting of an image that somebody else runs. */
  greeting: 10_000,
  /** start: time for the greeting of our own image. wake: interval at which a starting image is resumed, in
   *  case a signal has stopped it. */
  start: 60_000,
  wake: 1000,
  /** Time for each step of making a core, which runs at low priority. */
  core: 600_000,
  /** Time to read the last output of a process that has ended. */
  lastWords: 20,
  /** Time for a process to exit after it has announced its exit. */
  exit: 4000,
  /** Time for the agent to answer a request for its status. */
  status: 70,
  /** Interval between progress reports of a running call. */
  progress: 1000,
  /** Time for any load. */
  load: 600_000,
  /** Time for cleanup forms of calls when the server ends. */
  cleanup: 150,
  /** Time for a whole rebuild; no entry is begun later. It is longer than the time for one load, so that one
   *  load that hangs does not take the time of all other entries. */
  rebuild: 120_000,
  /** Time for one form of a rebuild, and for a file whose load was cut off before. */
  rebuiltForm: 10_000,
  /** Time for a probe after a rebuilt form. */
  probe: 5000,
  /** Time for an image to prove that it works. It must do so after calls that failed in a way that can be the
   *  image's fault. */
  alive: 1500,
  /** Time for a file or system of a rebuild, except a file whose load was cut off before. */
  rebuiltLoad: 60_000,
  /** A rebuilt image that lives longer than this was not lost because of its rebuild. */
  soon: 10_000,
};
export type Times = typeof TIMES;

/** Returns the TIMES for an image with HEAP_MB of heap. */
export function timesFor(heapMb: number, times: Times = TIMES): Times {
  return { ...times, collecting: times.collecting + times.collectingPerGb * (heapMb / 1024) };
}
