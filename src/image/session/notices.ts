// Stores notices for the next answer. Drops the oldest when there are too many.

import type { Ending } from '../wire/endings.ts';
import type { Changes } from '../wire/messages.ts';
import type { Output } from '../wire/operations.ts';

/** An event since the last answer, for a report in the next answer. */
export type CallNotice =
  /** The process has written `text` to its standard streams, not through the agent. */
  | { kind: 'raw'; text: string }
  | { kind: 'background'; output: Output }
  /** Others have changed the image that this server shares with them. */
  | { kind: 'changes'; changes: Changes }
  /** A call ended after its client had cancelled it, so the client does not read its answer. */
  | { kind: 'cancelled'; ending: Ending; afterMs: number; output: Output | undefined }
  /** The load of the start file `file` did not reach its end. */
  | { kind: 'start file'; file: string; ending: Ending; output: Output | undefined }
  /** The session's settings, such as its readtable, made evaluation impossible, so they were reset. */
  | { kind: 'session renewed' }
  /** The thread with this name holds the compiler's lock without running. */
  | { kind: 'compiler held'; thread: string }
  | { kind: 'forgotten'; count: number };

/** Maximum number of stored notices. The oldest are dropped first. */
const LIMIT = 20;

export class Notices<Notice extends object> {
  readonly #notices: Notice[] = [];
  #dropped = 0;

  add(notice: Notice): void {
    this.#notices.push(notice);
    if (this.#notices.length <= LIMIT) return;
    this.#notices.shift();
    this.#dropped += 1;
  }

  take(): (Notice | CallNotice)[] {
    const count = this.#dropped;
    this.#dropped = 0;
    return [...(count === 0 ? [] : [{ kind: 'forgotten', count } as const]), ...this.#notices.splice(0)];
  }
}
