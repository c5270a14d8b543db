// Reports the progress of a call to its caller at intervals.

import type { Progress } from '../wire/call.ts';
import type { JobProgress } from '../wire/data.ts';
import { readJobProgress } from '../wire/messages.ts';
import { TIMES } from '../wire/times.ts';
import type { Job } from './jobs.ts';

/** Calls REPORT every EVERY_MS milliseconds with the progress of JOB, until the returned function is called. An image
 *  that has not answered yet is not asked again: the report then says for how long it has been silent. */
export function tellProgress(
  job: Job,
  report: (progress: Progress) => void,
  everyMs: number = TIMES.progress,
): () => void {
  let told: JobProgress = {};
  let askedAt: number | undefined;
  let ended = false;
  const tell = (more: Partial<Progress>) => {
    if (!ended) report({ milliseconds: job.milliseconds, ...more });
  };
  const look = () => {
    const { phase } = job;
    if (phase.kind === 'queued') return tell({ waiting: phase.ahead() });
    if (phase.kind === 'starting') {
      const building = phase.building?.();
      const waiting = phase.compiling?.() ? 'compiler' : 'start';
      return tell({ waiting, ...(building !== undefined && { building }) });
    }
    if (askedAt !== undefined) return tell({ ...told, silentMs: performance.now() - askedAt });
    askedAt = performance.now();
    void phase.peer.request('progress', { job: phase.id }).answer.then(({ data }) => {
      askedAt = undefined;
      told = readJobProgress(data.value) ?? told;
      tell(told);
    });
  };
  const timer = setInterval(look, everyMs);
  return () => {
    ended = true;
    clearInterval(timer);
  };
}
