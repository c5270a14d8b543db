// Decides what can become of a call: the data and the text of what its handler returned. It decides too which outcome
// carries what its reader must know besides.

import type { OpenQuestion } from './approval.ts';
import type { Result } from './tool.ts';

/** How a call was settled. A failure with a QUESTION needs an approval first: who can ask a human calls again with the
 *  verdict. RESULT is what it returned all the same, STRUCTURED is that of the result. CHANGED names the arguments that a
 *  human changed. HINT is for who asked through a client that can answer by itself. NOTE is that of the result. */
export type Settled = { changed?: string[]; hint?: string; note?: string } & (
  | { success: true; text: string; data: unknown; structured?: boolean }
  | { success: false; error: string; data?: unknown; result?: string; question?: OpenQuestion }
);

/** What became of a call. NOTICES are what its reader must know besides, told once. */
export type Outcome = { notices: string[] } & Settled;

/** Returns whether SETTLED carries notices. A question is no answer yet, so they wait for one. So they do when the
 *  result is structured, because some clients show their model nothing but the structure. */
export function carriesNotices(settled: Settled): boolean {
  return settled.success ? !settled.structured : settled.question === undefined;
}

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
