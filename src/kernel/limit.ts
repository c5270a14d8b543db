// Decides how long a handler may take, and what becomes of a call whose handler does not end.

import { CallError } from '../errors.ts';
import type { Arguments, CallContext, Tool } from './tool.ts';

/** Milliseconds that a handler has to end once it was told to. */
const GRACE_MS = 2000;

/** Returns what the handler of TOOL gives for ARGS. Its signal tells it when the call is cancelled or its limit is
 *  over; when it does not end even then, this throws a CallError and the handler is left alone. */
export async function withinLimit(tool: Tool, args: Arguments, context: CallContext): Promise<unknown> {
  if (tool.limitMs === Number.POSITIVE_INFINITY) return tool.handler(args, context);
  const limit = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const after = (milliseconds: number, act: () => void) => timers.push(setTimeout(act, milliseconds));
  const stop = () => limit.abort();
  try {
    return await new Promise((resolve, reject) => {
      const giveUp = () => reject(new CallError(givenUpText(tool, context)));
      limit.signal.addEventListener('abort', () => after(GRACE_MS, giveUp));
      after(tool.limitMs, stop);
      context.signal?.addEventListener('abort', stop);
      if (context.signal?.aborted) stop();
      Promise.resolve(tool.handler(args, { ...context, signal: limit.signal })).then(resolve, reject);
    });
  } finally {
    context.signal?.removeEventListener('abort', stop);
    for (const timer of timers) clearTimeout(timer);
  }
}

function givenUpText({ name, limitMs }: Tool, { signal }: CallContext): string {
  const why = signal?.aborted
    ? 'when the call was cancelled'
    : `within ${limitMs / 1000} s, the limit of ${name}`;
  return `The call did not end ${why}, and nobody waits for it any more; what it began may go on. Ask for less at once.`;
}
