// Tracks which code in an image has requested the current work of the server, and refuses operations that would
// deadlock.

import { AsyncLocalStorage } from 'node:async_hooks';
import { CallError } from '../../errors.ts';
import type { Peer } from './peer.ts';

interface Origin {
  /** The peer in whose image the code runs. */
  peer: Peer;
  /** The operations that the code runs in. The innermost comes last. Each of them waits for the next one. */
  operations: readonly string[];
  /** The id of the job of the innermost operation; undefined when the thread of the code belongs to no operation. */
  job: number | undefined;
}

const origin = new AsyncLocalStorage<Origin>();

/** Calls ACTION and returns its value. Marks all operations that ACTION starts, even later, as requested by the code
 * FROM. */
export function runFor<Value>(from: Origin, action: () => Value): Value {
  return origin.run(from, action);
}

/** Returns the peer whose code has requested the current work; undefined when a client has requested it. */
export function codeCaller(): Peer | undefined {
  return origin.getStore()?.peer;
}

/** Returns the peer and the job whose code has requested the current work; undefined when a client has requested it. */
export function callingJob(): { peer: Peer; job: number | undefined } | undefined {
  return origin.getStore();
}

/** Returns `operations` of the code that has requested the current work; undefined when a client has requested it. */
export function enclosingOperations(): readonly string[] | undefined {
  return origin.getStore()?.operations;
}

/** Operations that compile code and then undo its definitions. Only one of them runs at a time. */
export const COMPILATIONS: readonly string[] = ['compile-forms', 'check-file'];

/** Returns true when the current work was requested by code that runs in a compilation. The compilation waits for the
 * work, so the work must not wait for a compilation. */
export function withinCompilation(): boolean {
  return enclosingOperations()?.some((name) => COMPILATIONS.includes(name)) === true;
}

/** Throws a CallError when the operation NAME would wait for ever, because it was requested by an operation that waits
 * for it. This concerns loads of systems. While ASDF loads a system, code in the same thread can load other systems.
 * Code in another thread cannot, because the loading thread holds ASDF's lock. */
export function checkNoDeadlock(name: string): void {
  if (name !== 'load-system' || !enclosingOperations()?.slice(0, -1).includes('load-system')) return;
  throw new CallError(
    'Another system is being loaded. That load waits for the code that made this call, and this call would wait for that load, so neither would end. Let the code of that system load this one directly, name this one in the :depends-on of that system, or load this one afterwards.',
  );
}
