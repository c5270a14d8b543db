// Decides when to probe whether an image still works, and what to do when it does not. There is no probe after a call
// that ends well.

import type { Reply } from '../wire/call.ts';
import type { JobCpuTimes } from '../wire/data.ts';
import { type Endable, watch } from '../wire/ending-steps.ts';
import type { Operations } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { CallNotice } from './notices.ts';

/** After this many interrupted calls in a row, the image is replaced if a thread keeps all others from compiling. */
const IN_A_ROW = 3;
/** A probed image is polled this many times less often than one in which a call is being ended. */
const EVERY_LOOKS = 4;
/** Reason for the loss of an image that does not work. */
const BROKEN = 'it was broken: it could not read, evaluate and print a constant form any more';

/** Callbacks for an image that does not work. */
export interface Remedies {
  /** Ends PEER for the reason HOW; resolves when it has ended. */
  replace(peer: Peer, how: string): Promise<void>;
  notify(notice: CallNotice): void;
}

/** Result of a probe, and its time (performance.now). */
export interface Probe {
  works: boolean;
  at: number;
}

export class Probing {
  readonly #remedies: Remedies;
  readonly #times: Times;
  /** How many calls in a row were interrupted. */
  #stuck = 0;
  /** Resolves when the running probe has ended; undefined while none runs. */
  looking: Promise<void> | undefined;
  /** Result of the last probe; undefined before the first. */
  last: Probe | undefined;
  /** True when an image did not work and no call has ended well since. */
  broken = false;

  constructor(remedies: Remedies, times: Times = TIMES) {
    this.#remedies = remedies;
    this.#times = times;
  }

  /** Records that a call ended in PEER with REPLY, and probes PEER if the reply can mean that PEER is broken. */
  ended(peer: Peer, reply: Reply<keyof Operations>): void {
    const { ending, data } = reply;
    // A call that reads no form can mean a broken reader, one that prints nothing a broken printer.
    const read = !('unreadable' in data) && !('formNumber' in data && data.formNumber === 0);
    const printed = !('values' in data) || !(data.values ?? []).flat().some(({ text }) => text === '');
    if (ending.kind === 'done' && read && printed) {
      this.#stuck = 0;
      this.broken = false;
      return;
    }
    if (ending.kind === 'lost') return;
    if (ending.kind === 'interrupted' && ending.notBegun && ending.reason !== 'ended') return;
    this.#stuck = ending.kind === 'interrupted' ? this.#stuck + 1 : 0;
    this.looking ??= this.#look(peer).finally(() => {
      this.looking = undefined;
    });
  }

  async #look(peer: Peer): Promise<void> {
    const { works, holder, gone } = await this.#ask(peer, {});
    if (gone) return;
    this.last = { works, at: performance.now() };
    const waits = holder !== undefined && this.#stuck >= IN_A_ROW;
    if (!works || waits) {
      this.broken = true;
      this.#stuck = 0;
      const how = works ? `its thread ${JSON.stringify(holder)} kept all others from compiling` : BROKEN;
      return this.#remedies.replace(peer, how);
    }
    if (holder !== undefined) this.#remedies.notify({ kind: 'compiler held', thread: holder });
    const session = await this.#ask(peer, { session: true });
    if (session.works || session.gone) return;
    peer.notify('renew-session', {});
    this.#remedies.notify({ kind: 'session renewed' });
  }

  /** Runs a probe in PEER, within a time limit. HOLDER keeps all other threads from compiling. GONE: PEER was lost. */
  async #ask(
    peer: Peer,
    args: { session?: boolean },
  ): Promise<{ works: boolean; holder?: string; gone: boolean }> {
    const { id, answer } = peer.request('probe', args);
    const late = lateness(peer, id, this.#times);
    let told = await Promise.race([answer, late.over]);
    late.stop();
    // A probe of a broken image needs no end of its own: the image is ended.
    if (told === undefined && !args.session) return { works: false, gone: false };
    told ??= await endedNow(peer.job(id), answer, this.#times);
    const { ending, data } = told;
    const works = ending.kind === 'done' && data.works === true;
    return {
      works,
      gone: ending.kind === 'lost',
      ...(typeof data.holder === 'string' && { holder: data.holder }),
    };
  }
}

/** Returns a promise that resolves once the request ID of PEER has had its time (times.alive), and a function that
 *  stops the clock. The time is over when the request has run, or been idle, for so long. Garbage collections and
 *  waiting for a CPU count for neither. */
function lateness(peer: Peer, id: number, times: Times): { over: Promise<undefined>; stop: () => void } {
  const collecting = peer.job(id).collecting;
  let before: JobCpuTimes & { at: number } = { ran: 0, waited: 0, ready: true, at: performance.now() };
  let idle = 0;
  let timer: NodeJS.Timeout | undefined;
  collecting();
  const over = new Promise<undefined>((resolve) => {
    const look = async () => {
      const { data } = await peer.request('spent', { job: id }).answer;
      if (timer === undefined) return;
      const now = { ...(data.value ?? { ...before, ready: false }), at: performance.now() };
      const doing = now.ran - before.ran + now.waited - before.waited;
      if (collecting() !== true && !now.ready) idle += Math.max(0, now.at - before.at - doing);
      before = now;
      if (now.ran >= times.alive || idle >= times.alive) resolve(undefined);
      else timer = setTimeout(look, EVERY_LOOKS * times.poll);
    };
    timer = setTimeout(look, EVERY_LOOKS * times.poll);
  });
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return { over, stop };
}

/** Ends JOB, and returns its ANSWER. */
async function endedNow<Value>(job: Endable, answer: Promise<Value>, times: Times): Promise<Value> {
  const stop = watch(job, 0, undefined, times);
  return answer.finally(stop);
}
