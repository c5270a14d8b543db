// Names the member of a result that tells a command how its call ended.

/** Key in a result's `_meta`. */
export const OUTCOME_KEY = 'live-lisp/outcome';

/** How a call ended: it succeeded, failed, had wrong arguments, needs a human's approval, or has no image. */
export type Ended = 'good' | 'failed' | 'usage' | 'human' | 'image';
