// Decides whether a message of a client is nested too deep.

import { isDeeper } from '../json.ts';

/** Maximum number of nested levels in a message. The SDK and this server read some values by recursion, which exhausts
 * the stack at a few thousand levels. */
const LEVELS_LIMIT = 1000;

export const TOO_DEEP = `nested more than ${LEVELS_LIMIT} levels deep, so nothing was done. Nest its arguments less.`;

/** Returns true when MESSAGE, whose JSON has LENGTH characters, is nested too deep. */
export function isTooDeep(message: unknown, length: number): boolean {
  return length > LEVELS_LIMIT && isDeeper(message, LEVELS_LIMIT);
}
