// Stores notices for the next answer. If there are too many, drops the oldest.

import type { Ending } from '../wire/endings.ts';
import type { Changes } from '../wire/messages.ts';
import type { Output } from '../wire/operations.ts';

/** An event that the next answer will report. */
export type CallNotice =
  /** The process has written `text` to its standard streams, and the backend did not capture it. */
  | { kind: 'raw'; text: string }
  | { kind: 'background'; output: Output }
  /** Others have changed the image, which this server shares with them. */
  | { kind: 'changes'; changes: Changes }
  /** A call has ended that its client had cancelled. So the client does not read its answer. */
  | { kind: 'cancelled'; ending: Ending; afterMs: number; output: Output | undefined }
  /** The load of the start file `file` did not reach the end of the file. */
  | { kind: 'start file'; file: string; ending: Ending; output: Output | undefined }
  /** No form could be evaluated with the session's settings, such as its readtable. So they were reset. */
  | { kind: 'session renewed' }
  /** The thread with the name `thread` does not run, but holds the compiler's lock. */
  | { kind: 'compiler held'; thread: string }
  | { kind: 'forgotten'; count: number };

/** Maximum number of notices that are stored. */
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
