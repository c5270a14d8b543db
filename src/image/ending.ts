// Decides how a call ended, from the answer of the agent.

import type { Condition, Ending, Reason, Reply } from './image.ts';
import type { Operations } from './operations.ts';
import type { Message } from './wire.ts';

/** The members of an answer that tell how it ended. */
interface EndingMembers {
  lost?: string;
  fault?: string;
  condition?: Condition;
  interrupted?: { reason: Reason; frames?: string[]; cutShort?: boolean };
  aborted?: boolean;
}

/** Returns how the call ended that MESSAGE answers, AFTER_MS milliseconds after it began. */
export function endingOf(message: Message, afterMs: number): Ending {
  const { lost, fault, condition, interrupted: stopped, aborted } = message as EndingMembers;
  if (lost !== undefined) return { kind: 'lost', how: lost };
  if (fault !== undefined) return { kind: 'lost', how: `its agent failed: ${fault}` };
  if (condition) return { kind: 'condition', condition };
  if (stopped) return { kind: 'interrupted', frames: [], ...stopped, afterMs };
  return aborted ? { kind: 'aborted' } : { kind: 'done' };
}

/** Returns the reply to a call that was cancelled before it reached the image. */
export function notStarted<Name extends keyof Operations>(): Reply<Name> {
  return {
    ending: { kind: 'interrupted', reason: 'cancelled', frames: [], afterMs: 0 },
    data: {} as Operations[Name]['data'],
  };
}
