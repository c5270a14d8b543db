// Defines the objects and options of a call about a held error.

import type { Image } from '../../image/image.ts';
import type { CallContext } from '../../kernel/tool.ts';
import { callOptions, limitOption } from '../calling.ts';
import type { Places } from '../places.ts';
import type { Holds } from './hold.ts';

/** The objects that a call of debug depends on. */
export interface DebugDependencies {
  readonly image: Image;
  readonly holds: Holds;
  readonly places: Places;
  readonly context: CallContext;
}

/** The held error that a call is about, and the arguments of the call. */
export interface Held extends DebugDependencies {
  readonly error: number;
  /** Whether the call has evaluated a fix before. */
  readonly fixed?: boolean;
  readonly args: {
    readonly frame?: number;
    readonly values?: readonly string[];
    readonly package?: string;
    readonly timeout?: number;
    readonly all?: boolean;
  };
}

/** Returns the call options for HELD. */
export function optionsOf({ args, context }: Held) {
  return { ...callOptions(context), ...limitOption(args) };
}

/** As optionsOf, for a call that evaluates code in a frame of HELD: that code can leave the frame. */
export function evalOptions(held: Held) {
  const call = held.holds.call(held.error);
  return { ...optionsOf(held), ...(call && { continues: { ...call, ifLeft: true } }) };
}

/** Returns the argument for the frame of HELD, if a frame was given. */
export function frameOf({ args: { frame } }: Held): { frame?: number } {
  return frame === undefined ? {} : { frame };
}
