// Types of the agent's report on a held error, and of the options to hold errors.

/** A held error, besides its condition. Its thread waits for SECONDS after each use. */
export interface HeldError {
  error: number;
  seconds: number;
  /** Name of its thread, when that is a thread of the program. */
  thread?: string;
  /** True when a handler of the program will handle it once it is released. */
  signalled?: boolean;
  /** How many frames can be asked for. */
  frames?: number;
  slots?: { name: string; value?: string; id?: string }[];
  /** Parameters of each restart's function, in order of the restarts. */
  takes?: string[];
  /** Names of the locks that the thread holds. */
  locks?: string[];
}

/** The error that an operation holds, or why its error is not held. */
export interface Holding {
  held?: HeldError;
  notHeld?: string;
  /** Restarts that were invoked as chosen in advance, each with the text of its condition. */
  taken?: { restart: string; text: string }[];
  /** Total of these restarts, when the list is not complete. */
  takenTotal?: number;
  /** Names of all restarts by which the operation went on, including those that were invoked for held errors. */
  wentOnBy?: string[];
}

/** Options of an operation that runs code. Errors are held for HOLD seconds; without HOLD they end the operation. */
export interface Hold {
  hold?: number;
  /** Number of the last error that earlier images have held; the next error gets a higher number. */
  heldAbove?: number;
  /** Names of restarts to invoke where they are offered. */
  restarts?: readonly string[];
  /** The DEBUG quality to compile with. */
  debugLevel?: number;
}
