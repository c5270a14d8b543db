// Collects the current state of an image, even of one that hangs. Asks only the reader thread of the backend, and waits
// only briefly for its answer.

import type { Lacking } from '../wire/messages.ts';
import type { BackendJob, BackendStatus, Reason } from '../wire/operations.ts';
import type { Outside, Pulse, TimedStatus } from '../wire/pulse.ts';
import type { Served } from '../wire/served.ts';
import { TIMES } from '../wire/times.ts';
import type { Job, Jobs } from './jobs.ts';
import type { ProbeResult } from './probing.ts';

/** The state of a call that runs or waits. If the backend did not answer in time, its data are absent. */
export interface JobStatus extends Partial<Omit<BackendJob, 'id'>> {
  number: number;
  operation: string;
  subject: string;
  milliseconds: number;
  phase: 'queued' | 'starting' | 'running';
  ahead?: number;
  /** The number of the job whose code made the call; absent when a client made it. */
  parent?: number;
  /** The reason why the call is being ended, and the number of milliseconds since this began. */
  stopping?: { reason: Reason; byUser: boolean; milliseconds: number };
}

type ImageState = 'not started' | 'starting' | 'rebuilding' | 'ready' | 'busy' | 'not reacting' | 'lost';

export interface ImageStatus {
  state: ImageState;
  jobs: JobStatus[];
  /** The calls in additional, fresh images; absent when there are none. ChosenImage adds them. */
  beside?: JobStatus[];
  /** Resident memory of the server, in octets. */
  serverRss: number;
  /** The data that the operating system has about the process of the image; absent when the server does not run one. */
  outside?: Outside;
  /** Number of milliseconds for which the image has not reacted; absent when it reacts. */
  silentMs?: number;
  /** Number of milliseconds without a reaction after which the image counts as frozen. */
  frozenMs?: number;
  backend?: BackendStatus;
  /** Number of milliseconds since `backend` was received. */
  backendMsAgo?: number;
  /** The reason why the image could not be started, or why it was lost; absent in other states. */
  why?: string;
  building?: string;
  /** The result of the last probe, which tests whether the image works, and the number of milliseconds since it
   * ended. */
  probe?: { works: boolean; msAgo: number };
  /** The warning of SBCL that its memory may be corrupted; absent when it has given none. */
  corrupted?: string;
  /** True when a command starts the image, perhaps on another machine. */
  elsewhere?: true;
  attached?: true;
  /** The image that somebody else runs; absent before it was found. */
  served?: Served;
  /** True when a signal has stopped the process of the image that somebody else runs. */
  stopped?: true;
  lacking?: Lacking;
  /** Reports of how earlier images ended. Because of these ends, this image is plain: its backend uses no internals of
   * SBCL. Absent when the image is not plain. */
  plainBecause?: readonly string[];
}

interface Life {
  readonly running: boolean;
  readonly prepared: boolean;
  /** The object that requests the backend's status; undefined before the greeting. */
  readonly pulse: Pulse | undefined;
  /** The data that the operating system has about the process; undefined when the server does not run one. */
  readonly outside?: Outside | undefined;
  /** Returns a meter, a function without parameters. A call of the meter returns the number of milliseconds for which
   * the process has waited for a CPU since the first such call (see starving.ts). */
  denied?(): () => number;
  /** Number of milliseconds without a reaction after which the image is replaced. Absent for an image that the server
   * cannot replace. */
  readonly frozenMs?: number;
  /** The reason why the last start failed; undefined when it succeeded. */
  readonly failure: string | undefined;
  readonly hello?: Lacking | undefined;
  readonly corrupted?: string | undefined;
  readonly plainBecause?: readonly string[];
  /** True when a command starts the image, perhaps on another machine. */
  readonly elsewhere?: true | undefined;
  readonly attached?: true;
  /** The image that somebody else runs; undefined before it was found. */
  readonly served?: Served | undefined;
  /** Returns true when a signal has stopped the process of the image that somebody else runs. */
  stopped?(): boolean;
}

interface Losses {
  /** The reasons for losses that no answer has reported yet. The oldest comes first. */
  readonly unreported: readonly string[];
  readonly progress?: string | undefined;
}

/** Returns the state of an image. LIFE has the data about its process and its start, LOSSES about the losses of earlier
 * images, JOBS about its calls, and PROBE about its last test. Waits at most ANSWER_MS milliseconds until the backend
 * sends its status. */
export async function imageStatusOf(
  life: Life,
  losses: Losses,
  jobs: Jobs,
  answerMs: number = TIMES.status,
  probe?: ProbeResult,
): Promise<ImageStatus> {
  const deniedMs = life.denied?.();
  // The first call starts the measurement.
  deniedMs?.();
  const answer = life.running ? await life.pulse?.status(answerMs) : undefined;
  const { lastStatus, silentMs = 0 } = answer ?? {};
  // LIFE and LOSSES can have getters, so they are read only after the wait.
  const { running, outside, frozenMs, corrupted, hello, plainBecause = [], attached, served } = life;
  const { unreported, progress } = losses;
  const state = stateOf(life, losses, jobs, silentMs);
  const why = unreported.length > 0 ? unreported.join('; then ') : life.failure;
  return {
    state,
    jobs: jobs.list().map((job) => jobStatus(job, lastStatus)),
    serverRss: process.memoryUsage.rss(),
    ...(outside && { outside: { ...outside, ...(silentMs > 0 && deniedMs?.() && { starved: true }) } }),
    ...(state === 'not reacting' && { silentMs, ...(frozenMs !== undefined && { frozenMs }) }),
    ...(running &&
      lastStatus && { backend: lastStatus.status, backendMsAgo: performance.now() - lastStatus.at }),
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
  // A start after a loss is a rebuild.
  if (!prepared) return unreported.length > 0 ? 'rebuilding' : 'starting';
  return jobs.list().length > 0 ? 'busy' : 'ready';
}

function jobStatus(job: Job, lastStatus: TimedStatus | undefined): JobStatus {
  const { number, operation, subject, phase, milliseconds, parent, stopping, endedByUser: byUser } = job;
  const { id: _, ...backendFacts } =
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
    ...backendFacts,
  };
}
