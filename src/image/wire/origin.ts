// Decides what is known of the code that asked for what runs now, and for what it would wait in vain.

import { AsyncLocalStorage } from 'node:async_hooks';
import { CallError } from '../../errors.ts';
import type { Peer } from './peer.ts';

/** Code that asks: of which peer, and the operations within which it runs, the innermost last. Each but the last
 *  waits for the next. */
interface Origin {
  peer: Peer;
  operations: readonly string[];
  /** The id of the innermost one there; a thread can work for none. */
  job: number | undefined;
}

const origin = new AsyncLocalStorage<Origin>();

/** Calls ACTION, and what that starts, for code from FROM. */
export function runFor<Value>(from: Origin, action: () => Value): Value {
  return origin.run(from, action);
}

/** Returns the peer whose code asked for what runs now, or undefined when a client did. */
export function codeCaller(): Peer | undefined {
  return origin.getStore()?.peer;
}

/** Returns the peer and the job whose code asked for what runs now, or undefined when a client did. */
export function callingJob(): { peer: Peer; job: number | undefined } | undefined {
  return origin.getStore();
}

/** Returns the operations within which the code runs that asked for what runs now; undefined when a client did. */
export function operationsAround(): readonly string[] | undefined {
  return origin.getStore()?.operations;
}

/** The operations that compile and take back what that defines: one at a time. */
export const COMPILATIONS: readonly string[] = ['compile-forms', 'check-file'];

/** Whether a compilation waits for what runs now, which so must not wait for the end of it. */
export function withinCompilation(): boolean {
  return operationsAround()?.some((name) => COMPILATIONS.includes(name)) === true;
}

/** Throws a CallError when the operation NAME would wait for one that waits for it. Code of a system that is being
 *  loaded lends it its lock, but cannot from another thread. */
export function checkCanEnd(name: string): void {
  if (name !== 'load-system' || !operationsAround()?.slice(0, -1).includes('load-system')) return;
  throw new CallError(
    'A system that is being loaded waits for the code that calls this. Only one is loaded at a time, so both would wait for ever. Load it from the code of that system itself, name it there in :depends-on, or load it afterwards.',
  );
}
