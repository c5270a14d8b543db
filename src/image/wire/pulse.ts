// Decides since when an image has not reacted, and what it said of itself last.

import type { AgentStatus } from '../session/status.ts';
import type { Message } from './frames.ts';

/** What the agent said of its image, and when. */
export interface Said {
  status: AgentStatus;
  at: number;
}

/** Asks one process what its reader answers at once. While a question waits, the same is not asked again, so that an
 *  image that stands still is not sent more and more. */
export class Pulse {
  readonly #request: (op: string) => Promise<Message>;
  readonly #asked = new Map<string, { at: number; answer: Promise<Message> }>();
  #said: Said | undefined;

  constructor(request: (op: string) => Promise<Message>) {
    this.#request = request;
  }

  /** Resolves when the reader has reacted, or the process has ended. */
  ping(): Promise<Message> {
    return this.#ask('ping');
  }

  /** Asks the agent how its image is and returns what it says within MS milliseconds, else what it said last, if
   *  anything, and for how long the image has not reacted. */
  async status(ms: number): Promise<{ said?: Said; silentMs: number }> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(true), ms);
    });
    const heard = this.#ask('status').then(({ value }) => {
      if (value) this.#said = { status: value as AgentStatus, at: performance.now() };
      return false;
    });
    const isLate = await Promise.race([heard, late]).finally(() => clearTimeout(timer));
    return { ...(this.#said && { said: this.#said }), silentMs: isLate ? this.#silentMs : 0 };
  }

  /** Milliseconds since the oldest question that still waits for an answer; 0 when none does. */
  get #silentMs(): number {
    const [oldest] = [...this.#asked.values()].map(({ at }) => at).sort((one, other) => one - other);
    return oldest === undefined ? 0 : performance.now() - oldest;
  }

  #ask(op: string): Promise<Message> {
    const waiting = this.#asked.get(op);
    if (waiting !== undefined) return waiting.answer;
    const answer = this.#request(op).finally(() => this.#asked.delete(op));
    this.#asked.set(op, { at: performance.now(), answer });
    return answer;
  }
}
