// Decides how a tool calls the image: who hears how the call does, who ends it, and the limit that a caller can set.

import type { CallOptions } from '../image/wire/call.ts';
import type { Ending } from '../image/wire/endings.ts';
import type { CallContext } from '../kernel/tool.ts';
import { progressText } from './progress-text.ts';

export const TIMEOUT = {
  name: 'timeout',
  type: 'number',
  description: 'Seconds until the call is interrupted; the image is kept',
  minimum: 0.1,
  maximum: 86_400,
} as const;

/** Returns what to do when a call that takes `timeout` reached its limit. */
export function timeoutAdvice(ending: Ending): string | false {
  return (
    ending.kind === 'interrupted' &&
    ending.reason === 'timeout' &&
    'If it needs longer, give a longer timeout (seconds).'
  );
}

/** Returns the limit that the argument `timeout` sets. */
export function limitOption({ timeout }: { readonly timeout?: number }): { limitMs?: number } {
  return timeout === undefined ? {} : { limitMs: timeout * 1000 };
}

/** Returns how CONTEXT watches a call in the image. */
export function callOptions({ signal, onProgress }: CallContext): CallOptions {
  return {
    ...(signal && { signal }),
    ...(onProgress && { onProgress: (progress) => onProgress(progressText(progress)) }),
  };
}
