// Collects the current state of an image, even of one that hangs. Asks only the agent's reader thread, and
// waits only briefly for the answer.

import type { Lacking } from '../wire/messages.ts';
import type { AgentJob, AgentStatus, Reason } from '../wire/operations.ts';
import type { Outside, Pulse, TimedStatus } from '../wire/pulse.ts';
import type { Served } from '../wire/served.ts';
import { TIMES } from '../wire/times.ts';
import type { Job, Jobs } from './jobs.ts';
import type { ProbeResult } from './probing.ts';

/** State of a running or waiting call. Data from the agent is absent when the agent did not answer in
 *  time. */
export interface JobStatus extends Partial<Omit<AgentJob, 'id'>> {
  number: number;
  operation: string;
  subject: string;
  milliseconds: number;
  phase: 'queued' | 'starting' | 'running';
  ahead?: number;
  /** Number of the job whose code made the call. */
  parent?: number;
  /** The reason why the call is being ended, and the milliseconds since that began. */
  stopping?: { reason: Reason; byUser: boolean; milliseconds: number };
}

type ImageState = 'not started' | 'starting' | 'rebuilding' | 'ready' | 'busy' | 'not reacting' | 'lost';

export interface ImageStatus {
  state: ImageState;
  jobs: JobStatus[];
  /** The calls in additional, fresh images. */
  beside?: JobStatus[];
  /** Resident memory of the server, in octets. */
  serverRss: number;
  /** The operating system's data on the image's process, while the server runs one. */
  outside?: Outside;
  /** Milliseconds for which the image has not reacted. */
  silentMs?: number;
  /** Milliseconds without reaction after which the image counts as frozen. */
  frozenMs?: number;
  agent?: AgentStatus;
  /** Milliseconds since this status arrived. */
  agentMsAgo?: number;
  /** The reason why the image could not be started or was lost. */
  why?: string;
  building?: string;
  /** Result of the last probe, a test that the image works, and the milliseconds since its end. */
  probe?: { works: boolean; msAgo: number };
  /** SBCL's warning that its memory may be corrupted. */
  corrupted?: string;
  /** True when a command starts the image, perhaps on another machine. */
  elsewhere?: true;
  attached?: true;
  /** The image of somebody else, once it was found. */
  served?: Served;
  /** True when a signal has stopped the process of the image of somebody else. */
  stopped?: true;
  lacking?: Lacking;
  /** The reasons for the ends of earlier images because of which this image was started plain (without
   *  internals of SBCL). */
  plainBecause?: readonly string[];
}

interface Life {
  readonly running: boolean;
  readonly prepared: boolean;
  /** Asks the agent for its status; undefined before the greeting. */
  readonly pulse: Pulse | undefined;
  /** The operating system's data on the process, if the server runs it. */
  readonly outside?: Outside | undefined;
  /** Returns a function that returns the milliseconds for which the system has denied the process the CPU
   *  since its first call. */
  denied?(): () => number;
  /** Number of milliseconds without reaction after which an image is replaced. Absent for an image that the
   *  server cannot replace. */
  readonly frozenMs?: number;
  /** The reason why the last start failed, if so. */
  readonly failure: string | undefined;
  readonly hello?: Lacking | undefined;
  readonly corrupted?: string | undefined;
  readonly plainBecause?: readonly string[];
  /** True when a command starts the image, perhaps on another machine. */
  readonly elsewhere?: true | undefined;
  readonly attached?: true;
  /** The image of somebody else, once it was found. */
  readonly served?: Served | undefined;
  /** True when a signal has stopped the process of the image of somebody else. */
  stopped?(): boolean;
}

interface Losses {
  /** The reasons for losses that no answer has reported yet, oldest first. */
  readonly unreported: readonly string[];
  readonly progress?: string | undefined;
}

/** Returns the state of an image. LIFE has data on its process and start, LOSSES the losses of earlier
 *  images, JOBS its calls, PROBE its last test. Waits at most ANSWER_MS milliseconds for the agent's
 *  status. */
export async function imageStatusOf(
  life: Life,
  losses: Losses,
  jobs: Jobs,
  answerMs: number = TIMES.status,
  probe?: ProbeResult,
): Promise<ImageStatus> {
  const denied = life.denied?.();
  denied?.();
  const { lastStatus, silentMs = 0 } = (life.running && (await life.pulse?.status(answerMs))) || {};
  const { running, outside, frozenMs, corrupted, hello, plainBecause = [], attached, served } = life;
  const { unreported, progress } = losses;
  const state = stateOf(life, losses, jobs, silentMs);
  const why = unreported.length > 0 ? unreported.join('; then ') : life.failure;
  return {
    state,
    jobs: jobs.list().map((job) => jobStatus(job, lastStatus)),
    serverRss: process.memoryUsage.rss(),
    ...(outside && { outside: { ...outside, ...(silentMs > 0 && denied?.() && { starved: true }) } }),
    ...(state === 'not reacting' && { silentMs, ...(frozenMs !== undefined && { frozenMs }) }),
    ...(running && lastStatus && { agent: lastStatus.status, agentMsAgo: performance.now() - lastStatus.at }),
    ...((!running || state === 'rebuilding') && why !== undefined && { why }),
    ...(probe && { probe: { works: probe.works, msAgo: performance.now() - probe.at } }),
    ...(running && corrupted !== undefined && { corrupted }),
    ...(life.elsewhere && { elsewhere: true }),
    ...(attached && { attached, ...(served && { served }), ...(life.stopped?.() && { stopped: true }) }),
    ...(running && hello && { lacking: hello }),
    ...(running && plainBecause.length > 0 && { plainBecause }),
    ...(state === 'rebuilding' && progress !== undefined && { building: progress }),
  };
}

function stateOf(
  { running, prepared }: Life,
  { unreported }: Losses,
  jobs: Jobs,
  silentMs: number,
): ImageState {
  if (!running) return unreported.length > 0 ? 'lost' : 'not started';
  if (silentMs > 0) return 'not reacting';
  if (!prepared) return unreported.length > 0 ? 'rebuilding' : 'starting';
  return jobs.list().length > 0 ? 'busy' : 'ready';
}

function jobStatus(job: Job, lastStatus: TimedStatus | undefined): JobStatus {
  const { number, operation, subject, phase, milliseconds, parent, stopping, endedByUser: byUser } = job;
  const { id: _, ...agentFacts } =
    (phase.kind === 'running' && lastStatus?.status.jobs?.find(({ id }) => id === phase.id)) || {};
  return {
    number,
    operation,
    subject,
    milliseconds,
    phase: phase.kind,
    ...(phase.kind === 'queued' && { ahead: phase.ahead().waiting }),
    ...(parent && { parent: parent.number }),
    ...(stopping && {
      stopping: { reason: stopping.reason, byUser, milliseconds: performance.now() - stopping.at },
    }),
    ...agentFacts,
  };
}
