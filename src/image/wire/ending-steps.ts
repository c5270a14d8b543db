// Decides how a running call is ended: interrupt, interrupt again, end its thread, give its image up.

import type { EndSignal } from './end-signal.ts';
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
  /** For how many milliseconds the image was denied the CPU since the first look; 0 when that cannot be seen. */
  deniedMs(): number;
  kill(): void;
}

/** How many looks in a row must see an image stand still. */
const LOOKS = 5;

/** Watches a call that began now: ends it after LIMIT_MS or when SIGNAL aborts, by steps at TIMES. Returns the function
 *  to call when it has ended. */
export function watch(
  job: Endable,
  limitMs: number,
  signal: EndSignal | undefined,
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
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Milliseconds by which what the image was denied can still put steps off. */
  #patience: number;
  #climbing = false;
  #over = false;

  constructor(job: Endable, times: Times) {
    this.#job = job;
    this.#times = times;
    this.#patience = times.collecting;
  }

  /** Takes STEP in MS milliseconds, unless it is over by then. */
  later(ms: number, step: () => void): void {
    if (this.#over) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      step();
    }, ms);
    this.#timers.add(timer);
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
    const { again, terminate, ask } = this.#times;
    this.#job.interrupt(reason);
    this.#afterTime(again, () => {
      this.#job.interrupt(reason);
      this.#afterTime(terminate - again, () => {
        this.#job.terminate();
        this.#afterTime(ask - terminate, () => this.#judge());
      });
    });
  }

  /** Takes STEP once the image had MS milliseconds in which it could have reacted. */
  #afterTime(ms: number, step: () => void): void {
    const before = this.#job.deniedMs();
    this.later(ms, () => {
      const denied = Math.min(this.#job.deniedMs() - before, this.#patience);
      this.#patience -= denied;
      if (denied > 0) this.#afterTime(denied, step);
      else step();
    });
  }

  /** Gives the image up, once it has reacted or been seen to stand still. */
  #judge(): void {
    void this.#ask();
    // Looks tell what happened since the one before, so the first counts for nothing.
    this.#job.collecting();
    this.#look(0);
  }

  async #ask(): Promise<void> {
    await this.#job.reacts();
    const { kill, collecting } = this.#times;
    this.#afterTime(this.#job.collecting() === undefined ? kill : collecting, () => this.#kill());
  }

  /** Looks at the image, which STANDING looks in a row have seen stand still. */
  #look(standing: number): void {
    const again = () => this.#look(this.#job.collecting() === false ? standing + 1 : 0);
    if (standing === LOOKS) this.#kill();
    else this.#afterTime(this.#times.look, again);
  }

  #kill(): void {
    if (!this.#over) this.#job.kill();
    this.#over = true;
  }
}
