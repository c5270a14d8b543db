// Defines the extensions of MCP that sessions and commands use.

/** A key in the `_meta` of a result. Its value is the outcome of the call, a CallEnd. */
export const OUTCOME_KEY = 'live-lisp/outcome';

/** A key in `_meta`. In a request, true asks for the call's output while the call runs. In a progress notification, the
 * value is the next part of this output. The answer then does not contain the output. */
export const OUTPUT_KEY = 'live-lisp/output';

/** The notification by which a command interrupts its call. The parameter `requestId` is the id of the request. This
 * request is still answered, unlike one that is cancelled by MCP. */
export const INTERRUPT = 'live-lisp/interrupt';

/** The ways in which a call ends: it succeeds, it fails, its arguments are wrong, it needs a human's approval, or no
 * image is available. */
export type EndKind = 'good' | 'failed' | 'usage' | 'human' | 'image';

/** The outcome of a call, which a command finds in the result under OUTCOME_KEY: how the call ended, and its data for
 * code. `whole` is the complete text of the answer, if the result contains only a part of it. */
export interface CallEnd {
  ended: EndKind;
  data?: unknown;
  whole?: string;
}
