// Decides how long an image and its calls are waited for, where the user has no say in it.

/** Milliseconds each. */
export interface Times {
  /** After the first interrupt of a call that still runs: until the next, until its thread is ended, and until the
   *  image is asked. */
  again: number;
  terminate: number;
  ask: number;
  /** For a call to end once the image has shown that it reacts, or for the image to react. */
  kill: number;
  /** By how much later all these come at most while the image collects garbage or is denied the CPU. For each GB of its
   *  heap it is more: a collection that copies so much takes 2 s, and several can follow. */
  collecting: number;
  collectingPerGb: number;
  /** Between two looks at an image in which a call is being ended. */
  look: number;
  /** Between two pings of an image that calls wait for. */
  beat: number;
  /** For an image to be silent while a garbage collection stops everything, and more for each GB of its heap. */
  frozen: number;
  frozenPerGb: number;
  /** For the agent of an image that somebody else runs to greet. */
  greeting: number;
  /** For an image to greet, and between two attempts to let it go on, should a signal have stopped it. */
  start: number;
  wake: number;
  /** For each step of making a core, which leaves the CPU to all others. */
  core: number;
  /** For the output of a process to be read that has ended. */
  lastWords: number;
  /** For a process that is about to exit. */
  exit: number;
  /** For the agent to say how it is. */
  status: number;
  /** Between two reports of a call that runs. */
  progress: number;
  /** For any load. */
  load: number;
  /** For calls to clean up when the server ends. */
  cleanup: number;
  /** For a lost image to be built again: what comes later is not begun any more. It is longer than what one load may take,
   *  so that one that hangs does not keep the rest from being built. */
  rebuild: number;
  /** For one form of that, and for a file that was not loaded to its end. */
  rebuiltForm: number;
  /** For a look whether the image still works after such a form. */
  probe: number;
  /** For an image to show that it works, when calls fail in a way that can be its own fault. */
  alive: number;
  /** For any other file or system of it. */
  rebuiltLoad: number;
  /** After which an image that was built again is not lost because of that. */
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
