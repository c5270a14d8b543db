// Timeouts and intervals of an image and its calls, except those that the user chooses.

/** All in milliseconds. */
export const TIMES = {
  /** Time from the first interrupt of a call to the second, if the call still runs then. */
  again: 1000,
  /** Time from the first interrupt of a call to the termination of its thread. */
  terminate: 1300,
  /** Time from the first interrupt of a call to a request that the image must answer. */
  ask: 1350,
  /** Time for the call to end after the image has answered this request. Then the image is killed. */
  kill: 250,
  /** Longest time by which these steps are delayed while the image collects garbage or is denied the CPU. */
  collecting: 7500,
  /** How much longer `collecting` is for each GB of heap: copying 1 GB takes 2 s, and collections can follow
   *  each other. */
  collectingPerGb: 2500,
  /** Interval between two polls of an image in which a call is being ended. */
  poll: 50,
  /** Interval between two pings of an image while calls wait for it. */
  beat: 1000,
  /** How long an image may be silent. It is long, because a garbage collection stops all threads of the
   *  image. */
  frozen: 15_000,
  /** How much longer an image may be silent for each GB of heap. */
  frozenPerGb: 1000,
  /** Time for the greeting of an image that somebody else runs. */
  greeting: 10_000,
  /** Time for the greeting of an image that the server starts. */
  start: 60_000,
  /** Time for an SBCL that a command starts, perhaps on another machine, to compile the agent once. */
  compile: 300_000,
  /** How long an image that a command starts may be silent while calls wait. It is long, because the
   *  connection can be interrupted for a while. The connection to an image that somebody else runs is closed
   *  when a call that must end has not ended after this time. */
  frozenElsewhere: 60_000,
  /** Interval between two pings of an image that a command starts, while no calls wait. The pings keep the
   *  connection open. */
  idle: 30_000,
  /** An image that a command starts ends when the server has sent nothing for this long: then the server or
   *  the connection is gone. The time is long, since a sleeping computer sends nothing either. */
  silence: 3_600_000,
  /** Time for a command to end after its output has ended. */
  outputEnded: 1000,
  /** Interval at which a starting image is resumed, in case a signal has stopped it. */
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
  /** Time for a call that loads, checks or tests. */
  load: 600_000,
  /** Time for cleanup forms of calls when the server ends. */
  cleanup: 150,
  /** Time for a whole rebuild; no entry is begun later. It is longer than rebuiltLoad, so that a load that
   *  hangs leaves time for other entries. */
  rebuild: 120_000,
  /** Time for one form in a rebuild, and for the load of a file that was interrupted when it was loaded
   *  before. */
  rebuiltForm: 10_000,
  /** Time for the test of the image after a form in a rebuild. */
  probe: 5000,
  /** Time for a probe. An image is probed after a call that failed in a way that can be the image's fault. */
  alive: 1500,
  /** Time for the load of a file or system in a rebuild, unless the load was interrupted before. */
  rebuiltLoad: 60_000,
  /** When a rebuilt image lives longer than this, the rebuild does not count as the cause of its loss. */
  soon: 10_000,
};
export type Times = typeof TIMES;

/** Returns the TIMES for an image with HEAP_MB of heap. */
export function timesFor(heapMb: number, times: Times = TIMES): Times {
  return { ...times, collecting: times.collecting + times.collectingPerGb * (heapMb / 1024) };
}
