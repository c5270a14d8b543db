// Defines the signal that ends a call. Creating an AbortSignal for each call would take 10 times as long.

/** The part of AbortSignal that calls need. Every AbortSignal is an EndSignal. */
export interface EndSignal {
  readonly aborted: boolean;
  /** The reason, after the signal has aborted. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** An EndSignal that this program aborts, at most once. */
export class OwnSignal implements EndSignal {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<() => void>();

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
