// Decides how many evaluations or compilations run side by side; the rest wait in order.

/** Tells how many have the places that a call waits for, and how many wait before it. */
export type Ahead = () => { running: number; waiting: number };

export class Queue {
  readonly #places: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#places = places;
    this.#free = places;
  }

  /** Resolves when a place is free and taken. Rejects with the reason of SIGNAL when that aborts first. */
  async enter(signal: AbortSignal | undefined, onWait: (ahead: Ahead) => void): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(enter);
      onWait(() => ({ running: this.#places, waiting: Math.max(0, this.#waiting.indexOf(enter)) }));
    });
  }

  /** Gives a place back, to the call that waits longest. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}

/** Takes a place in each of QUEUES, one after the other. Returns what gives them back, or undefined when SIGNAL aborted
 *  and none is held. */
export async function enterAll(
  queues: readonly Queue[],
  signal: AbortSignal | undefined,
  onWait: (ahead: Ahead) => void,
): Promise<(() => void) | undefined> {
  const entered: Queue[] = [];
  const leave = () => {
    for (const queue of entered) queue.leave();
  };
  try {
    for (const queue of queues) {
      await queue.enter(signal, onWait);
      entered.push(queue);
    }
  } catch {
    leave();
    return undefined;
  }
  return leave;
}
