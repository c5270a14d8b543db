// What the calls about held errors share. A held error is one whose thread is stopped for debugging.

import type { Image } from '../../image/image.ts';
import type { CallContext } from '../../kernel/tool.ts';
import { callOptions, limitOption } from '../calling.ts';
import type { Places } from '../places.ts';
import type { HeldToolCalls } from './hold.ts';

/** The objects that the tool debug works with. */
export interface DebugDependencies {
  readonly image: Image;
  readonly holds: HeldToolCalls;
  readonly places: Places;
  readonly context: CallContext;
}

/** The held error (one whose thread is stopped for debugging) that a call is about, with the arguments of
 *  that call. */
export interface HeldErrorRequest extends DebugDependencies {
  readonly error: number;
  /** True when the same call has already evaluated a fix. */
  readonly fixed?: boolean;
  readonly args: {
    readonly frame?: number;
    readonly values?: readonly string[];
    readonly package?: string;
    readonly timeout?: number;
  };
}

/** Returns the call options for a request about the held error HELD. */
export function heldCallOptions({ args, context }: HeldErrorRequest) {
  return { ...callOptions(context), ...limitOption(args) };
}

/** Returns the call options for evaluating code in a frame of the thread that HELD has stopped. Such code can
 *  leave the frame, so that the call which the error stopped continues. */
export function evalOptions(held: HeldErrorRequest) {
  const call = held.holds.call(held.error);
  return { ...heldCallOptions(held), ...(call && { continues: { ...call, ifLeft: true } }) };
}

/** Returns the argument that names the frame to use, if the call has one. */
export function frameOf({ args: { frame } }: HeldErrorRequest): { frame?: number } {
  return frame === undefined ? {} : { frame };
}
