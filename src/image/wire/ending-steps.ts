// Ends a running call in steps: interrupt, interrupt again, terminate its thread, kill its image.

import type { EndSignal } from './end-signal.ts';
import { type Reason, reasonOf } from './endings.ts';
import { fairTimeout } from './fairly.ts';
import { TIMES, type Times } from './times.ts';

/** The means to end a call. */
export interface Endable {
  interrupt(reason: Reason): void;
  terminate(): void;
  /** Resolves when the image reacts. During garbage collection it does not react, and no call can be ended. */
  reacts(): Promise<unknown>;
  /** True when garbage is being collected or was since the last poll; undefined when that cannot be known. */
  collecting(): boolean | undefined;
  /** Milliseconds for which the image was denied the CPU since the first poll; 0 when unknown. */
  deniedMs(): number;
  kill(): void;
}

/** An image is killed after this many polls in a row that found it hanging. */
const HANGING_POLLS = 5;

/** Watches a call that begins now. Ends it by steps (see TIMES) after LIMIT_MS or when SIGNAL aborts. Returns the
 *  function to call when the call has ended. */
export function watch(
  job: Endable,
  limitMs: number,
  signal: EndSignal | undefined,
  times: Times = TIMES,
): () => void {
  const steps = new Steps(job, times);
  const cancel = () => steps.start(reasonOf(signal));
  steps.later(limitMs, () => steps.start('timeout'));
  if (signal?.aborted) cancel();
  else signal?.addEventListener('abort', cancel, { once: true });
  return () => {
    steps.stop();
    signal?.removeEventListener('abort', cancel);
  };
}

/** As watch, for a call whose limit nobody has chosen: `fairTimeout` extends it by time without CPU. Returns the function to
 *  call when the call has ended. */
export function watchWithFairTimeout(job: Endable, limitMs: number, times: Times = TIMES): () => void {
  const steps = new Steps(job, times);
  const stop = fairTimeout(limitMs, job.deniedMs, () => steps.start('timeout'));
  return () => {
    stop();
    steps.stop();
  };
}

/** The steps that end one job. Their clock stops while the image cannot react: a collection stops all its threads, and
 *  without a CPU it does nothing. */
class Steps {
  readonly #job: Endable;
  readonly #times: Times;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Milliseconds for which the clock may still stop. */
  #pauseLeftMs: number;
  #clock = 0;
  /** Steps with the clock time at which each is due, next first. */
  readonly #plan: { at: number; step: () => void }[] = [];
  /** How many polls in a row found the image hanging, counted from #askToReact on; undefined before #askToReact. */
  #hangingPolls: number | undefined;
  #started = false;
  #stopped = false;

  constructor(job: Endable, times: Times) {
    this.#job = job;
    this.#times = times;
    this.#pauseLeftMs = times.collecting;
  }

  /** Runs STEP after MS milliseconds, unless stopped before. */
  later(ms: number, step: () => void): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      step();
    }, ms);
    this.#timers.add(timer);
  }

  /** Stops all steps. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Begins the steps, for REASON, if they have not begun. */
  start(reason: Reason): void {
    if (this.#started) return;
    this.#started = true;
    const { again, terminate, ask } = this.#times;
    this.#job.interrupt(reason);
    this.#plan.push(
      { at: again, step: () => this.#job.interrupt(reason) },
      { at: terminate, step: () => this.#job.terminate() },
      { at: ask, step: () => void this.#askToReact() },
    );
    // Each poll returns what happened since the previous poll, so the first result is dropped.
    this.#job.collecting();
    this.#poll(this.#job.deniedMs());
  }

  /** Polls the image and runs the steps that are due. DENIED: milliseconds without CPU at the previous poll. */
  #poll(denied: number): void {
    const { poll: intervalMs } = this.#times;
    this.later(intervalMs, () => {
      const collecting = this.#job.collecting();
      const deniedNow = this.#job.deniedMs();
      const pausedMs = Math.min(collecting ? intervalMs : deniedNow - denied, intervalMs, this.#pauseLeftMs);
      this.#pauseLeftMs -= pausedMs;
      this.#clock += intervalMs - pausedMs;
      while (!this.#stopped && this.#plan[0] !== undefined && this.#plan[0].at <= this.#clock) {
        this.#plan.shift()?.step();
      }
      if (this.#hangingPolls !== undefined) this.#countHangingPoll(collecting, pausedMs);
      this.#poll(deniedNow);
    });
  }

  /** Asks the image to react. Kills it if polls then find it hanging, or if it reacts but the call does not end. */
  async #askToReact(): Promise<void> {
    this.#hangingPolls = -1; // The current poll does not count.
    await this.#job.reacts();
    this.#plan.push({ at: this.#clock + this.#times.kill, step: () => this.#kill() });
  }

  #countHangingPoll(collecting: boolean | undefined, pausedMs: number): void {
    const previous = this.#hangingPolls ?? 0;
    if (collecting !== false) this.#hangingPolls = 0;
    else if (pausedMs === 0) this.#hangingPolls = previous + 1;
    if (this.#hangingPolls === HANGING_POLLS) this.#kill();
  }

  #kill(): void {
    if (!this.#stopped) this.#job.kill();
    this.stop();
  }
}
