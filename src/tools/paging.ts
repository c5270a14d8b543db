// Decides how a long list is asked for in parts.

import { CallError } from '../errors.ts';
import type { CallContext } from '../kernel/tool.ts';

export const LIMIT = {
  name: 'limit',
  type: 'integer',
  description: 'Lines at most (default 200)',
  minimum: 1,
  maximum: 2000,
} as const;
export const OFFSET = {
  name: 'offset',
  type: 'integer',
  description: 'Lines to leave out first',
  minimum: 0,
} as const;

export interface PageArguments {
  readonly limit?: number;
  readonly offset?: number;
}

/** Rows that code gets at most when it gives no limit; what crosses at once is bounded too. */
const ALL_ROWS = 250_000;

/** Returns which rows ARGS ask for: without a limit USUAL of them, or all when code reads them. */
export function pageOf(
  { limit, offset = 0 }: PageArguments,
  { forData = false }: CallContext,
  usual = 200,
): { offset: number; limit: number } {
  return { offset, limit: limit ?? (forData ? ALL_ROWS : usual) };
}

/** Throws a CallError when code that set no limit in ARGS would get only a part of TOTAL rows. */
export function checkWhole(
  { limit, offset = 0 }: PageArguments,
  { forData = false }: CallContext,
  total: number,
): void {
  if (!forData || limit !== undefined || total - offset <= ALL_ROWS) return;
  throw new CallError(
    `There are ${total} rows, and code gets at most ${ALL_ROWS} at once. Ask for fewer, or for parts with limit and offset.`,
  );
}
