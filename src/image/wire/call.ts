// Defines types for the options, the reply and the progress of a call.

import type { Ending } from './endings.ts';
import type { JobProgress, Operations, Output } from './operations.ts';

/** The reply to a call: its ending, its output, and the data of the operation. The data can be incomplete. */
export interface Reply<Name extends keyof Operations> {
  ending: Ending;
  output?: Output;
  data: Operations[Name]['data'];
  /** Number of milliseconds for which the call waited in a queue; absent when it did not wait. */
  waitedMs?: number;
}

/** The progress of a call that runs or waits. */
export interface Progress extends JobProgress {
  milliseconds: number;
  /** The reason why the call waits: the image is being started, the backend is being compiled, or other calls of the
   * queue come first. In the last case, `running` calls of the queue run, and `waiting` calls wait before this one. */
  waiting?: 'start' | 'compiler' | { running: number; waiting: number };
  /** Number of milliseconds for which the image has not reacted; absent when it reacts. */
  silentMs?: number;
  /** The progress of rebuilding the lost image, as a phrase. The call runs after the rebuild. */
  building?: string;
}

export interface CallOptions {
  /** Maximum number of milliseconds that the call may take; absent for the default of the image. */
  limitMs?: number;
  signal?: AbortSignal;
  /** True for a call by a command. If the command cancels the call, no notice reports this to the client. */
  ofCommand?: boolean;
  onProgress?: (progress: Progress) => void;
  /** Called about once a second with new output. The call waits until the returned promise resolves, so that no output
   * is lost. With this function, the reply contains no output. */
  onOutput?: (text: string) => Promise<void>;
  /** The earlier call that this call continues, after an error stopped the earlier call. The reply to this call is then
   * also the reply to the earlier call. With `ifLeft`, the earlier call continues only if the code that this call
   * evaluates leaves the error by a non-local exit, such as a restart. */
  continues?: { name: keyof Operations; args: object; ifLeft?: boolean };
}
