// Defines the kinds of failure. They differ in the person or program that can act.

/** The model made a wrong call. The message has the mistake and advice. */
export class CallError extends Error {
  override name = 'CallError';
}

/** The arguments of a call do not fit its tool. */
export class ArgumentError extends CallError {}

/** No human answered a question in time. */
export class NoHumanAnswerError extends CallError {}

/** A person must set something up. The message names the step. */
export class SetupError extends Error {
  override name = 'SetupError';
}

/** The image was lost, interrupted or frozen during a request. The message describes the event. */
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
