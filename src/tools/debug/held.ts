// Defines types and options for calls about a held error. An error is held when its thread waits at it in the debugger.

import type { Image } from '../../image/image.ts';
import type { CallContext } from '../../kernel/tool.ts';
import { callOptions, limitOption } from '../calling.ts';
import type { Places } from '../places.ts';
import type { HeldToolCalls } from './hold.ts';

/** The objects with which the tool debug works. */
export interface DebugDependencies {
  readonly image: Image;
  readonly holds: HeldToolCalls;
  readonly places: Places;
  readonly context: CallContext;
}

/** A call of the tool debug about a held error, with the number `error`. */
export interface HeldErrorRequest extends DebugDependencies {
  readonly error: number;
  /** True when this call has already evaluated the code in its argument `fix`. */
  readonly fixed?: boolean;
  readonly args: {
    readonly frame?: number;
    readonly values?: readonly string[];
    readonly package?: string;
    readonly timeout?: number;
  };
}

/** Returns the options for cancellation, progress and timeout of a call in the image about a held error. */
export function heldCallOptions({ args, context }: HeldErrorRequest) {
  return { ...callOptions(context), ...limitOption(args) };
}

/** Returns the options of a call that evaluates code in a frame of the waiting thread. Such code can leave the frame;
 * then the call that waits at the error continues. */
export function evalOptions(held: HeldErrorRequest) {
  const call = held.holds.call(held.error);
  return { ...heldCallOptions(held), ...(call && { continues: { ...call, ifLeft: true } }) };
}

/** Returns the argument `frame` if the call gives a frame, else {}. */
export function frameOf({ args: { frame } }: HeldErrorRequest): { frame?: number } {
  return frame === undefined ? {} : { frame };
}
