// Reports the progress and the output of a call to its caller at intervals.

import type { Progress } from '../wire/call.ts';
import { wholeText } from '../wire/endings.ts';
import { readJobProgress, readOutput } from '../wire/messages.ts';
import type { JobProgress, Output } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES } from '../wire/times.ts';
import type { Job } from './jobs.ts';

/** Calls REPORT every EVERY_MS milliseconds with the progress of JOB, until the returned function is called.
 *  While a request for the progress is unanswered, sends no other, and reports the time for which the image
 *  has been silent. */
export function reportProgress(
  job: Job,
  report: (progress: Progress) => void,
  everyMs: number = TIMES.progress,
): () => void {
  let lastProgress: JobProgress = {};
  let requestedAt: number | undefined;
  let ended = false;
  const send = (more: Partial<Progress>) => {
    if (!ended) report({ milliseconds: job.milliseconds, ...more });
  };
  const poll = () => {
    const { phase } = job;
    if (phase.kind === 'queued') return send({ waiting: phase.ahead() });
    if (phase.kind === 'starting') {
      const building = phase.building?.();
      const waiting = phase.compiling?.() ? 'compiler' : 'start';
      return send({ waiting, ...(building !== undefined && { building }) });
    }
    if (requestedAt !== undefined)
      return send({ ...lastProgress, silentMs: performance.now() - requestedAt });
    requestedAt = performance.now();
    void phase.peer.request('progress', { job: phase.id }).answer.then(({ data }) => {
      requestedAt = undefined;
      lastProgress = readJobProgress(data.value) ?? lastProgress;
      send(lastProgress);
    });
  };
  const timer = setInterval(poll, everyMs);
  return () => {
    ended = true;
    clearInterval(timer);
  };
}

/** Number of characters of a part from which on the call is likely to wait for more writing. */
const LARGE_PART = 6000;
/** Milliseconds after such a part until the next one is taken. After each smaller part the pause grows. */
const SHORT_PAUSE_MS = 1;

interface Passing {
  /** True when a part of the output was passed. */
  readonly hasPassed: boolean;
  /** Resolves after the last part. */
  stop: () => Promise<void>;
}

/** Passes the new output of JOB to PASS every EVERY_MS milliseconds, and sooner while there is much, until
 *  `stop` is called. */
export function passOutput(
  job: Job,
  pass: (text: string) => Promise<void>,
  everyMs: number = TIMES.progress,
): Passing {
  let hasPassed = false;
  let pauseMs = everyMs;
  let taking: Promise<void> | undefined;
  let timer = setTimeout(next, pauseMs);
  function next() {
    taking = take().then(() => {
      timer = setTimeout(next, pauseMs);
    });
  }
  async function take() {
    const { phase } = job;
    const output = phase.kind === 'running' ? await takeOutput(phase.peer, phase.id) : undefined;
    pauseMs = Number(output?.text.length) >= LARGE_PART ? SHORT_PAUSE_MS : Math.min(2 * pauseMs, everyMs);
    if (output === undefined) return;
    hasPassed = true;
    await pass(wholeText(output));
  }
  return {
    get hasPassed() {
      return hasPassed;
    },
    stop: async () => {
      await taking;
      clearTimeout(timer);
    },
  };
}

/** Resolves with the output of JOB so far, which stays for its answer. Resolves with undefined when there is none, or the
 *  image does not answer within MS milliseconds. */
export async function outputSoFar({ phase }: Job, ms: number = TIMES.status): Promise<string | undefined> {
  if (phase.kind !== 'running') return undefined;
  const written = phase.peer.request('written', { job: phase.id }).answer;
  const timedOut = new Promise<undefined>((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
  const answer = await Promise.race([written, timedOut]);
  const output = answer && readOutput(answer.data.value);
  return output && wholeText(output);
}

async function takeOutput(peer: Peer, job: number): Promise<Output | undefined> {
  const { data } = await peer.request('take-written', { job }).answer;
  return readOutput(data.value);
}
