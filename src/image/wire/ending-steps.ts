// Decides how a running call is ended: interrupt, interrupt again, end its thread, give its image up.

import type { EndSignal } from './end-signal.ts';
import { type Reason, reasonOf } from './endings.ts';
import { fairly } from './fairly.ts';
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

/** Watches a call that began now, as `watch` does, whose limit nobody has chosen: `fairly` says when it is over. Returns the
 *  function to call when the call has ended. */
export function watchFairly(job: Endable, limitMs: number, times: Times = TIMES): () => void {
  const steps = new Steps(job, times);
  const stop = fairly(limitMs, job.deniedMs, () => steps.climb('timeout'));
  return () => {
    stop();
    steps.stop();
  };
}

/** The steps by which one job is ended. Their clock stands while the image could not react: a collection stops all of it,
 *  and who is denied the CPU does nothing. */
class Steps {
  readonly #job: Endable;
  readonly #times: Times;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Milliseconds for which the clock can still stand. */
  #patience: number;
  #clock = 0;
  /** What is done at which time of the clock, the next first. */
  readonly #plan: { at: number; step: () => void }[] = [];
  /** How many looks in a row saw the image stand still, once it was asked. */
  #standing: number | undefined;
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
    this.#plan.push(
      { at: again, step: () => this.#job.interrupt(reason) },
      { at: terminate, step: () => this.#job.terminate() },
      { at: ask, step: () => void this.#ask() },
    );
    // Looks tell what happened since the one before, so the first counts for nothing.
    this.#job.collecting();
    this.#look(this.#job.deniedMs());
  }

  /** Looks at the image again and again, which had been denied the CPU for DENIED milliseconds, and does what is due. */
  #look(denied: number): void {
    const { look } = this.#times;
    this.later(look, () => {
      const collecting = this.#job.collecting();
      const deniedNow = this.#job.deniedMs();
      const lost = Math.min(collecting ? look : deniedNow - denied, look, this.#patience);
      this.#patience -= lost;
      this.#clock += look - lost;
      while (!this.#over && this.#plan[0] !== undefined && this.#plan[0].at <= this.#clock) {
        this.#plan.shift()?.step();
      }
      if (this.#standing !== undefined) this.#judge(collecting, lost);
      this.#look(deniedNow);
    });
  }

  /** Gives the image up once it was seen to stand still, or has reacted and does not end the call. */
  async #ask(): Promise<void> {
    this.#standing = -1; // The look that asks says nothing yet.
    await this.#job.reacts();
    this.#plan.push({ at: this.#clock + this.#times.kill, step: () => this.#kill() });
  }

  #judge(collecting: boolean | undefined, lost: number): void {
    const standing = this.#standing ?? 0;
    if (collecting !== false) this.#standing = 0;
    else if (lost === 0) this.#standing = standing + 1;
    if (this.#standing === LOOKS) this.#kill();
  }

  #kill(): void {
    if (!this.#over) this.#job.kill();
    this.stop();
  }
}
