// Decides what is told of an image at a moment, whatever it does: never waits for more than the agent's reader, and for
// that not long.

import { readFileSync } from 'node:fs';
import type { Reason } from '../image.ts';
import type { Lifetime } from '../process/lifetime.ts';
import { type LossReport, lossText } from '../recovery/loss-report.ts';
import type { Said } from '../wire/pulse.ts';
import type { Job, Jobs } from './jobs.ts';

/** What the agent says of a job that runs. */
interface AgentJob {
  id: number;
  frames?: string[];
  characters: number;
  lastLine?: string;
  file?: string;
  collectedMilliseconds?: number;
}

/** What the agent says of the image. */
export interface AgentStatus {
  version: string;
  package: string;
  /** Octets. */
  heapUsed: number;
  heapSize: number;
  /** How often garbage was collected, where this SBCL counts that, and for how long. */
  collections?: number;
  collectedMilliseconds: number;
  threads: number;
  programThreads: number;
  /** Of the program's threads, ten at most. */
  threadNames?: string[];
  jobs?: AgentJob[];
}

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
  pid?: number;
  uptimeMs?: number;
  imageRss?: number;
  /** Its process was stopped by a signal. */
  stopped?: boolean;
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
  /** What was lost with the image before, and what was rebuilt of it. */
  lastLoss?: string;
}

/** What is known of lost images. */
export interface Losses {
  /** How the images were lost that no new one has replaced yet. */
  readonly untold: readonly string[];
  readonly lastLoss: LossReport | undefined;
  /** How far the rebuild is that is under way, as a phrase. */
  readonly progress: string | undefined;
}

/** Milliseconds that the agent has to answer. */
const ANSWER_MS = 70;

/** Returns how the image of LIFETIME is. */
export async function imageStatus(lifetime: Lifetime, jobs: Jobs, losses: Losses): Promise<ImageStatus> {
  const { said, silentMs = 0 } = (lifetime.running && (await lifetime.pulse?.status(ANSWER_MS))) || {};
  const { child, running } = lifetime;
  const pid = running ? child?.pid : undefined;
  const state = stateOf(lifetime, jobs, losses, silentMs);
  const why = losses.untold.length > 0 ? losses.untold.join('; then ') : lifetime.failure;
  return {
    state,
    jobs: jobs.list().map((job) => jobStatus(job, said)),
    serverRss: process.memoryUsage.rss(),
    ...(pid !== undefined &&
      child && { pid, uptimeMs: performance.now() - child.startedAt, ...seenFromOutside(pid) }),
    ...(state === 'not reacting' && { silentMs, frozenMs: lifetime.frozenMs }),
    ...(running && said && { said: said.status, saidMsAgo: performance.now() - said.at }),
    ...((!running || state === 'rebuilding') && why !== undefined && { why }),
    ...(state === 'rebuilding' && losses.progress !== undefined && { building: losses.progress }),
    ...(losses.lastLoss !== undefined && {
      lastLoss: lossText(losses.lastLoss).replace(/^This is a new Lisp image; the/, 'The'),
    }),
  };
}

function stateOf(lifetime: Lifetime, jobs: Jobs, losses: Losses, silentMs: number): ImageState {
  const { child } = lifetime;
  if (!lifetime.running) return losses.untold.length > 0 ? 'lost' : 'not started';
  if (silentMs > 0) return 'not reacting';
  if (child === undefined || !lifetime.isPrepared(child)) {
    return losses.untold.length > 0 ? 'rebuilding' : 'starting';
  }
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

/** What Linux tells of the process PID: its memory in octets, and whether a signal has stopped it. */
function seenFromOutside(pid: number): Pick<ImageStatus, 'imageRss' | 'stopped'> {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const kilobytes = /^VmRSS:\s*(\d+) kB/m.exec(status)?.[1];
    return {
      ...(kilobytes !== undefined && { imageRss: 1024 * Number(kilobytes) }),
      ...(/^State:\s*T/m.test(status) && { stopped: true }),
    };
  } catch {
    return {}; // Not Linux, or the process is gone.
  }
}
