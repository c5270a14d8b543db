// Keeps notices until an answer reports them. When no answer comes for long, the oldest are dropped.

import type { Ending, Output } from '../wire/endings.ts';

/** An event since the last answer that the next answer reports. */
export type CallNotice =
  /** The process wrote TEXT past the agent. */
  | { kind: 'raw'; text: string }
  /** Threads that work for no call wrote OUTPUT. */
  | { kind: 'background'; output: Output }
  /** A call ended that the client had cancelled, so nobody reads its answer. */
  | { kind: 'cancelled'; ending: Ending; afterMs: number; output: Output | undefined }
  /** The start FILE was not loaded to its end. */
  | { kind: 'start file'; file: string; ending: Ending; output: Output | undefined }
  /** Nothing worked any more with the session's settings, so they were reset. */
  | { kind: 'session renewed' }
  /** This thread holds the compiler's lock and does not run. */
  | { kind: 'compiler held'; thread: string }
  /** COUNT earlier notices were dropped. */
  | { kind: 'forgotten'; count: number };

/** At most this many notices are kept; the oldest are dropped. */
const LIMIT = 20;

export class Notices<Notice extends object> {
  readonly #notices: Notice[] = [];
  #dropped = 0;

  /** Keeps NOTICE until it is taken. */
  add(notice: Notice): void {
    this.#notices.push(notice);
    if (this.#notices.length <= LIMIT) return;
    this.#notices.shift();
    this.#dropped += 1;
  }

  /** Returns the kept notices, oldest first, and forgets them. */
  take(): (Notice | CallNotice)[] {
    const count = this.#dropped;
    this.#dropped = 0;
    return [...(count === 0 ? [] : [{ kind: 'forgotten', count } as const]), ...this.#notices.splice(0)];
  }
}
