// Tracks the code in an image that requested the current work of the server, and refuses operations that
// would deadlock.

import { AsyncLocalStorage } from 'node:async_hooks';
import { CallError } from '../../errors.ts';
import type { Peer } from './peer.ts';

interface Origin {
  /** The peer of the code's image. */
  peer: Peer;
  /** The operations around the code, innermost last. Each of them waits for the next. */
  operations: readonly string[];
  /** Id of the innermost operation's job; undefined for a thread that works for no operation. */
  job: number | undefined;
}

const origin = new AsyncLocalStorage<Origin>();

/** Calls ACTION and returns its value. Operations of ACTION, also later ones, count as requested by the code
 *  FROM. */
export function runFor<Value>(from: Origin, action: () => Value): Value {
  return origin.run(from, action);
}

/** Returns the peer whose code requested the current work; undefined when a client requested it. */
export function codeCaller(): Peer | undefined {
  return origin.getStore()?.peer;
}

/** Returns the peer and the job whose code requested the current work; undefined when a client requested
 *  it. */
export function callingJob(): { peer: Peer; job: number | undefined } | undefined {
  return origin.getStore();
}

/** Returns the operations around the code that requested the current work; undefined when a client requested
 *  it. */
export function enclosingOperations(): readonly string[] | undefined {
  return origin.getStore()?.operations;
}

/** Operations that compile code and then undo its definitions. Only one of them runs at a time. */
export const COMPILATIONS: readonly string[] = ['compile-forms', 'check-file'];

/** True when code within a compilation requested the current work. The compilation waits for this work, so
 *  the work must not wait for a compilation. */
export function withinCompilation(): boolean {
  return enclosingOperations()?.some((name) => COMPILATIONS.includes(name)) === true;
}

/** Throws a CallError when the operation NAME would deadlock with an operation that waits for it. Code of a
 *  system can load other systems during its load. Code in another thread cannot, because the loading thread
 *  holds ASDF's lock. */
export function checkNoDeadlock(name: string): void {
  if (name !== 'load-system' || !enclosingOperations()?.slice(0, -1).includes('load-system')) return;
  throw new CallError(
    'This call comes from code that the loading of another system waits for. Only one system is loaded at a time, so both would wait for ever. Have the code of that system load this one itself, name this one in its :depends-on, or load this one afterwards.',
  );
}
