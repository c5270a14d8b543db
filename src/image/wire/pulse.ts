// Measures how long ago an image last reacted, and stores its last status.

import type { BackendStatus } from './operations.ts';
import type { Peer } from './peer.ts';

/** The status that the backend sent, and the time (performance.now) when it was received. */
export interface TimedStatus {
  status: BackendStatus;
  at: number;
}

/** Sends requests that the reader thread of the backend answers at once. Sends no second request before the first is
 * answered, so that an image that hangs does not get more and more requests. */
export class Pulse {
  readonly #peer: Pick<Peer, 'request'>;
  readonly #pending = new Map<'ping' | 'status', { at: number; reaction: Promise<void> }>();
  #lastStatus: TimedStatus | undefined;

  constructor(peer: Pick<Peer, 'request'>) {
    this.#peer = peer;
  }

  /** Resolves when the reader thread has reacted, or when the peer has ended. */
  ping(): Promise<void> {
    return this.#ask('ping', async () => void (await this.#peer.request('ping', {}).answer));
  }

  /** Requests the backend's status. Returns this status if it is received within MS milliseconds. Otherwise returns the
   * last status, if there is one. `silentMs` is the number of milliseconds for which the image has not reacted. */
  async status(ms: number): Promise<{ lastStatus?: TimedStatus; silentMs: number }> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<boolean>((resolve) => {
      // If this process was blocked, the timer fires before an answer is read that has already arrived. With
      // setImmediate, the answer is read first.
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

  /** Number of milliseconds since the oldest request that is not answered; 0 when all are answered. */
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

/** The data that the operating system has about the process of an image. */
export interface Outside {
  pid: number;
  uptimeMs: number;
  residentOctets?: number;
  stopped?: boolean;
  /** True when the process waited for a CPU while a status request waited for its answer. */
  starved?: boolean;
}
