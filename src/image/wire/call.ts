// Types of a call's options, reply and progress.

import type { Ending } from './endings.ts';
import type { JobProgress, Operations, Output } from './operations.ts';

/** The reply to a call: its ending, its output, and the data of the operation, which can be incomplete. */
export interface Reply<Name extends keyof Operations> {
  ending: Ending;
  output?: Output;
  data: Operations[Name]['data'];
  /** Milliseconds for which the call waited in a queue; absent when it did not. */
  waitedMs?: number;
}

/** Progress of a running or waiting call. */
export interface Progress extends JobProgress {
  milliseconds: number;
  /** The reason why the call waits: the start of the image, the compilation of the agent, or a queue.
   *  `running` is the number of running calls of the queue, `waiting` that of waiting calls before this
   *  one. */
  waiting?: 'start' | 'compiler' | { running: number; waiting: number };
  /** Milliseconds for which the image has not reacted. */
  silentMs?: number;
  /** Progress of the rebuild of a lost image, for which the call waits, as a phrase. */
  building?: string;
}

export interface CallOptions {
  /** Time limit of the call in milliseconds; by default the image's own limit. */
  limitMs?: number;
  signal?: AbortSignal;
  /** True for a call by a command. If the command cancels it, other readers get no notice. */
  ofCommand?: boolean;
  onProgress?: (progress: Progress) => void;
  /** Called about once a second with new output. The call waits until the returned promise resolves, so that
   *  no output is lost. The reply then has no output. */
  onOutput?: (text: string) => Promise<void>;
  /** The earlier call, stopped by a held error, that this call continues. The reply to this call then answers
   *  the earlier call too. With `ifLeft`, it does so only when the evaluated code left the held error by a
   *  non-local exit. */
  continues?: { name: keyof Operations; args: object; ifLeft?: boolean };
}
