// Decides how a running call is ended: interrupt, interrupt again, end its thread, give its image up.

import { type Reason, reasonOf } from './endings.ts';
import { TIMES, type Times } from './times.ts';

/** What it takes to end a call. */
export interface Endable {
  interrupt(reason: Reason): void;
  terminate(): void;
  /** Resolves when the image reacts. While it collects garbage it does not, and no call can be ended. */
  reacts(): Promise<unknown>;
  /** Whether garbage is being collected or was since the last look; undefined when that cannot be seen. */
  collecting(): boolean | undefined;
  kill(): void;
}

/** How many looks in a row must see an image stand still. */
const LOOKS = 5;

/** Watches a call that began now: ends it after LIMIT_MS or when SIGNAL aborts, by steps at TIMES. Returns the function
 *  to call when it has ended. */
export function watch(
  job: Endable,
  limitMs: number,
  signal: AbortSignal | undefined,
  times: Times = TIMES,
): () => void {
  const steps = new Steps(job, times);
  const cancel = () => steps.climb(reasonOf(signal));
  steps.later(limitMs, () => steps.climb('timeout'));
  if (signal?.aborted) cancel();
  else signal?.addEventListener('abort', cancel, { once: true });
  return () => {
    steps.stop();
    signal?.removeEventListener('abort', cancel);
  };
}

/** The steps by which one job is ended. */
class Steps {
  readonly #job: Endable;
  readonly #times: Times;
  readonly #timers: NodeJS.Timeout[] = [];
  #climbing = false;
  #over = false;

  constructor(job: Endable, times: Times) {
    this.#job = job;
    this.#times = times;
  }

  /** Takes STEP in MS milliseconds, unless it is over by then. */
  later(ms: number, step: () => void): void {
    if (!this.#over) this.#timers.push(setTimeout(step, ms));
  }

  /** Takes no step any more. */
  stop(): void {
    this.#over = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Begins with the steps, for REASON, unless it has. */
  climb(reason: Reason): void {
    if (this.#climbing) return;
    this.#climbing = true;
    const { again, terminate, ask, kill, look } = this.#times;
    this.#job.interrupt(reason);
    this.later(again, () => this.#job.interrupt(reason));
    this.later(terminate, () => this.#job.terminate());
    this.later(ask, () => void this.#ask());
    // Looks tell what happened since the one before, so the first counts for nothing.
    this.later(ask + kill - (LOOKS + 1) * look, () => {
      this.#job.collecting();
      this.later(look, () => this.#look(0));
    });
  }

  async #ask(): Promise<void> {
    await this.#job.reacts();
    const { kill, collecting } = this.#times;
    this.later(this.#job.collecting() === undefined ? kill : collecting, () => this.#kill());
  }

  /** Looks at the image, which STANDING looks in a row have seen stand still. */
  #look(standing: number): void {
    if (standing === LOOKS) this.#kill();
    else this.later(this.#times.look, () => this.#look(this.#job.collecting() === false ? standing + 1 : 0));
  }

  #kill(): void {
    if (!this.#over) this.#job.kill();
    this.#over = true;
  }
}
