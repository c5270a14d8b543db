// Types of the agent's report on a held error, and of the options to hold errors.

/** A held error, without its condition. The thread that signalled the error waits until a call resumes it. */
export interface HeldError {
  /** Number of the error. */
  error: number;
  /** For how many seconds after each use the error is held. */
  seconds: number;
  /** Name of the thread that signalled the error, if it is a thread of the program. */
  thread?: string;
  /** True when the error was held while it was being signalled. Once it is released, a handler of the program
   *  handles it. */
  signalled?: boolean;
  /** True when the macro TIME measures the call that the error stopped. */
  timed?: boolean;
  /** How many frames the tool debug can show; there can be more. */
  frames?: number;
  slots?: { name: string; value?: string; id?: string }[];
  /** The lambda list of each restart's function, in the order of the restarts. */
  takes?: string[];
  /** Names of the locks that the thread holds. */
  locks?: string[];
}

/** What an operation reports on a held error, at which its thread is stopped, and on restarts that were
 *  invoked. */
export interface Holding {
  /** The error that stopped the operation and is held. */
  held?: HeldError;
  /** Why the error of the operation is not held, although the request asked for that. */
  notHeld?: string;
  /** The restarts that the request had chosen in advance and that were invoked, each with the text of the
   *  condition. */
  taken?: { restart: string; text: string }[];
  /** Number of all such restarts, when `taken` does not list all. */
  takenTotal?: number;
  /** Names of all restarts by which the operation continued after an error, including restarts that were
   *  invoked for held errors. */
  wentOnBy?: string[];
}

/** Options of an operation that runs code. */
export interface Hold {
  /** For how many seconds an error is held. Without this option, an error ends the operation. */
  hold?: number;
  /** Highest number of an error that an earlier image has held. The next held error gets a higher number. */
  heldAbove?: number;
  /** Names of restarts to invoke when an error offers them. */
  restarts?: readonly string[];
  /** The DEBUG quality to compile the code with. */
  debugLevel?: number;
}
