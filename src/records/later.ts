// Decides when records are written that an answer does not wait for: soon, before they are read, and at the exit.

/** Milliseconds until they are: half of the 100 that a kill may take with it, as timers come late. */
const SOON_MS = 50;

/** Those that have something to write. */
const waiting = new Set<Later>();
let listens = false;

export class Later {
  readonly #write: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** WRITE writes what there is, and does not throw. */
  constructor(write: () => void) {
    this.#write = write;
  }

  /** Takes that there is something to write. */
  soon(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.now(), SOON_MS).unref();
    waiting.add(this);
    if (!listens) process.on('exit', writeAll);
    listens = true;
  }

  /** Writes what there is. */
  now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    waiting.delete(this);
    this.#write();
  }
}

/** Writes at once all that waits. */
export function writeAll(): void {
  for (const later of waiting) later.now();
}
