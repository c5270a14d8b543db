// Measures for how long an image has not reacted, and keeps the last status that it sent.

import type { AgentStatus } from './operations.ts';
import type { Peer } from './peer.ts';

/** The agent's status of its image, and when it arrived (performance.now). */
export interface TimedStatus {
  status: AgentStatus;
  at: number;
}

/** Sends requests that the agent's reader thread answers at once. While a request is unanswered, it is not
 *  sent again, so that an image that hangs is not flooded. */
export class Pulse {
  readonly #peer: Pick<Peer, 'request'>;
  readonly #pending = new Map<'ping' | 'status', { at: number; reaction: Promise<void> }>();
  #lastStatus: TimedStatus | undefined;

  constructor(peer: Pick<Peer, 'request'>) {
    this.#peer = peer;
  }

  /** Resolves when the reader thread has reacted, or the peer has ended. */
  ping(): Promise<void> {
    return this.#ask('ping', async () => void (await this.#peer.request('ping', {}).answer));
  }

  /** Requests the agent's status. Returns the status if it arrives within MS milliseconds, else the last
   *  status that has arrived, if any. `silentMs` is the number of milliseconds for which the image has not
   *  reacted. */
  async status(ms: number): Promise<{ lastStatus?: TimedStatus; silentMs: number }> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<boolean>((resolve) => {
      // If this process itself was blocked, the timer fires before an answer that has arrived is read. With
      // setImmediate the answer is read first.
      timer = setTimeout(() => setImmediate(resolve, true), ms);
    });
    const answered = this.#ask('status', () => this.#askStatus());
    const isLate = await Promise.race([answered.then(() => false), timeout]).finally(() =>
      clearTimeout(timer),
    );
    return {
      ...(this.#lastStatus && { lastStatus: this.#lastStatus }),
      silentMs: isLate ? this.#silentMs : 0,
    };
  }

  /** Milliseconds since the oldest unanswered request; 0 when there is none. */
  get #silentMs(): number {
    const [oldest] = [...this.#pending.values()].map(({ at }) => at).sort((one, other) => one - other);
    return oldest === undefined ? 0 : performance.now() - oldest;
  }

  async #askStatus(): Promise<void> {
    const { data } = await this.#peer.request('status', {}).answer;
    if (data.value) this.#lastStatus = { status: data.value, at: performance.now() };
  }

  #ask(question: 'ping' | 'status', ask: () => Promise<void>): Promise<void> {
    const waiting = this.#pending.get(question);
    if (waiting !== undefined) return waiting.reaction;
    const reaction = ask().finally(() => this.#pending.delete(question));
    this.#pending.set(question, { at: performance.now(), reaction });
    return reaction;
  }
}

/** Data of the operating system about an image's process. */
export interface Outside {
  pid: number;
  uptimeMs: number;
  residentOctets?: number;
  /** True when a signal has stopped the process. */
  stopped?: boolean;
  /** True when the system denied the process the CPU while a status request waited for its answer. */
  starved?: boolean;
}
