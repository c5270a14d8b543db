// Defines the parameters on_error, restarts and debug_level. With on_error, the image keeps an error, with its
// frames and restarts, for the tool debug.

import type { HeldCalls } from '../../image/session/held.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { HeldError, Hold, Operations } from '../../image/wire/operations.ts';
import type { Result } from '../../kernel/tool.ts';
import type { KeepFolder } from '../../temporary-folder.ts';
import type { Places } from '../places.ts';
import { heldResult } from './held-text.ts';

export type HeldToolCalls = HeldCalls<Result>;

export const ON_ERROR = {
  name: 'on_error',
  type: 'string',
  description: 'hold keeps it for debug',
  enum: ['end', 'hold'],
} as const;

export const RESTARTS = {
  name: 'restarts',
  type: 'array',
  items: { type: 'string' },
  description: 'Such as CONTINUE',
} as const;

export const DEBUG_LEVEL = {
  name: 'debug_level',
  type: 'integer',
  description: '3 keeps all variables',
  minimum: 0,
  maximum: 3,
} as const;

/** Converts the tool arguments on_error, restarts and debug_level to arguments of an operation of the image. */
export function errorOptions(
  args: {
    readonly on_error?: 'end' | 'hold';
    readonly restarts?: readonly string[];
    readonly debug_level?: number;
  },
  holds: HeldToolCalls,
): Hold {
  const { on_error, restarts, debug_level } = args;
  return {
    ...(on_error === 'hold' && { hold: holds.seconds, ...heldAbove(holds) }),
    ...(restarts !== undefined && { restarts }),
    ...(debug_level !== undefined && { debugLevel: debug_level }),
  };
}

/** Returns the argument `heldAbove`, the highest number of a held error in a lost image; {} when there was none. A new
 * image gives its errors higher numbers. */
export function heldAbove({ highestLost }: HeldToolCalls): { heldAbove?: number } {
  return highestLost > 0 ? { heldAbove: highestLost } : {};
}

/** Returns the result for REPLY of the operation `name`. If REPLY reports a held error, the result shows this error.
 * Otherwise FINISH makes the result. If an error is held, `keep` is called, so that the temporary folder of the call
 * stays until the held call has ended. */
export function heldResultOr<Name extends keyof Operations>(
  reply: Reply<Name>,
  {
    name,
    args,
    holds,
    places,
    keep,
  }: { name: Name; args: Operations[Name]['args']; holds: HeldToolCalls; places: Places; keep?: KeepFolder },
  finish: (reply: Reply<Name>) => Result,
): Result {
  const { held } = reply.data as { held?: HeldError };
  if (held === undefined) return finish(reply);
  holds.keep(held, name, args, finish, keep?.());
  return heldResult(reply, held, places);
}
