// Names what commands and sessions tell each other besides MCP.

/** Key in a result's `_meta`. */
export const OUTCOME_KEY = 'live-lisp/outcome';

/** The notification by which a shell command interrupts its call. The parameter `requestId` is the id of
 *  the call's request, which is still answered, unlike a request that MCP cancels. */
export const INTERRUPT = 'live-lisp/interrupt';

/** How a call ended: it succeeded, failed, had wrong arguments, needs a human's approval, or has no image. */
export type EndKind = 'good' | 'failed' | 'usage' | 'human' | 'image';
