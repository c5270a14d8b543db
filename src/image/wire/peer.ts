// Decides what the rest of the program knows of whatever speaks our wire. That is our own SBCL, or the agent in an
// image that somebody else runs.

import type { AgentOperations } from './agent-operations.ts';
import type { Endable } from './ending-steps.ts';
import type { Answer } from './messages.ts';

/** One agent at the other end of a connection. */
export interface Peer {
  /** Whether it has gone, and answers no more. */
  readonly dead: boolean;
  /** The features of the image, as Image says. */
  readonly features: ReadonlySet<string>;
  /** Sends the request for the operation NAME, and returns its id and the promise of its answer. When the peer goes
   *  first, the answer tells of the loss. Throws a CallError when ARGS are too large or too deep. */
  request<Name extends keyof AgentOperations>(
    name: Name,
    args: AgentOperations[Name]['args'],
  ): { id: number; answer: Promise<Answer<Name>> };
  /** Sends the request for the operation NAME, whose answer nobody needs: a peer that gives none must cost nothing.
   *  Throws a CallError when ARGS are too large or too deep. */
  tell<Name extends keyof AgentOperations>(name: Name, args: AgentOperations[Name]['args']): void;
  /** Returns what it takes to end the job of the request ID. */
  job(id: number): Endable;
}
