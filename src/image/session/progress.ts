// Reports the progress and the output of a call to its caller, at intervals.

import type { Progress } from '../wire/call.ts';
import { wholeText } from '../wire/endings.ts';
import { readJobProgress, readOutput } from '../wire/messages.ts';
import type { JobProgress, Output } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES } from '../wire/times.ts';
import type { Job } from './jobs.ts';

/** Calls REPORT with the progress of JOB every EVERY_MS milliseconds, until the returned function is called. Asks the
 * image for the progress only when it has answered the previous request. Otherwise reports the time in which the image
 * has not answered. */
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

/** When a part of the output has at least this number of characters, the call probably waits until it can write
 * more. */
const LARGE_PART = 6000;
/** Number of milliseconds from a large part to the next part. After each smaller part, the pause becomes longer. */
const SHORT_PAUSE_MS = 1;

interface Passing {
  /** True when a part of the output was passed. */
  readonly hasPassed: boolean;
  /** Resolves after the last part. */
  stop: () => Promise<void>;
}

/** Calls PASS with the new output of JOB every EVERY_MS milliseconds, until `stop` is called. While JOB writes much
 * output, calls PASS more often. */
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

/** Resolves with the output of JOB so far. The answer of JOB will also contain this output. Resolves with undefined
 * when there is none, or when the image does not answer within MS milliseconds. */
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
