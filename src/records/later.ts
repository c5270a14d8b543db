// Delays the writing of records, so that answers do not wait for it. Records are written after a short delay,
// before the next read, or at the exit.

/** Milliseconds until records are written. A kill may lose the records of 100 ms; the delay is half of this,
 *  because timers fire late. */
const DELAY_MS = 50;

/** The writers that have records to write. */
const pending = new Set<DeferredWriter>();
let listening = false;

export class DeferredWriter {
  readonly #write: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** WRITE writes all pending records. It must not throw. */
  constructor(write: () => void) {
    this.#write = write;
  }

  /** Schedules a write of the pending records. */
  schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.flush(), DELAY_MS).unref();
    pending.add(this);
    if (!listening) process.on('exit', writeAll);
    listening = true;
  }

  /** Writes the pending records now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    pending.delete(this);
    this.#write();
  }
}

/** Writes the pending records of all writers now. */
export function writeAll(): void {
  for (const writer of pending) writer.flush();
}
