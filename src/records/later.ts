// Delays the writing of records, so that answers do not wait for it: until a short timer, the next read, or the exit.

/** Delay before records are written. Timers come late, so it is half of the 100 ms that a kill may lose. */
const SOON_MS = 50;

/** Instances with records to write. */
const waiting = new Set<Later>();
let listens = false;

export class Later {
  readonly #write: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** WRITE writes all pending records, and never throws. */
  constructor(write: () => void) {
    this.#write = write;
  }

  /** Schedules a write. */
  soon(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.now(), SOON_MS).unref();
    waiting.add(this);
    if (!listens) process.on('exit', writeAll);
    listens = true;
  }

  /** Writes the pending records. */
  now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    waiting.delete(this);
    this.#write();
  }
}

/** Writes all pending records of all instances at once. */
export function writeAll(): void {
  for (const later of waiting) later.now();
}
