// Defines the kinds of failure. They differ in who can act on them.

/** The model made a wrong call. The message says what was wrong and what to do. */
export class CallError extends Error {
  override name = 'CallError';
}

/** The arguments of a call are not those that its tool takes. */
export class ArgumentError extends CallError {}

/** No human answered a question in time. */
export class NoHumanAnswerError extends CallError {}

/** A person must set something up. The message names the step. */
export class SetupError extends Error {
  override name = 'SetupError';
}

/** The image was lost, interrupted or frozen, so it did not do what was requested. The message says what
 *  happened. */
export class ImageError extends Error {
  override name = 'ImageError';
}

/** The command line is wrong. The message is one sentence, and the process exits with code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Returns the message of ERROR, which can be any thrown value. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'what was thrown has no text';
  }
}
