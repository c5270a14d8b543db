// Decides what is told of an image at a moment, whatever it does. It waits only for the agent's reader, and not long.

import type { Outside } from '../wire/data.ts';
import type { Reason } from '../wire/endings.ts';
import type { Lacking } from '../wire/messages.ts';
import type { AgentJob, AgentStatus } from '../wire/operations.ts';
import type { Pulse, Said } from '../wire/pulse.ts';
import { TIMES } from '../wire/times.ts';
import type { Job, Jobs } from './jobs.ts';
import type { Probe } from './probing.ts';

/** How a call is that is under way; what only the agent knows is absent when it did not say so in time. */
export interface JobStatus extends Partial<Omit<AgentJob, 'id'>> {
  number: number;
  operation: string;
  subject: string;
  milliseconds: number;
  phase: 'queued' | 'starting' | 'running';
  /** How many wait for a place before it. */
  ahead?: number;
  /** The number of the job whose code made the call. */
  parent?: number;
  /** Why and for how long it is being ended. */
  stopping?: { reason: Reason; milliseconds: number };
}

export type ImageState =
  | 'not started'
  | 'starting'
  | 'rebuilding'
  | 'ready'
  | 'busy'
  | 'not reacting'
  | 'lost';

export interface ImageStatus {
  state: ImageState;
  jobs: JobStatus[];
  /** Octets of memory that the server takes. */
  serverRss: number;
  /** What the system tells of its process, when that is ours and runs. */
  outside?: Outside;
  /** For how long it has not reacted, and for how long it may. */
  silentMs?: number;
  frozenMs?: number;
  /** What the agent says, and how old that is. */
  said?: AgentStatus;
  saidMsAgo?: number;
  /** Why it could not be started, or how it was lost. */
  why?: string;
  /** How far the lost image is built again. */
  building?: string;
  /** Whether it worked when that was looked at last, and how long ago that was. */
  probe?: { works: boolean; msAgo: number };
  /** What SBCL said when it warned that its memory may be corrupted. */
  corrupted?: string;
  /** What its agent cannot do. */
  lacking?: Lacking;
  /** How new images ended, because of which this one is plain. */
  plainBecause?: readonly string[];
}

/** What is known of the life of an image, at any moment. */
export interface Life {
  /** Whether it is there or being started, and whether it is ready for calls. */
  readonly running: boolean;
  readonly prepared: boolean;
  /** What asks the agent how it is; undefined before it has greeted. */
  readonly pulse: Pulse | undefined;
  /** What the system tells of its process, when that is ours. */
  readonly outside?: Outside | undefined;
  /** Returns what tells for how many milliseconds it is denied the CPU from the first question on, when that can be seen. */
  denied?(): () => number;
  /** Milliseconds after which it is replaced when it does not react, when it can be. */
  readonly frozenMs?: number;
  /** Why the last start failed, when it did. */
  readonly failure: string | undefined;
  /** What its agent said when it greeted, when it did. */
  readonly hello?: Lacking | undefined;
  /** What SBCL said when it warned that its memory may be corrupted. */
  readonly corrupted?: string | undefined;
  readonly plainBecause?: readonly string[];
}

/** What is known of lost images. */
export interface Losses {
  /** How images were lost that no new one has replaced yet. */
  readonly untold: readonly string[];
  /** How far the rebuild is that is under way, as a phrase. */
  readonly progress?: string | undefined;
}

/** Returns how the image of LIFE is, whose calls are JOBS, and what a PROBE found. The agent has ANSWER_MS milliseconds
 *  to say so. */
export async function imageStatus(
  life: Life,
  losses: Losses,
  jobs: Jobs,
  answerMs: number = TIMES.status,
  probe?: Probe,
): Promise<ImageStatus> {
  const denied = life.denied?.();
  denied?.();
  const { said, silentMs = 0 } = (life.running && (await life.pulse?.status(answerMs))) || {};
  const { running, outside, frozenMs, corrupted, hello, plainBecause = [] } = life;
  const { untold, progress } = losses;
  const state = stateOf(life, losses, jobs, silentMs);
  const why = untold.length > 0 ? untold.join('; then ') : life.failure;
  return {
    state,
    jobs: jobs.list().map((job) => jobStatus(job, said)),
    serverRss: process.memoryUsage.rss(),
    ...(outside && { outside: { ...outside, ...(silentMs > 0 && denied?.() && { starved: true }) } }),
    ...(state === 'not reacting' && { silentMs, ...(frozenMs !== undefined && { frozenMs }) }),
    ...(running && said && { said: said.status, saidMsAgo: performance.now() - said.at }),
    ...((!running || state === 'rebuilding') && why !== undefined && { why }),
    ...(probe && { probe: { works: probe.works, msAgo: performance.now() - probe.at } }),
    ...(running && corrupted !== undefined && { corrupted }),
    ...(running && hello && { lacking: hello }),
    ...(running && plainBecause.length > 0 && { plainBecause }),
    ...(state === 'rebuilding' && progress !== undefined && { building: progress }),
  };
}

function stateOf({ running, prepared }: Life, { untold }: Losses, jobs: Jobs, silentMs: number): ImageState {
  if (!running) return untold.length > 0 ? 'lost' : 'not started';
  if (silentMs > 0) return 'not reacting';
  if (!prepared) return untold.length > 0 ? 'rebuilding' : 'starting';
  return jobs.list().length > 0 ? 'busy' : 'ready';
}

function jobStatus(job: Job, said: Said | undefined): JobStatus {
  const { number, operation, subject, phase, milliseconds, parent, stopping } = job;
  const { id: _, ...told } =
    (phase.kind === 'running' && said?.status.jobs?.find(({ id }) => id === phase.id)) || {};
  return {
    number,
    operation,
    subject,
    milliseconds,
    phase: phase.kind,
    ...(phase.kind === 'queued' && { ahead: phase.ahead().waiting }),
    ...(parent && { parent: parent.number }),
    ...(stopping && { stopping: { reason: stopping.reason, milliseconds: performance.now() - stopping.at } }),
    ...told,
  };
}
