// Defines the outcomes of calls. Converts the return value of a tool's handler to a Result. Decides which answers can
// carry notices, which are messages to the model about something else than the call.

import type { OpenQuestion } from './approval.ts';
import type { Result } from './tool.ts';

/** The outcome of a call, without notices: the call has succeeded or failed, or it asks. It asks when it needs an
 * approval and no verdict was given with it. Then it has not run, and `question` is set. The caller asks a human, and
 * calls again with the verdict. If it can ask nobody, `error` is its answer.
 *
 * `note`, `structured` and `result` are as in Result. */
export type BareOutcome = {
  /** Names of the arguments that a human changed before approving the call. */
  changed?: string[];
  /** Advice after a denial, for the case that no human made it: a client without a human denies calls by itself. */
  hint?: string;
  note?: string;
  /** For a command, the complete text when `text` is cut. */
  whole?: string;
} & (
  | {
      success: true;
      text: string;
      data: unknown;
      structured?: boolean;
      question?: undefined;
    }
  | {
      success: false;
      error: string;
      data?: unknown;
      result?: string;
      /** The reason why the call did not run: 'usage' for wrong arguments, 'human' for a missing approval, 'image' for
       * a missing image. */
      cause?: 'usage' | 'human' | 'image';
      question?: undefined;
    }
  | {
      success: false;
      error: string;
      data?: undefined;
      result?: undefined;
      question: OpenQuestion;
    }
);

/** The outcome of a call. `notices` are further facts for the reader of the answer. Each is delivered once. */
export type Outcome = { notices: string[] } & BareOutcome;

/** Returns true when the answer for OUTCOME can carry notices. An open question cannot, because it is not the final
 * answer. A structured result cannot, because some clients show their model only the data. */
export function carriesNotices(outcome: BareOutcome): boolean {
  return outcome.question === undefined && !(outcome.success && outcome.structured);
}

/** Returns VALUE, from a handler, as a Result. If VALUE is not a Result, it becomes the data. The text is then VALUE
 * itself if it is a string, `nil` if it is absent or false, an s-expression if it is a list, and JSON if it is another
 * object. */
export function toResult(value: unknown): Result {
  if (isResult(value)) return value;
  return { data: value ?? null, text: typeof value === 'string' ? value : valueText(value) };
}

function isResult(value: unknown): value is Result {
  return typeof value === 'object' && value !== null && 'text' in value && 'data' in value;
}

/** Returns VALUE, plain data, as text for a model. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === false) return 'nil';
  if (value === true) return 't';
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&')}"`;
  if (Array.isArray(value)) return value.length === 0 ? 'nil' : `(${value.map(valueText).join(' ')})`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
