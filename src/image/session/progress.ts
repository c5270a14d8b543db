// Reports the progress of a call to its caller at intervals.

import type { Progress } from '../wire/call.ts';
import { readJobProgress } from '../wire/messages.ts';
import type { JobProgress } from '../wire/operations.ts';
import { TIMES } from '../wire/times.ts';
import type { Job } from './jobs.ts';

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
