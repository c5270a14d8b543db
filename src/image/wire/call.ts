// Decides what a call of an operation is given besides its arguments, and what it gives back.

import type { Doing } from './data.ts';
import type { Ending, Output } from './endings.ts';
import type { Operations } from './operations.ts';

/** What came back: how the call ended, what it wrote, and the operation's own data when it got that far. */
export interface Reply<Name extends keyof Operations> {
  ending: Ending;
  output?: Output;
  data: Operations[Name]['data'];
  /** How long it waited until fewer evaluations ran. */
  waitedMs?: number;
}

/** How a call is doing that is under way. */
export interface Progress extends Doing {
  /** Since it began. */
  milliseconds: number;
  /** What it waits for: the start of the image, the compiler of the agent, or a place. RUNNING have a place, and
   *  WAITING wait for one before it. */
  waiting?: 'start' | 'compiler' | { running: number; waiting: number };
  /** For how long the image has not reacted. */
  silentMs?: number;
  /** How far the lost image is built again, which the call waits for. */
  building?: string;
}

export interface CallOptions {
  /** Milliseconds after which the call is interrupted; the image's own limit when absent. */
  limitMs?: number;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** The call that this one goes on with: what becomes of it is taken for its answer. With IF_LEFT only when the answer
   *  says that it left the error. */
  continues?: { name: keyof Operations; args: object; ifLeft?: boolean };
}
