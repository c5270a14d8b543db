// Delays the writing of records, so that answers do not wait for it: until a short timer, the next read, or the exit.

/** Delay before records are written. Timers come late, so it is half of the 100 ms that a kill may lose. */
const DELAY_MS = 50;

/** Instances with records to write. */
const pending = new Set<DeferredWriter>();
let listening = false;

export class DeferredWriter {
  readonly #write: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** WRITE writes all pending records, and never throws. */
  constructor(write: () => void) {
    this.#write = write;
  }

  /** Schedules a write. */
  schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.flush(), DELAY_MS).unref();
    pending.add(this);
    if (!listening) process.on('exit', writeAll);
    listening = true;
  }

  /** Writes the pending records. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    pending.delete(this);
    this.#write();
  }
}

/** Writes all pending records of all instances at once. */
export function writeAll(): void {
  for (const writer of pending) writer.flush();
}
