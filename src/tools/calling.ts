// Converts the context of a tool call (progress, cancellation, timeout) to options of a call in the image.

import type { CallOptions } from '../image/wire/call.ts';
import type { Ending } from '../image/wire/endings.ts';
import type { CallContext } from '../kernel/tool.ts';
import { progressText } from './progress-text.ts';

export const TIMEOUT = {
  name: 'timeout',
  type: 'number',
  description: 'Seconds',
  minimum: 0.1,
  maximum: 86_400,
} as const;

/** Returns the advice to give a longer timeout if ENDING says that the timeout interrupted the call; else false. */
export function timeoutAdvice(ending: Ending): string | false {
  return (
    ending.kind === 'interrupted' &&
    ending.reason === 'timeout' &&
    ending.stoppedPid === undefined &&
    'If it needs longer, give a longer timeout (seconds).'
  );
}

/** Returns the call option for the argument `timeout`, which is a number of seconds. */
export function limitOption({ timeout }: { readonly timeout?: number }): { limitMs?: number } {
  return timeout === undefined ? {} : { limitMs: timeout * 1000 };
}

/** Returns the call options for cancellation, progress and output in the context of a tool call. */
export function callOptions({ signal, onProgress, onOutput, command }: CallContext): CallOptions {
  return {
    ...(command && { ofCommand: true }),
    ...(signal && { signal }),
    ...(onOutput && { onOutput }),
    ...(onProgress && { onProgress: (progress) => onProgress(progressText(progress)) }),
  };
}
