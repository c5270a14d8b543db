// Decides how a call is told that it is to end. An AbortSignal would do; each call would pay 10 times as much for one.

/** What tells that something is to end, as far as calls look at it. An AbortSignal is one. */
export interface EndSignal {
  readonly aborted: boolean;
  /** Why, once it has aborted. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** An EndSignal of our own, which aborts once. */
export class OwnSignal implements EndSignal {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<() => void>();

  /** Tells all that listen, for REASON. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }
}
