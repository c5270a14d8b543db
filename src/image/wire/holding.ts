// Types of the agent's report on a held error, and of the options to hold errors.

/** A held error, besides its condition. The thread that signalled it waits for SECONDS after each use of the
 *  error. */
export interface HeldError {
  error: number;
  seconds: number;
  /** Name of the thread that signalled the error, if it is a thread of the program. */
  thread?: string;
  /** True when a handler of the program will handle the error once the error is released. */
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

/** The error that an operation holds (HELD), or why its error is not held (NOT_HELD). */
export interface Holding {
  held?: HeldError;
  notHeld?: string;
  /** The restarts that were chosen in advance and then invoked, each with the text of the condition. */
  taken?: { restart: string; text: string }[];
  /** Total number of such restarts, when TAKEN does not list all. */
  takenTotal?: number;
  /** Names of all restarts that let the operation continue after an error, including restarts invoked for
   *  held errors. */
  wentOnBy?: string[];
}

/** Options of an operation that runs code. HOLD: errors are held for this many seconds. Without HOLD, an
 *  error ends the operation. */
export interface Hold {
  hold?: number;
  /** Highest number of the errors that earlier images have held; the next error gets a higher number. */
  heldAbove?: number;
  /** Names of restarts to invoke when an error offers them. */
  restarts?: readonly string[];
  /** The DEBUG quality to compile the code with. */
  debugLevel?: number;
}
