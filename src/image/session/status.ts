// Collects the current state of an image, even of an image that hangs. It asks only the agent's reader
// thread, and waits only briefly for the answer.

import type { Lacking } from '../wire/messages.ts';
import type { AgentJob, AgentStatus, Reason } from '../wire/operations.ts';
import type { Outside, Pulse, TimedStatus } from '../wire/pulse.ts';
import type { Served } from '../wire/served.ts';
import { TIMES } from '../wire/times.ts';
import type { Job, Jobs } from './jobs.ts';
import type { ProbeResult } from './probing.ts';

/** State of a call that is running or waiting. What only the agent knows is absent when the agent did not
 *  answer in time. */
export interface JobStatus extends Partial<Omit<AgentJob, 'id'>> {
  number: number;
  operation: string;
  subject: string;
  milliseconds: number;
  phase: 'queued' | 'starting' | 'running';
  /** How many calls wait in the queue before this one. */
  ahead?: number;
  /** Number of the job whose code made the call. */
  parent?: number;
  /** Why the call is being ended, and how many milliseconds ago that began. */
  stopping?: { reason: Reason; milliseconds: number };
}

type ImageState = 'not started' | 'starting' | 'rebuilding' | 'ready' | 'busy' | 'not reacting' | 'lost';

export interface ImageStatus {
  state: ImageState;
  jobs: JobStatus[];
  /** The calls in fresh images beside this one. */
  beside?: JobStatus[];
  /** Resident memory of the server, in octets. */
  serverRss: number;
  /** Data of the operating system about the image's process, while the server runs one. */
  outside?: Outside;
  /** For how many milliseconds the image has not reacted. */
  silentMs?: number;
  /** After how many milliseconds without a reaction the image counts as frozen. */
  frozenMs?: number;
  /** The last status that the agent sent. */
  agent?: AgentStatus;
  /** How many milliseconds ago this status arrived. */
  agentMsAgo?: number;
  /** Why the image could not be started, or how it was lost. */
  why?: string;
  /** Progress of a rebuild, as a phrase. */
  building?: string;
  /** Result of the last probe, a test of whether the image works, and how many milliseconds ago it ended. */
  probe?: { works: boolean; msAgo: number };
  /** SBCL's warning that its memory may be corrupted. */
  corrupted?: string;
  /** True when a command of the server starts the image, perhaps on another machine. */
  elsewhere?: true;
  /** True when somebody else runs the image. */
  attached?: true;
  /** That image, once it was found. */
  served?: Served;
  /** True when a signal has stopped the process of that image. */
  stopped?: true;
  /** Abilities that the agent lacks. */
  lacking?: Lacking;
  /** How earlier images ended, if this image was started plain (without internals of SBCL) because of
   *  them. */
  plainBecause?: readonly string[];
}

/** Data about an image's process and its start. */
interface Life {
  /** True when the image runs or is being started. */
  readonly running: boolean;
  /** True when the image is ready for calls. */
  readonly prepared: boolean;
  /** Asks the agent for its status; undefined before it has greeted. */
  readonly pulse: Pulse | undefined;
  /** Data of the operating system about the process, if the server runs it. */
  readonly outside?: Outside | undefined;
  /** Returns a meter: a function that returns for how many milliseconds the system has denied the process the
   *  CPU since the first call of the function. */
  denied?(): () => number;
  /** After this many milliseconds, an image that does not react is replaced. Absent for an image that the
   *  server cannot replace. */
  readonly frozenMs?: number;
  /** Why the last start failed, if it did. */
  readonly failure: string | undefined;
  /** The agent's greeting, if there was one. */
  readonly hello?: Lacking | undefined;
  /** SBCL's warning that its memory may be corrupted. */
  readonly corrupted?: string | undefined;
  readonly plainBecause?: readonly string[];
  /** True when a command of the server starts the image, perhaps on another machine. */
  readonly elsewhere?: true | undefined;
  /** True when somebody else runs the image. */
  readonly attached?: true;
  /** That image, once it was found. */
  readonly served?: Served | undefined;
  /** Returns whether a signal has stopped the process of that image. */
  stopped?(): boolean;
}

/** The losses of images, and the rebuild of the last one. */
interface Losses {
  /** How each image was lost whose loss no answer has reported yet, oldest first. */
  readonly unreported: readonly string[];
  /** Progress of the running rebuild, as a phrase. */
  readonly progress?: string | undefined;
}

/** Returns the state of an image. LIFE is what is known of its process and start, LOSSES the losses of
 *  earlier images, JOBS its calls, PROBE the last test of whether it works. Waits at most ANSWER_MS
 *  milliseconds for the agent's status. */
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
  const { number, operation, subject, phase, milliseconds, parent, stopping } = job;
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
    ...(stopping && { stopping: { reason: stopping.reason, milliseconds: performance.now() - stopping.at } }),
    ...agentFacts,
  };
}
