// Types of a call's options, reply and progress.

import type { JobProgress } from './data.ts';
import type { Ending, Output } from './endings.ts';
import type { Operations } from './operations.ts';

/** The reply to a call: how the call ended, its output, and the data of the operation, which can be
 *  incomplete. */
export interface Reply<Name extends keyof Operations> {
  ending: Ending;
  output?: Output;
  data: Operations[Name]['data'];
  /** Milliseconds that the call waited in the queue, because too many evaluations ran. */
  waitedMs?: number;
}

/** Progress of a running or waiting call. */
export interface Progress extends JobProgress {
  /** Milliseconds since the call began. */
  milliseconds: number;
  /** What the call waits for: the start of the image, the compiler of the agent, or a place in a queue.
   *  RUNNING is the number of calls that have a place, WAITING the number of calls before this one. */
  waiting?: 'start' | 'compiler' | { running: number; waiting: number };
  /** For how many milliseconds the image has not reacted. */
  silentMs?: number;
  /** Progress of the rebuild that the call waits for, as a phrase. */
  building?: string;
}

export interface CallOptions {
  /** Time limit of the call in milliseconds; by default the image's own limit. */
  limitMs?: number;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** The earlier call that this call continues. The reply to this call then answers the earlier call too.
   *  With IF_LEFT, only if the reply says that the evaluated code left the held error (`left`). */
  continues?: { name: keyof Operations; args: object; ifLeft?: boolean };
}
