// Defines Peer, the other end of the wire protocol: the agent, our Lisp code in an image of the server or of
// somebody else.

import type { Endable } from './ending-steps.ts';
import type { Answer } from './messages.ts';
import type { AgentOperations } from './operations.ts';

/** The agent at the other end of a connection. */
export interface Peer {
  /** True when the connection has ended, so that the peer cannot answer. */
  readonly dead: boolean;
  readonly features: ReadonlySet<string>;
  /** Requests the operation `name` with `args`. Returns the id of the request, and a promise of the answer.
   *  With `follow`, the job waits until `take-written` takes its output. If the peer ends first, the answer
   *  is the loss of the image. Throws a CallError when `args` are too large or too deep. */
  request<Name extends keyof AgentOperations>(
    name: Name,
    args: AgentOperations[Name]['args'],
    follow?: boolean,
  ): { id: number; answer: Promise<Answer<Name>> };
  /** Requests the operation `name` with `args`, and ignores the answer. So a peer that never answers does not
   *  fill the server's memory. Throws a CallError when `args` are too large or too deep. */
  notify<Name extends keyof AgentOperations>(name: Name, args: AgentOperations[Name]['args']): void;
  /** Returns the means to end the job of the request `id`. */
  job(id: number): Endable;
}
