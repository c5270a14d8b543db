// Measures for how long an image has not reacted, and keeps its last status.

import type { AgentStatus } from './operations.ts';
import type { Peer } from './peer.ts';

/** The agent's status of its image, and its time (performance.now). */
export interface Said {
  status: AgentStatus;
  at: number;
}

/** Sends a peer requests that its reader thread answers at once. It repeats no request that is still unanswered, in
 *  order not to flood an image that hangs. */
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

  /** Requests the agent's status. Returns the status that arrives within MS milliseconds, else the last one, if any.
   *  silentMs is how long the image has not reacted. */
  async status(ms: number): Promise<{ said?: Said; silentMs: number }> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      // If this process hung too, its timer fires first. Answers that have arrived meanwhile are read before resolving.
      timer = setTimeout(() => setImmediate(resolve, true), ms);
    });
    const heard = this.#ask('status', () => this.#askStatus());
    const isLate = await Promise.race([heard.then(() => false), late]).finally(() => clearTimeout(timer));
    return { ...(this.#said && { said: this.#said }), silentMs: isLate ? this.#silentMs : 0 };
  }

  /** Milliseconds since the oldest unanswered request; 0 when there is none. */
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
