// Keeps notices until an answer reports them. When too many are kept, drops the oldest.

import type { Ending } from '../wire/endings.ts';
import type { Changes } from '../wire/messages.ts';
import type { Output } from '../wire/operations.ts';

/** An event since the last answer that the next answer reports. */
export type CallNotice =
  /** The process has written `text` to its standard streams, and not through the agent. */
  | { kind: 'raw'; text: string }
  /** Threads that work for no call have written `output`. */
  | { kind: 'background'; output: Output }
  /** Others have changed the image that this server shares with them. */
  | { kind: 'changes'; changes: Changes }
  /** A call has ended that the client had cancelled, so the client does not read its answer. */
  | { kind: 'cancelled'; ending: Ending; afterMs: number; output: Output | undefined }
  /** The start file `file` was not loaded to its end. */
  | { kind: 'start file'; file: string; ending: Ending; output: Output | undefined }
  /** No form could be evaluated any more with the session's settings, such as its readtable, so they were
   *  reset. */
  | { kind: 'session renewed' }
  /** The thread with this name holds the compiler's lock without running. */
  | { kind: 'compiler held'; thread: string }
  /** So many earlier notices were dropped. */
  | { kind: 'forgotten'; count: number };

/** Maximum number of notices to keep. The oldest are dropped first. */
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
