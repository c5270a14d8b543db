// Defines the filter of symbols by what they name.

import type { Result } from '../../kernel/tool.ts';

const TYPES: readonly string[] = ['function', 'macro', 'variable', 'class', 'generic-function'];

/** The parameter of the filter; invalidType answers any other value (S0.10). */
export const SYMBOL_TYPE = {
  name: 'type',
  type: 'string',
  description: 'Filter by type: function, macro, variable, class, generic-function',
  enum: TYPES,
  openEnum: true,
} as const;

/** True when TYPE is a value that SYMBOL_TYPE allows. */
export function isSymbolType(type: string): boolean {
  return TYPES.includes(type);
}

/** Returns the answer to an invalid TYPE (S0.10). */
export function invalidType(type: string): Result {
  return { data: { type }, text: `Invalid type: ${type}. Valid types: ${TYPES.join(', ')}`, absent: true };
}
