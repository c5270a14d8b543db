// Ends a running call in steps: interrupts it, interrupts it again, terminates its thread, and kills its image.

import type { EndSignal } from './end-signal.ts';
import { reasonOf } from './endings.ts';
import { fairTimeout } from './fairly.ts';
import type { Reason } from './operations.ts';
import { TIMES, type Times } from './times.ts';

/** The functions by which a running call can be ended. */
export interface Endable {
  interrupt(reason: Reason): void;
  terminate(): void;
  /** Sends a request to the image, and resolves when the image answers it. Never rejects. During a garbage collection
   * the image answers nothing, and no call in it can be ended. */
  reacts(): Promise<unknown>;
  /** Returns true when the image is collecting garbage, or has collected since the previous call; undefined when this
   * is unknown. */
  collecting(): boolean | undefined;
  /** Returns the number of milliseconds for which the image has waited for a CPU since the first call of this method
   * (see starving.ts); 0 when this is unknown. */
  deniedMs(): number;
  /** If a signal has stopped the process of the image, makes the server stop waiting for the call, and returns true.
   * The call itself ends later, because the interrupt waits in the image. */
  abandon?(): boolean;
  kill(): void;
}

/** An image whose call ignores all steps is killed when in this many polls in a row it could run. */
const ABLE_POLLS = 5;

/** Limits the time of a call that begins now. After LIMIT_MS, or when SIGNAL aborts, ends the call in steps (see
 * TIMES). Returns a function that the caller must call when the call has ended. */
export function enforceLimit(
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

/** Like `enforceLimit`, for a limit that the user has not chosen. The time in which the image waits for a CPU extends
 * the limit (see `fairTimeout`). */
export function enforceFairLimit(job: Endable, limitMs: number, times: Times = TIMES): () => void {
  const steps = new Steps(job, times);
  const stop = fairTimeout(
    limitMs,
    () => job.deniedMs(),
    () => steps.start('timeout'),
  );
  return () => {
    stop();
    steps.stop();
  };
}

/** The steps that end one job. Their clock stops while the image cannot react, because it collects garbage or waits for
 * a CPU. */
class Steps {
  readonly #job: Endable;
  readonly #times: Times;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Number of milliseconds for which the clock may still stop. */
  #pauseLeftMs: number;
  #clock = 0;
  /** The steps that remain. The next one comes first. A step is due when the clock shows `at`. */
  readonly #plan: { at: number; step: () => void }[] = [];
  /** Counts the polls in a row in which the image could run and end the call. #askToReact starts this count, so it is
   * undefined before. */
  #ablePolls: number | undefined;
  #started = false;
  #stopped = false;

  constructor(job: Endable, times: Times) {
    this.#job = job;
    this.#times = times;
    this.#pauseLeftMs = times.collecting;
  }

  later(ms: number, step: () => void): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      step();
    }, ms);
    this.#timers.add(timer);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  start(reason: Reason): void {
    if (this.#started) return;
    this.#started = true;
    const { again, terminate, ask } = this.#times;
    this.#job.interrupt(reason);
    if (this.#abandoned()) return;
    this.#plan.push(
      { at: again, step: () => this.#job.interrupt(reason) },
      { at: terminate, step: () => this.#job.terminate() },
      { at: ask, step: () => void this.#askToReact() },
    );
    // Each result of `collecting` covers the time since its previous call. The first result covers the time before the
    // steps, so it is ignored.
    this.#job.collecting();
    this.#poll(this.#job.deniedMs());
  }

  #abandoned(): boolean {
    const isAbandoned = this.#job.abandon?.() === true;
    if (isAbandoned) this.stop();
    return isAbandoned;
  }

  /** Polls the image at intervals, and runs the steps that are due. DENIED_BEFORE is the number of milliseconds for
   * which the image had waited for a CPU at the previous poll. */
  #poll(deniedBefore: number): void {
    const { poll: intervalMs } = this.#times;
    this.later(intervalMs, () => {
      if (this.#abandoned()) return;
      const collecting = this.#job.collecting();
      const deniedNow = this.#job.deniedMs();
      const unableMs = collecting ? intervalMs : deniedNow - deniedBefore;
      const pausedMs = Math.min(unableMs, intervalMs, this.#pauseLeftMs);
      this.#pauseLeftMs -= pausedMs;
      this.#clock += intervalMs - pausedMs;
      while (!this.#stopped && this.#plan[0] !== undefined && this.#plan[0].at <= this.#clock) {
        this.#plan.shift()?.step();
      }
      if (this.#ablePolls !== undefined) this.#countAblePoll(collecting, pausedMs);
      this.#poll(deniedNow);
    });
  }

  /** Asks the image to react. Kills it when in later polls it could run but the call does not end, or some time after it
   * has reacted. A remote image, or one that somebody else runs, cannot be polled; it is killed when it has not reacted
   * for `frozenElsewhere`. */
  async #askToReact(): Promise<void> {
    this.#ablePolls = -1; // The current poll does not count.
    if (this.#job.collecting() === undefined)
      this.#plan.push({ at: this.#clock + this.#times.frozenElsewhere, step: () => this.#kill() });
    await this.#job.reacts();
    // Only the step of `frozenElsewhere` can still be in the plan. This one comes before it.
    this.#plan.unshift({ at: this.#clock + this.#times.kill, step: () => this.#kill() });
  }

  /** Counts a poll if the image has collected no garbage and the clock did not stop. A collection ends the row; a stop
   * because the image waits for a CPU does not. */
  #countAblePoll(collecting: boolean | undefined, pausedMs: number): void {
    const mayCollect = collecting !== false;
    if (mayCollect) this.#ablePolls = 0;
    else if (pausedMs === 0) this.#ablePolls = (this.#ablePolls ?? 0) + 1;
    if (this.#ablePolls === ABLE_POLLS) this.#kill();
  }

  #kill(): void {
    if (!this.#stopped) this.#job.kill();
    this.stop();
  }
}
