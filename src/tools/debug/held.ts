// Types and options for calls about a held error. The thread of a held error waits in the debugger.

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

/** A call about a held error. The thread with this error waits in the debugger. */
export interface HeldErrorRequest extends DebugDependencies {
  readonly error: number;
  /** True when the call has already evaluated a fix. */
  readonly fixed?: boolean;
  readonly args: {
    readonly frame?: number;
    readonly values?: readonly string[];
    readonly package?: string;
    readonly timeout?: number;
  };
}

/** Returns the options of a call about a held error. */
export function heldCallOptions({ args, context }: HeldErrorRequest) {
  return { ...callOptions(context), ...limitOption(args) };
}

/** Returns the call options for evaluating code in a frame of the waiting thread. Such code can leave the
 * frame, and then the call that waits at the error continues. */
export function evalOptions(held: HeldErrorRequest) {
  const call = held.holds.call(held.error);
  return { ...heldCallOptions(held), ...(call && { continues: { ...call, ifLeft: true } }) };
}

/** Returns the argument for the requested frame, if any. */
export function frameOf({ args: { frame } }: HeldErrorRequest): { frame?: number } {
  return frame === undefined ? {} : { frame };
}
