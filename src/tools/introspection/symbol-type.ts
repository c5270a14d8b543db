// Defines the parameter that filters symbols by the kind of their definition.

import type { Result } from '../../kernel/tool.ts';

const TYPES: readonly string[] = ['function', 'macro', 'variable', 'class', 'generic-function'];

/** The parameter that filters symbols by type. For a value that is not in TYPES, a tool returns invalidType(value). */
export const SYMBOL_TYPE = {
  name: 'type',
  type: 'string',
  enum: TYPES,
  openEnum: true,
} as const;

/** Returns true when TYPE is a value of this parameter. */
export function isSymbolType(type: string): boolean {
  return TYPES.includes(type);
}

/** Returns the answer for the invalid value TYPE. */
export function invalidType(type: string): Result {
  return { data: { type }, text: `Invalid type: ${type}. Valid types: ${TYPES.join(', ')}`, absent: true };
}
