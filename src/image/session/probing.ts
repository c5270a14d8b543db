// Decides when to probe whether an image still works, and what to do when it does not. A call that ends well
// needs no probe.

import type { Reply } from '../wire/call.ts';
import { type Endable, enforceLimit } from '../wire/ending-steps.ts';
import type { JobCpuTimes, Operations } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { CallNotice } from './notices.ts';

/** After this many interrupted calls in a row, an image in which one thread keeps all others from compiling
 *  is replaced. */
const IN_A_ROW = 3;
/** While a probe (a test of whether the image works) runs, the image is polled this many times less often
 *  than while a call is being ended. */
const POLL_FACTOR = 4;
/** Reason that is reported when an image is lost because it does not work. */
const BROKEN = 'it was broken: it could not read, evaluate and print a constant form any more';

/** Actions against an image that does not work. */
interface Remedies {
  /** Ends PEER for the reason HOW; resolves when it has ended. */
  replace(peer: Peer, how: string): Promise<void>;
  notify(notice: CallNotice): void;
}

/** The result of a probe, a test of whether an image works. `at` is the time when the probe ended
 *  (performance.now). */
export interface ProbeResult {
  works: boolean;
  at: number;
}

export class Probing {
  readonly #remedies: Remedies;
  readonly #times: Times;
  /** How many calls in a row were interrupted. */
  #interruptedInARow = 0;
  /** Resolves when the running probe has ended; undefined while none runs. */
  runningProbe: Promise<void> | undefined;
  /** Result of the last probe; undefined before the first. */
  last: ProbeResult | undefined;
  /** True when an image failed a probe and no call has ended well since. */
  broken = false;

  constructor(remedies: Remedies, times: Times = TIMES) {
    this.#remedies = remedies;
    this.#times = times;
  }

  /** Records that a call ended in PEER with REPLY, and probes PEER if such a reply can mean that PEER is
   *  broken. */
  ended(peer: Peer, reply: Reply<keyof Operations>): void {
    const { ending, data } = reply;
    // A text in which no form could be read can mean that the reader is broken, and a value that was printed
    // as an empty text, that the printer is.
    const formsRead = !('unreadable' in data) && !('formNumber' in data && data.formNumber === 0);
    const printed = !('values' in data) || !(data.values ?? []).flat().some(({ text }) => text === '');
    if (ending.kind === 'done' && formsRead && printed) {
      this.#interruptedInARow = 0;
      this.broken = false;
      return;
    }
    if (ending.kind === 'lost') return;
    if (ending.kind === 'interrupted' && ending.notBegun && ending.reason !== 'ended') return;
    this.#interruptedInARow = ending.kind === 'interrupted' ? this.#interruptedInARow + 1 : 0;
    this.runningProbe ??= this.#probe(peer).finally(() => {
      this.runningProbe = undefined;
    });
  }

  async #probe(peer: Peer): Promise<void> {
    const { works, holder, lost } = await this.#runProbe(peer, {});
    if (lost) return;
    this.last = { works, at: performance.now() };
    const compilerHeld = holder !== undefined && this.#interruptedInARow >= IN_A_ROW;
    if (!works || compilerHeld) {
      this.broken = true;
      this.#interruptedInARow = 0;
      const how = works ? `its thread ${JSON.stringify(holder)} kept all others from compiling` : BROKEN;
      return this.#remedies.replace(peer, how);
    }
    if (holder !== undefined) this.#remedies.notify({ kind: 'compiler held', thread: holder });
    const session = await this.#runProbe(peer, { session: true });
    if (session.works || session.lost) return;
    peer.notify('renew-session', {});
    this.#remedies.notify({ kind: 'session renewed' });
  }

  /** Performs the operation `probe` in PEER with ARGS, within a time limit. Returns whether PEER works,
   *  the name of a thread that keeps all others from compiling (`holder`), and whether PEER was lost
   *  meanwhile. */
  async #runProbe(
    peer: Peer,
    args: { session?: boolean },
  ): Promise<{ works: boolean; holder?: string; lost: boolean }> {
    const { id, answer } = peer.request('probe', args);
    const timeout = probeTimeout(peer, id, this.#times);
    let received = await Promise.race([answer, timeout.timedOut]);
    timeout.stop();
    // Does not interrupt a probe that hangs outside the session, because this image will be ended anyway.
    if (received === undefined && !args.session) return { works: false, lost: false };
    received ??= await interruptedNow(peer.job(id), answer, this.#times);
    const { ending, data } = received;
    const works = ending.kind === 'done' && data.works === true;
    return {
      works,
      lost: ending.kind === 'lost',
      ...(typeof data.holder === 'string' && { holder: data.holder }),
    };
  }
}

/** Returns a promise that resolves when the time of the request ID of PEER is up, and a function that stops
 *  the clock. The time is up when the thread of the request has run for `times.alive` milliseconds, or has
 *  been idle for as many. Time in garbage collections and time waiting for a CPU do not count. */
function probeTimeout(
  peer: Peer,
  id: number,
  times: Times,
): { timedOut: Promise<undefined>; stop: () => void } {
  const collecting = peer.job(id).collecting;
  let previous: JobCpuTimes & { at: number } = { ran: 0, waited: 0, ready: true, at: performance.now() };
  let idleMs = 0;
  let timer: NodeJS.Timeout | undefined;
  collecting();
  const timedOut = new Promise<undefined>((resolve) => {
    const poll = async () => {
      const { data } = await peer.request('spent', { job: id }).answer;
      if (timer === undefined) return;
      const now = { ...(data.value ?? { ...previous, ready: false }), at: performance.now() };
      const busyMs = now.ran - previous.ran + now.waited - previous.waited;
      if (collecting() !== true && !now.ready) idleMs += Math.max(0, now.at - previous.at - busyMs);
      previous = now;
      if (now.ran >= times.alive || idleMs >= times.alive) resolve(undefined);
      else timer = setTimeout(poll, POLL_FACTOR * times.poll);
    };
    timer = setTimeout(poll, POLL_FACTOR * times.poll);
  });
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return { timedOut, stop };
}

/** Ends JOB at once, in the steps of ending-steps.ts, and returns its ANSWER. */
async function interruptedNow<Value>(job: Endable, answer: Promise<Value>, times: Times): Promise<Value> {
  const stop = enforceLimit(job, 0, undefined, times);
  return answer.finally(stop);
}
