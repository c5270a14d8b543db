// Decides the parameters that many tools have in common, and how their arguments are read.

import { CallError } from '../errors.ts';
import type { CallOptions } from '../image/wire/call.ts';
import type { Ending } from '../image/wire/endings.ts';
import type { Arguments, CallContext, Parameter } from '../kernel/tool.ts';
import { progressText } from './progress.ts';

export const PACKAGE: Parameter = {
  name: 'package',
  type: 'string',
  description: 'Package name (defaults to CL-USER)',
};
export const LIMIT: Parameter = {
  name: 'limit',
  type: 'integer',
  description: 'How many lines to list at most (200 when absent)',
  minimum: 1,
  maximum: 2000,
};
export const OFFSET: Parameter = {
  name: 'offset',
  type: 'integer',
  description: 'How many lines to leave out at the beginning, to reach the rest of a long answer',
  minimum: 0,
};

/** Returns the argument NAME when it is a string with something in it; "" counts as absent (S0.11). */
export function stringArgument(args: Arguments, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Rows that code gets at most when it gives no limit; what crosses at once is bounded too. */
const ALL_ROWS = 250_000;

/** Returns which rows ARGS ask for: without a limit USUAL of them, or all when code reads them. */
export function pageArguments(
  args: Arguments,
  { forData = false }: CallContext,
  usual = 200,
): { offset: number; limit: number } {
  const limit = args['limit'] ?? (forData ? ALL_ROWS : usual);
  return { offset: Number(args['offset'] ?? 0), limit: Number(limit) };
}

/** Throws a CallError when code that set no limit in ARGS would get only a part of TOTAL rows. */
export function checkWhole(args: Arguments, { forData = false }: CallContext, total: number): void {
  if (!forData || args['limit'] !== undefined || total - Number(args['offset'] ?? 0) <= ALL_ROWS) return;
  throw new CallError(
    `There are ${total} rows, and code gets at most ${ALL_ROWS} at once. Ask for fewer, or for parts with limit and offset.`,
  );
}

/** Returns how CONTEXT watches a call in the image. */
export function callOptions({ signal, onProgress }: CallContext): CallOptions {
  return {
    ...(signal && { signal }),
    ...(onProgress && { onProgress: (progress) => onProgress(progressText(progress)) }),
  };
}

export const TIMEOUT: Parameter = {
  name: 'timeout',
  type: 'number',
  description: 'Seconds after which the call is interrupted; the image is kept',
  minimum: 0.1,
  maximum: 86_400,
};

/** Returns what to do when a call that takes `timeout` reached its limit. */
export function timeoutAdvice(ending: Ending): string | false {
  return (
    ending.kind === 'interrupted' &&
    ending.reason === 'timeout' &&
    'If it needs longer, give a longer timeout (seconds).'
  );
}

/** Returns the limit that the argument `timeout` sets. */
export function limitOption(timeout: unknown): { limitMs?: number } {
  return typeof timeout === 'number' ? { limitMs: timeout * 1000 } : {};
}
