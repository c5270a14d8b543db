// Decides what a call about a held error knows of it.

import type { Image } from '../../image/image.ts';
import type { CallContext } from '../../kernel/tool.ts';
import { callOptions, limitOption } from '../calling.ts';
import type { Places } from '../places.ts';
import type { Holds } from './hold.ts';

/** What a call of debug works on. */
export interface Grounds {
  readonly image: Image;
  readonly holds: Holds;
  readonly places: Places;
  readonly context: CallContext;
}

/** A held error that a call is about. */
export interface Held extends Grounds {
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

/** Returns how HELD watches its calls in the image. */
export function optionsOf({ args, context }: Held) {
  return { ...callOptions(context), ...limitOption(args) };
}

/** Returns the same for a call that evaluates where HELD is: what it evaluates can leave that. */
export function lookOptions(held: Held) {
  const call = held.holds.call(held.error);
  return { ...optionsOf(held), ...(call && { continues: { ...call, ifLeft: true } }) };
}

/** Returns the frame that HELD is about, as the image takes it. */
export function frameOf({ args: { frame } }: Held): { frame?: number } {
  return frame === undefined ? {} : { frame };
}
