// Decides when to probe an image, which means to test whether it still works, and what to do when it does not. After a
// call that succeeds, no probe is necessary.

import type { Reply } from '../wire/call.ts';
import { type Endable, enforceLimit } from '../wire/ending-steps.ts';
import type { JobCpuTimes, Operations } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { CallNotice } from './notices.ts';

/** The image is replaced when one thread keeps all others from compiling and this many calls in a row were
 * interrupted. */
const INTERRUPTED_LIMIT = 3;
/** The interval between two polls of a probe, which tests whether the image works, is this many times TIMES.poll. */
const POLL_FACTOR = 4;
/** The reason that is reported when an image is replaced because it does not work. */
const BROKEN = 'it was broken: it could not read, evaluate and print a constant form any more';

interface Remedies {
  /** Ends the image of `peer` for the reason `how`. Resolves when it has ended. */
  replace(peer: Peer, how: string): Promise<void>;
  notify(notice: CallNotice): void;
}

/** The result of a probe, which tests whether an image works. `at` is the time (performance.now) when it ended. */
export interface ProbeResult {
  works: boolean;
  at: number;
}

export class Probing {
  readonly #remedies: Remedies;
  readonly #times: Times;
  #interruptedInARow = 0;
  runningProbe: Promise<void> | undefined;
  last: ProbeResult | undefined;
  /** True when the image has failed a probe and no call has succeeded since then. */
  broken = false;

  constructor(remedies: Remedies, times: Times = TIMES) {
    this.#remedies = remedies;
    this.#times = times;
  }

  /** Records that a call in PEER has ended with REPLY. Probes PEER if a broken image could give such a reply. */
  ended(peer: Peer, reply: Reply<keyof Operations>): void {
    const { ending, data } = reply;
    // If no form could be read from a text, the reader may be broken. If a value has an empty text, the printer may be
    // broken.
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
    const compilerHeld = holder !== undefined && this.#interruptedInARow >= INTERRUPTED_LIMIT;
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

  /** Performs the operation `probe` in PEER with ARGS, within a time limit. Returns whether PEER works, and whether
   * PEER was lost during this. `holder` is the name of a thread that keeps all others from compiling. */
  async #runProbe(
    peer: Peer,
    args: { session?: boolean },
  ): Promise<{ works: boolean; holder?: string; lost: boolean }> {
    const { id, answer } = peer.request('probe', args);
    const timeout = probeTimeout(peer, id, this.#times);
    let received = await Promise.race([answer, timeout.timedOut]);
    timeout.stop();
    // A probe without `session` tests the image itself. If it hangs, it need not be interrupted, because the image will
    // be ended.
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

/** Returns a promise that resolves when the time of the request ID of PEER is up, and a function that cancels the
 * timeout. The time is up when the thread of the request has run for `times.alive` milliseconds, or has been idle for
 * as long. Garbage collections, and the time in which the thread waits for a CPU, do not count. */
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

/** Ends JOB at once, in the steps of ending-steps.ts. Resolves with ANSWER, its answer. */
async function interruptedNow<Value>(job: Endable, answer: Promise<Value>, times: Times): Promise<Value> {
  const stop = enforceLimit(job, 0, undefined, times);
  return answer.finally(stop);
}
