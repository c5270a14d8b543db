// Defines the timeouts and intervals of an image and its calls, except those that the user chooses.

/** Times in milliseconds. */
export const TIMES = {
  /** The time from the first interrupt of a call to the second one, if the call still runs. */
  again: 1000,
  /** The time from the first interrupt of a call until its thread is terminated. */
  terminate: 1300,
  /** The time from the first interrupt of a call until the server asks the image for a reaction. */
  ask: 1350,
  /** The time from this reaction of the image until the server kills the image, if the call still runs. */
  kill: 250,
  /** The maximum time by which garbage collection, or waiting for a CPU, delays the four steps above. */
  collecting: 7500,
  /** The additional delay for each GB of heap. To copy 1 GB takes 2 s, and several collections can follow each
   * other. */
  collectingPerGb: 2500,
  /** The interval between two polls of an image in which a call is being ended. */
  poll: 50,
  /** The interval between two pings of an image while calls wait. */
  beat: 1000,
  /** The time without a reaction after which an image is killed. It is long, because a garbage collection stops all
   * threads. */
  frozen: 15_000,
  /** The additional time without a reaction for each GB of heap. */
  frozenPerGb: 1000,
  /** The time in which an image that somebody else runs must send its greeting. */
  greeting: 10_000,
  /** The time in which an image that the server starts must send its greeting. */
  start: 60_000,
  /** The time in which an SBCL must compile the backend for the first time. It is long, because the
   * machine can be busy or far away, and a compilation that is ended must begin again from the start. */
  compile: 300_000,
  /** A remote image is killed when it has not reacted for this time while calls wait. The time is long, because the
   * connection can be interrupted for a while. In an image that somebody else runs, it is also the time in which an
   * interrupted call must end. If the call does not end, the server closes its connection to that image. */
  frozenElsewhere: 60_000,
  /** The interval between two pings of a remote image while no calls wait. These pings keep the connection open. */
  idle: 30_000,
  /** When a remote image gets no data from the server for this time, it ends, because the server or the connection
   * is gone. The time is long, because a computer that sleeps sends nothing either. */
  silence: 3_600_000,
  /** The time in which a command must end after its output has ended. */
  outputEnded: 1000,
  /** The interval at which an image that starts gets SIGCONT, because a signal may have stopped it. */
  wake: 1000,
  /** The time for each step of making a core, which has a low priority. */
  core: 600_000,
  /** The time for which the last output of a process is read after its end. */
  lastWords: 20,
  /** The time in which a process must exit after it has announced this. */
  exit: 4000,
  /** The time in which the backend must answer a request for its status. */
  status: 70,
  /** The interval between two progress reports of a running call. */
  progress: 1000,
  /** The time limit of a call that loads, checks or tests. */
  load: 600_000,
  /** The maximum time to wait while another server of the image changes files and loads them. */
  turn: 60_000,
  /** The time for cleanup forms of calls when the server ends. */
  cleanup: 150,
  /** The time for a whole rebuild. When it is up, no further entry is begun. It is longer than rebuiltLoad, so that
   * there is time for other entries when a load hangs. */
  rebuild: 120_000,
  /** The time limit of one form in a rebuild. It is also the limit of a load in a rebuild if this load was interrupted
   * before. */
  rebuiltForm: 10_000,
  /** The time limit of the test, after a form in a rebuild, that the image still works. */
  probe: 5000,
  /** The time limit of the test that the image still works, after a call failed in a way that can be a fault of the
   * image. */
  alive: 1500,
  /** The time limit of the load of a file or system in a rebuild. If the load was interrupted before, its limit is
   * `rebuiltForm`. */
  rebuiltLoad: 60_000,
  /** If a rebuilt image is lost after less than this time, its rebuild may be the cause. */
  soon: 10_000,
};
export type Times = typeof TIMES;

/** An image is killed when it has not answered a ping for this many intervals (`beat`) and is not collecting
 * garbage. */
export const SILENT_BEATS = 5;

/** Returns TIMES for an image with HEAP_MB megabytes of heap. */
export function timesFor(heapMb: number, times: Times = TIMES): Times {
  return { ...times, collecting: times.collecting + times.collectingPerGb * (heapMb / 1024) };
}
