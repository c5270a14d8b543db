// Reports the progress and the output of a call to its caller at intervals.

import type { Progress } from '../wire/call.ts';
import { readJobProgress, readOutput } from '../wire/messages.ts';
import type { JobProgress } from '../wire/operations.ts';
import { TIMES } from '../wire/times.ts';
import type { Job } from './jobs.ts';
import type { WrittenOutput } from './written.ts';

/** Calls REPORT every EVERY_MS milliseconds with the progress of JOB, until the returned function is called.
 *  While a request for the progress is unanswered, no other request is sent, and REPORT gets the time for
 *  which the image has been silent. */
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

/** Every EVERY_MS milliseconds, calls PASS with the next part of the output of JOB, which WRITTEN divides. Stops
 *  when the returned function is called. */
export function reportOutput(
  job: Job,
  written: WrittenOutput,
  pass: (text: string) => void,
  everyMs: number = TIMES.progress,
): () => void {
  let isAsking = false;
  let ended = false;
  const poll = async () => {
    const { phase } = job;
    if (phase.kind !== 'running' || isAsking) return;
    isAsking = true;
    const { data } = await phase.peer.request('written', { job: phase.id }).answer;
    isAsking = false;
    const output = readOutput(data.value);
    const text = output === undefined || ended ? '' : written.take(output);
    if (text !== '') pass(text);
  };
  const timer = setInterval(() => void poll(), everyMs);
  return () => {
    ended = true;
    clearInterval(timer);
  };
}
