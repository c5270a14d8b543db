// Defines what sessions and commands exchange besides MCP.

/** Key of the outcome of a call in the `_meta` of its result. */
export const OUTCOME_KEY = 'live-lisp/outcome';

/** Key in `_meta`. In a request, the value true asks for output while the call runs. In a progress notification, the
 *  value is the next part of the call's output; the answer then leaves the output out. */
export const OUTPUT_KEY = 'live-lisp/output';

/** The notification by which a shell command interrupts its call. The parameter `requestId` is the id of
 *  the call's request, which is still answered, unlike a request that MCP cancels. */
export const INTERRUPT = 'live-lisp/interrupt';

/** How a call ended: it succeeded, failed, had wrong arguments, needs a human's approval, or has no image. */
export type EndKind = 'good' | 'failed' | 'usage' | 'human' | 'image';

/** The outcome of a call, which its result has for the command under OUTCOME_KEY: how the call ended, and its
 *  data for code. WHOLE is the whole text of the answer, if the result has only a part of it. */
export interface CallEnd {
  ended: EndKind;
  data?: unknown;
  whole?: string;
}
