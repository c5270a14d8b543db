// Defines Peer, the other end of the wire protocol: the agent, our Lisp code in an image, whether the
// server or somebody else runs that image.

import type { Endable } from './ending-steps.ts';
import type { Answer } from './messages.ts';
import type { AgentOperations } from './operations.ts';

/** The agent at the other end of a connection. */
export interface Peer {
  /** True when the connection to the peer has ended, so it answers no more. */
  readonly dead: boolean;
  /** The features of the image, as in Image. */
  readonly features: ReadonlySet<string>;
  /** Requests the operation NAME with ARGS. With FOLLOW, the job waits until its output is taken by
   *  `take-written`. Returns the id of the request, and a promise of the answer. When
   *  the peer ends first, the answer says that the image was lost. Throws a CallError when ARGS are too large
   *  or too deep. */
  request<Name extends keyof AgentOperations>(
    name: Name,
    args: AgentOperations[Name]['args'],
    follow?: boolean,
  ): { id: number; answer: Promise<Answer<Name>> };
  /** Requests the operation NAME with ARGS, and ignores the answer. So a peer that never answers such
   *  requests does not fill the server's memory. Throws a CallError when ARGS are too large or too deep. */
  notify<Name extends keyof AgentOperations>(name: Name, args: AgentOperations[Name]['args']): void;
  /** Returns the means to end the job of the request ID. */
  job(id: number): Endable;
}
