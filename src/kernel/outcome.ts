// Decides what can become of a call, and which outcome carries what its reader must know besides.

import type { Question } from './approval.ts';

/** How a call was settled. A failure with a QUESTION needs an approval first: who can ask a human calls again with the
 *  verdict. STRUCTURED is that of the result. */
export type Settled =
  | { success: true; text: string; data: unknown; structured?: boolean }
  | { success: false; error: string; data?: unknown; question?: Question };

/** What became of a call. NOTICES are what its reader must know besides, told once. */
export type Outcome = { notices: string[] } & Settled;

/** Returns whether SETTLED carries notices. A question is no answer yet, so they wait for one. So they do when the
 *  result is structured, because some clients show their model nothing but the structure. */
export function carriesNotices(settled: Settled): boolean {
  return settled.success ? !settled.structured : settled.question === undefined;
}
