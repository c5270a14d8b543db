// Defines Peer, the other side of the connection: the backend, the Lisp part of live-lisp, in an image that the server
// started, or in one that somebody else runs.

import type { Endable } from './ending-steps.ts';
import type { Answer } from './messages.ts';
import type { BackendOperations } from './operations.ts';

/** The backend at the other end of a connection. */
export interface Peer {
  /** True when the connection has ended, so that the peer cannot answer any more. */
  readonly dead: boolean;
  readonly features: ReadonlySet<string>;
  /** Requests the operation `name` with `args`. Returns the id of the request, and a promise of the answer. With
   * `follow`, no output is lost: when much output is waiting, the job writes no more until the operation `take-written`
   * has fetched it. If the peer ends before it has answered, the answer is that the image was lost. Throws a CallError
   * when `args` are too large, or nested too deeply. */
  request<Name extends keyof BackendOperations>(
    name: Name,
    args: BackendOperations[Name]['args'],
    follow?: boolean,
  ): { id: number; answer: Promise<Answer<Name>> };
  /** Requests the operation `name` with `args`, and ignores the answer. Nothing is stored for the answer, so a peer
   * that never answers cannot fill the server's memory. Throws a CallError when `args` are too large, or nested too
   * deeply. */
  notify<Name extends keyof BackendOperations>(name: Name, args: BackendOperations[Name]['args']): void;
  /** Returns the functions by which the job of the request `id` can be ended. */
  job(id: number): Endable;
}
