// Timeouts and intervals of an image and its calls, except those that the user chooses.

/** All in milliseconds. */
export const TIMES = {
  /** From the first interrupt of a call to the second, if it still runs. */
  again: 1000,
  /** From the first interrupt of a call to the termination of its thread. */
  terminate: 1300,
  /** From the first interrupt of a call to a request that the image must answer. */
  ask: 1350,
  /** From the answer to this request to the kill of the image, if the call still runs. */
  kill: 250,
  /** Maximum delay of these steps by garbage collection or lack of CPU. */
  collecting: 7500,
  /** Additional delay for each GB of heap. Copying 1 GB takes 2 s, and collections can follow each other. */
  collectingPerGb: 2500,
  /** Interval between two polls of an image in which a call is being ended. */
  poll: 50,
  /** Interval between two pings of an image while calls wait. */
  beat: 1000,
  /** Maximum silence of an image. It is long, because a garbage collection stops all threads. */
  frozen: 15_000,
  /** Additional silence for each GB of heap. */
  frozenPerGb: 1000,
  /** Time for the greeting of an image that somebody else runs. */
  greeting: 10_000,
  /** Time for the greeting of an image that the server starts. */
  start: 60_000,
  /** Time for an SBCL that a command starts, perhaps on another machine, to compile the agent once. */
  compile: 300_000,
  /** Maximum silence of an image elsewhere while calls wait. It is long, because the connection can be
   *  interrupted for a while. The connection to an image of somebody else is closed when an interrupted call
   *  runs longer than this. */
  frozenElsewhere: 60_000,
  /** Interval between two pings of an image elsewhere while no calls wait. They keep the connection open. */
  idle: 30_000,
  /** An image elsewhere ends after this time without data from the server, because the server or the
   *  connection is gone. It is long, because a sleeping computer sends nothing either. */
  silence: 3_600_000,
  /** Time for a command to end after the end of its output. */
  outputEnded: 1000,
  /** Interval at which a starting image is resumed, in case a signal has stopped it. */
  wake: 1000,
  /** Time for each step of making a core, at low priority. */
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
  /** Maximum wait for another server of the image that changes files and loads them. */
  turn: 60_000,
  /** Time for cleanup forms of calls when the server ends. */
  cleanup: 150,
  /** Time for a whole rebuild, after which no entry is begun. It is longer than rebuiltLoad, so that a
   *  hanging load leaves time for other entries. */
  rebuild: 120_000,
  /** Time for one form in a rebuild, and for a load whose previous run was interrupted. */
  rebuiltForm: 10_000,
  /** Time for the test of the image after a form in a rebuild. */
  probe: 5000,
  /** Time for a probe of the image after a call that failed by a possible fault of the image. */
  alive: 1500,
  /** Time for the load of a file or system in a rebuild. A load whose previous run was interrupted gets
   *  `rebuiltForm`. */
  rebuiltLoad: 60_000,
  /** If a rebuilt image is lost after more than this, the rebuild is not suspected. */
  soon: 10_000,
};
export type Times = typeof TIMES;

/** Returns TIMES for an image with HEAP_MB megabytes of heap. */
export function timesFor(heapMb: number, times: Times = TIMES): Times {
  return { ...times, collecting: times.collecting + times.collectingPerGb * (heapMb / 1024) };
}
