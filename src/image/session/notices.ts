// Decides what is kept of what happened besides the calls, until an answer tells it, when no answer comes for long.

import type { Ending, Output } from '../wire/endings.ts';

/** What happened since the last answer that its reader must know. */
export type CallNotice =
  /** The process wrote TEXT past the agent. */
  | { kind: 'raw'; text: string }
  /** Threads that work for no call wrote OUTPUT. */
  | { kind: 'background'; output: Output }
  /** A call that the client cancelled, and whose answer nobody reads, ended so. */
  | { kind: 'cancelled'; ending: Ending; afterMs: number; output: Output | undefined }
  /** The start FILE was left before its end. */
  | { kind: 'start file'; file: string; ending: Ending; output: Output | undefined }
  /** Nothing worked any more with the settings of the session, so fresh ones have taken their place. */
  | { kind: 'session renewed' }
  /** The thread of that name holds the compiler's lock and does not run. */
  | { kind: 'compiler held'; thread: string }
  /** COUNT earlier ones were left out. */
  | { kind: 'forgotten'; count: number };

/** Notices that are kept; the oldest make room. */
const LIMIT = 20;

export class Notices<Notice extends object> {
  readonly #kept: Notice[] = [];
  #forgotten = 0;

  /** Keeps NOTICE until it is taken. */
  add(notice: Notice): void {
    this.#kept.push(notice);
    if (this.#kept.length <= LIMIT) return;
    this.#kept.shift();
    this.#forgotten += 1;
  }

  /** Returns what was kept, once, the oldest first. */
  take(): (Notice | CallNotice)[] {
    const count = this.#forgotten;
    this.#forgotten = 0;
    return [...(count === 0 ? [] : [{ kind: 'forgotten', count } as const]), ...this.#kept.splice(0)];
  }
}
