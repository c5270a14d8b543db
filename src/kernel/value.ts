// Decides how what a handler returns becomes data for code and text for a model.

import type { Result } from './tool.ts';

/** Returns VALUE, which a handler returned, as a Result (S2.8, C22). A string is its own text and nothing is `nil`. A
 *  list is an s-expression, a number is printed, and any other object is its JSON. */
export function toResult(value: unknown): Result {
  if (isResult(value)) return value;
  return { data: value ?? null, text: typeof value === 'string' ? value : valueText(value) };
}

function isResult(value: unknown): value is Result {
  return typeof value === 'object' && value !== null && 'text' in value && 'data' in value;
}

/** Returns how VALUE, which is data and no Result, reads for a model. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === false) return 'nil';
  if (value === true) return 't';
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&')}"`;
  if (Array.isArray(value)) return value.length === 0 ? 'nil' : `(${value.map(valueText).join(' ')})`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
