// Decides what is told of an error that is held, beside how its call ended.

/** What is told of an error that is held, besides its condition. Its thread waits for SECONDS after each use. */
export interface HeldError {
  error: number;
  seconds: number;
  /** The name of its thread, when that is the program's. */
  thread?: string;
  /** A handler of the program takes it once it is let go. */
  signalled?: boolean;
  /** How many frames can be asked for. */
  frames?: number;
  slots?: { name: string; value?: string; id?: string }[];
  /** For each restart the parameters of what it calls. */
  takes?: string[];
  /** The names of locks that the thread has. */
  locks?: string[];
}

/** What an operation tells when an error of it is held, or why one that was to be is not. */
export interface Holding {
  held?: HeldError;
  notHeld?: string;
  /** The restarts that were taken as was chosen before, each with the text of its condition. */
  taken?: { restart: string; text: string }[];
  /** How many there were, when these are not all. */
  takenTotal?: number;
  /** The names of all restarts by which it went on, also of those that were invoked for errors that were held. */
  wentOnBy?: string[];
}

/** What an operation that runs code is told of its errors. They are held for HOLD seconds; absent when they end it. */
export interface Hold {
  hold?: number;
  /** The number of the last error that an image before has held: the next has a higher one. */
  heldAbove?: number;
  /** Names of restarts to take where they are offered. */
  restarts?: readonly string[];
  /** The DEBUG quality by which it compiles. */
  debugLevel?: number;
}
