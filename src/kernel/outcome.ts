// Defines outcomes of calls, converts handlers' values to results, and decides which outcomes carry notices.

import type { OpenQuestion } from './approval.ts';
import type { Result } from './tool.ts';

/** The end of a call. `note`, `structured` and `result` are as in Result. */
export type BareOutcome = {
  /** Names of the arguments that a human changed. */
  changed?: string[];
  /** Advice after a denial. A client without a human may have denied by itself. */
  hint?: string;
  note?: string;
  /** For a command: the whole text, when the other one is cut. */
  whole?: string;
} & (
  | {
      success: true;
      text: string;
      data: unknown;
      structured?: boolean;
    }
  | {
      success: false;
      error: string;
      data?: unknown;
      result?: string;
      /** The reason why the call did not run: wrong arguments, no approval, or no image. */
      cause?: 'usage' | 'human' | 'image';
      /** Set when the call needs an approval. The caller can ask a human, and call again with the verdict. */
      question?: OpenQuestion;
    }
);

/** The outcome of a call. `notices` are additional facts for the reader of the answer, each reported once. */
export type Outcome = { notices: string[] } & BareOutcome;

/** True when the answer with OUTCOME can carry notices. An open question is not the final answer, and some
 *  clients show their model only the structure of a structured result, so these cannot. */
export function carriesNotices(outcome: BareOutcome): boolean {
  return outcome.success ? !outcome.structured : outcome.question === undefined;
}

/** Returns VALUE of a handler as a Result (S2.8, C22). Its text is a string itself, `nil` for an absent value
 *  or false, an s-expression for a list, JSON for other objects. */
export function toResult(value: unknown): Result {
  if (isResult(value)) return value;
  return { data: value ?? null, text: typeof value === 'string' ? value : valueText(value) };
}

function isResult(value: unknown): value is Result {
  return typeof value === 'object' && value !== null && 'text' in value && 'data' in value;
}

/** Returns the text of VALUE, which is plain data, for a model. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === false) return 'nil';
  if (value === true) return 't';
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&')}"`;
  if (Array.isArray(value)) return value.length === 0 ? 'nil' : `(${value.map(valueText).join(' ')})`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
