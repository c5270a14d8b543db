// Defines the outcome of a call, converts handlers' values to results, and decides which outcomes carry notices.

import type { OpenQuestion } from './approval.ts';
import type { Result } from './tool.ts';

/** How a call was settled. A failure with QUESTION needs an approval: the caller may ask a human, then call again with
 *  the verdict. RESULT is what a failed call returned all the same. CHANGED names arguments that a human changed. HINT
 *  is for callers whose client may have answered without a human. STRUCTURED and NOTE are those of Result. */
export type Settled = { changed?: string[]; hint?: string; note?: string } & (
  | { success: true; text: string; data: unknown; structured?: boolean }
  | { success: false; error: string; data?: unknown; result?: string; question?: OpenQuestion }
);

/** The outcome of a call. NOTICES are further facts for its reader, each reported once. */
export type Outcome = { notices: string[] } & Settled;

/** True when the answer SETTLED can carry notices. An open question cannot, because it is no final answer; nor can a
 *  structured result, because some clients show their model only the structure. */
export function carriesNotices(settled: Settled): boolean {
  return settled.success ? !settled.structured : settled.question === undefined;
}

/** Returns VALUE, from a handler, as a Result (S2.8, C22). The text of a string is itself, of nothing `nil`, of a list
 *  an s-expression, of a number its digits, and of any other object its JSON. */
export function toResult(value: unknown): Result {
  if (isResult(value)) return value;
  return { data: value ?? null, text: typeof value === 'string' ? value : valueText(value) };
}

function isResult(value: unknown): value is Result {
  return typeof value === 'object' && value !== null && 'text' in value && 'data' in value;
}

/** Returns the text of VALUE, plain data, for a model. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === false) return 'nil';
  if (value === true) return 't';
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&')}"`;
  if (Array.isArray(value)) return value.length === 0 ? 'nil' : `(${value.map(valueText).join(' ')})`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
