// Decides when to probe whether an image still works, and what to do when it does not. A call that succeeds
// needs no probe.

import type { Reply } from '../wire/call.ts';
import { type Endable, enforceLimit } from '../wire/ending-steps.ts';
import type { JobCpuTimes, Operations } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { CallNotice } from './notices.ts';

/** Number of interrupted calls in a row after which an image is replaced if one thread keeps all others from
 *  compiling. */
const IN_A_ROW = 3;
/** During a probe (a test that the image works), the interval between two polls is longer by this factor than
 *  when a call is being ended. */
const POLL_FACTOR = 4;
/** The reported reason for the loss of an image that does not work. */
const BROKEN = 'it was broken: it could not read, evaluate and print a constant form any more';

interface Remedies {
  /** Ends the image of `peer` for the reason `how`, and resolves after its end. */
  replace(peer: Peer, how: string): Promise<void>;
  notify(notice: CallNotice): void;
}

/** The result of a probe, a test that an image works. `at` is the end of the probe (performance.now). */
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
  /** True when an image failed a probe and no call has succeeded since. */
  broken = false;

  constructor(remedies: Remedies, times: Times = TIMES) {
    this.#remedies = remedies;
    this.#times = times;
  }

  /** Records that a call ended in PEER with REPLY. Probes PEER if such a reply can be the sign of a broken
   *  image. */
  ended(peer: Peer, reply: Reply<keyof Operations>): void {
    const { ending, data } = reply;
    // A text without a readable form can be the sign of a broken reader, and a value with an empty text that
    // of a broken printer.
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

  /** Performs the operation `probe` in PEER with ARGS, within a time limit. Returns whether PEER works, and
   *  whether PEER was lost meanwhile. `holder` is the name of a thread that keeps all others from
   *  compiling. */
  async #runProbe(
    peer: Peer,
    args: { session?: boolean },
  ): Promise<{ works: boolean; holder?: string; lost: boolean }> {
    const { id, answer } = peer.request('probe', args);
    const timeout = probeTimeout(peer, id, this.#times);
    let received = await Promise.race([answer, timeout.timedOut]);
    timeout.stop();
    // A probe that hangs outside the session needs no interrupt, because the image will be ended anyway.
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

/** Returns a promise that resolves at the time limit of the request ID of PEER, and a function that stops the
 *  clock. The limit is `times.alive` milliseconds of running or of idle time of the request's thread. Garbage
 *  collections and waits for a CPU do not count. */
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
