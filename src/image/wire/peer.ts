// Defines how the rest of the program sees the other end of the wire protocol: our own SBCL, or the agent in
// an image that somebody else runs.

import type { AgentOperations } from './agent-operations.ts';
import type { Endable } from './ending-steps.ts';
import type { Answer } from './messages.ts';

/** The agent at the other end of a connection. */
export interface Peer {
  /** True when the connection to the peer has ended, so it answers no more. */
  readonly dead: boolean;
  /** The features of the image, as in Image. */
  readonly features: ReadonlySet<string>;
  /** Requests the operation NAME. Returns its id, and a promise of its answer, which reports a loss when the
   *  peer ends first. Throws a CallError when ARGS are too large or too deep. */
  request<Name extends keyof AgentOperations>(
    name: Name,
    args: AgentOperations[Name]['args'],
  ): { id: number; answer: Promise<Answer<Name>> };
  /** Requests the operation NAME and ignores the answer, so a peer that never answers takes no memory. Throws
   *  a CallError when ARGS are too large or too deep. */
  notify<Name extends keyof AgentOperations>(name: Name, args: AgentOperations[Name]['args']): void;
  /** Returns the means to end the job of the request ID. */
  job(id: number): Endable;
}
