// Defines the kinds of failure, by who can act on them.

/** The model made a wrong call. TEXT says what was wrong and what to do. */
export class CallError extends Error {
  override name = 'CallError';
}

/** A person must set something up. TEXT names the step. */
export class SetupError extends Error {
  override name = 'SetupError';
}

/** The image did not do what was asked (gone, interrupted, frozen). TEXT says how it ended. */
export class ImageError extends Error {
  override name = 'ImageError';
}

/** The command line is wrong. TEXT is one sentence; the process exits with 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Returns the message of ERROR, whatever value was thrown. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'what was thrown has no text';
  }
}
