// Limits the running time of a tool, and stops waiting for calls that do not end.

import { CallError } from '../errors.ts';
import type { CallContext, Tool } from './tool.ts';

/** Milliseconds in which a tool must end after its signal was aborted. */
const GRACE_MS = 2000;

/** Longest delay of Node's timers, in milliseconds. A timer with a longer delay fires at once. */
const LONGEST_MS = 0x7fffffff;

/** Runs WORK for TOOL and returns its value. WORK gets a signal that aborts when the call is cancelled or TOOL's time
 * limit has passed. In the second case, the reason is a TimeoutError, as with AbortSignal.timeout. If WORK does not end
 * within GRACE_MS after this, throws a CallError and ignores WORK. */
export async function withinLimit<Value>(
  tool: Tool,
  context: CallContext,
  work: (context: CallContext) => Value | Promise<Value>,
): Promise<Value> {
  if (tool.limitMs > LONGEST_MS) return work(context);
  const controller = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  let cancel = () => {};
  try {
    return await new Promise<Value>((resolve, reject) => {
      const giveUp = () => reject(new CallError(givenUpText(tool, context)));
      const stop = (why: unknown) => {
        controller.abort(why);
        timers.push(setTimeout(giveUp, GRACE_MS));
      };
      cancel = () => stop(context.signal?.reason);
      const timeOut = () => stop(new DOMException(`The limit of ${tool.name} is over.`, 'TimeoutError'));
      timers.push(setTimeout(timeOut, tool.limitMs));
      context.signal?.addEventListener('abort', cancel);
      Promise.resolve(work({ ...context, signal: controller.signal })).then(resolve, reject);
    });
  } finally {
    context.signal?.removeEventListener('abort', cancel);
    for (const timer of timers) clearTimeout(timer);
  }
}

function givenUpText({ name, limitMs }: Tool, { signal }: CallContext): string {
  const why = signal?.aborted
    ? 'when the call was cancelled'
    : `within ${limitMs / 1000} s, the limit of ${name}`;
  return `The call did not end ${why}. Its result is no longer awaited, and what the call began may go on. Ask for less in one call.`;
}
