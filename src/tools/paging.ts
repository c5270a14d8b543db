// Defines the parameters `limit` and `offset`, with which callers read a long list in parts.

import { CallError } from '../errors.ts';
import type { CallContext } from '../kernel/tool.ts';

export const LIMIT = {
  name: 'limit',
  type: 'integer',
  minimum: 1,
  maximum: 2000,
} as const;
export const OFFSET = {
  name: 'offset',
  type: 'integer',
  minimum: 0,
} as const;

export interface PageArguments {
  readonly limit?: number;
  readonly offset?: number;
}

/** Maximum number of rows for Lisp code in the image that gives no limit. The size of an answer of the image is limited
 * too. */
const ALL_ROWS = 250_000;

/** Returns the offset and the limit of a call. If the caller gives no limit, a model gets USUAL rows, and Lisp code in
 * the image (`forData`) gets all rows. */
export function pageOf(
  { limit, offset = 0 }: PageArguments,
  { forData = false }: CallContext,
  usual = 200,
): { offset: number; limit: number } {
  return { offset, limit: limit ?? (forData ? ALL_ROWS : usual) };
}

/** Throws a CallError when Lisp code in the image gives no limit, and would get only some of TOTAL rows. */
export function checkWhole(
  { limit, offset = 0 }: PageArguments,
  { forData = false }: CallContext,
  total: number,
): void {
  if (!forData || limit !== undefined || total - offset <= ALL_ROWS) return;
  throw new CallError(
    `There are ${total} rows, but Lisp code gets at most ${ALL_ROWS} at once. Ask for fewer, or read them in parts with limit and offset.`,
  );
}
