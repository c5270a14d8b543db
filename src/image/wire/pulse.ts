// Decides since when an image has not reacted, and what it said of itself last.

import type { AgentStatus } from './operations.ts';
import type { Peer } from './peer.ts';

/** What the agent said of its image, and when. */
export interface Said {
  status: AgentStatus;
  at: number;
}

/** Asks one peer what its reader answers at once. While a question waits, the same is not asked again, so that an
 *  image that stands still is not sent more and more. */
export class Pulse {
  readonly #peer: Pick<Peer, 'request'>;
  readonly #asked = new Map<'ping' | 'status', { at: number; reaction: Promise<void> }>();
  #said: Said | undefined;

  constructor(peer: Pick<Peer, 'request'>) {
    this.#peer = peer;
  }

  /** Resolves when the reader has reacted, or the peer has gone. */
  ping(): Promise<void> {
    return this.#ask('ping', async () => void (await this.#peer.request('ping', {}).answer));
  }

  /** Asks the agent how its image is. Returns what it says within MS milliseconds, else what it said last, if anything.
   *  silentMs is for how long the image has not reacted. */
  async status(ms: number): Promise<{ said?: Said; silentMs: number }> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      // When this process has stood still too, its timer comes first, and then what the agent has said meanwhile is read.
      timer = setTimeout(() => setImmediate(resolve, true), ms);
    });
    const heard = this.#ask('status', () => this.#askStatus());
    const isLate = await Promise.race([heard.then(() => false), late]).finally(() => clearTimeout(timer));
    return { ...(this.#said && { said: this.#said }), silentMs: isLate ? this.#silentMs : 0 };
  }

  /** Milliseconds since the oldest question that still waits for an answer; 0 when none does. */
  get #silentMs(): number {
    const [oldest] = [...this.#asked.values()].map(({ at }) => at).sort((one, other) => one - other);
    return oldest === undefined ? 0 : performance.now() - oldest;
  }

  async #askStatus(): Promise<void> {
    const { data } = await this.#peer.request('status', {}).answer;
    if (data.value) this.#said = { status: data.value, at: performance.now() };
  }

  #ask(question: 'ping' | 'status', ask: () => Promise<void>): Promise<void> {
    const waiting = this.#asked.get(question);
    if (waiting !== undefined) return waiting.reaction;
    const reaction = ask().finally(() => this.#asked.delete(question));
    this.#asked.set(question, { at: performance.now(), reaction });
    return reaction;
  }
}
