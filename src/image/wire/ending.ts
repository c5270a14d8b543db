// Decides how a call ended, from the answer of the agent.

import type { Condition, Ending, Interruption, Reply } from '../image.ts';
import type { Job } from '../session/jobs.ts';
import type { Message } from './frames.ts';
import type { Operations } from './operations.ts';

/** The members of an answer that tell how it ended. */
interface EndingMembers {
  lost?: string;
  fault?: string;
  condition?: Condition;
  interrupted?: Pick<Interruption, 'reason'> & Partial<Interruption>;
  aborted?: boolean;
}

/** Returns how the call ended that MESSAGE answers, AFTER_MS milliseconds after it began. */
export function endingOf(message: Message, afterMs: number): Ending {
  const { lost, fault, condition, interrupted: stopped, aborted } = message as EndingMembers;
  if (lost !== undefined) return { kind: 'lost', how: lost };
  if (fault !== undefined) return { kind: 'lost', how: `its agent failed: ${fault}` };
  if (condition) return { kind: 'condition', condition };
  if (stopped) return { frames: [], ...stopped, kind: 'interrupted', afterMs };
  return aborted ? { kind: 'aborted' } : { kind: 'done' };
}

/** Returns the reply to the call of JOB, which was ended before it reached the image. */
export function notBegun<Name extends keyof Operations>({ reason, milliseconds }: Job): Reply<Name> {
  return {
    ending: { kind: 'interrupted', reason, frames: [], afterMs: milliseconds, notBegun: true },
    data: {} as Operations[Name]['data'],
  };
}
