// Decides how symbols are chosen by what they name.

import type { Result } from '../../kernel/tool.ts';

const TYPES: readonly string[] = ['function', 'macro', 'variable', 'class', 'generic-function'];

/** Chooses symbols by what they name; other values are answered by invalidType (S0.10). */
export const SYMBOL_TYPE = {
  name: 'type',
  type: 'string',
  description: 'Filter by type: function, macro, variable, class, generic-function',
  enum: TYPES,
  openEnum: true,
} as const;

/** Returns whether TYPE is one that SYMBOL_TYPE takes. */
export function isSymbolType(type: string): boolean {
  return TYPES.includes(type);
}

/** Returns the answer to a TYPE that is none (S0.10). */
export function invalidType(type: string): Result {
  return { data: { type }, text: `Invalid type: ${type}. Valid types: ${TYPES.join(', ')}`, absent: true };
}
