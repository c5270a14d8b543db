// Types of a call's options, reply and progress.

import type { Ending } from './endings.ts';
import type { JobProgress, Operations, Output } from './operations.ts';

/** The reply to a call: how the call ended, its output, and the data of the operation, which can be
 *  incomplete. */
export interface Reply<Name extends keyof Operations> {
  ending: Ending;
  output?: Output;
  data: Operations[Name]['data'];
  /** Milliseconds for which the call waited in a queue behind other calls; absent when it did not wait
   *  there. */
  waitedMs?: number;
}

/** Progress of a running or waiting call. */
export interface Progress extends JobProgress {
  /** Milliseconds since the call began. */
  milliseconds: number;
  /** The event for which the call waits: the start of the image, the compilation of the agent, or the end of
   *  earlier calls in a queue. `running` is the number of calls of the queue that run, `waiting` the number
   *  of calls that wait before this call. */
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
  /** True when a command makes the call. If the command cancels the call, other readers get no notice of
   *  that. */
  ofCommand?: boolean;
  onProgress?: (progress: Progress) => void;
  /** Called about once a second with the next part of the output; resolves when it can take another. After such a
   *  call the reply has no output. Meanwhile the call waits rather than that output is lost. */
  onOutput?: (text: string) => Promise<void>;
  /** The earlier call, stopped by a held error, that this call continues. The reply to this call then answers
   *  the earlier call too; with `ifLeft`, only when the reply says that the evaluated code left the held
   *  error by a non-local exit. */
  continues?: { name: keyof Operations; args: object; ifLeft?: boolean };
}
