// Decides the limit that a caller can set to a call in the image.

import type { Ending } from '../image/wire/endings.ts';

export const TIMEOUT = {
  name: 'timeout',
  type: 'number',
  description: 'Seconds after which the call is interrupted; the image is kept',
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
