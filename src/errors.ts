// Defines the kinds of errors. They differ in who can correct them.

/** Thrown when the model has made a wrong call. The message says what is wrong and what to do. */
export class CallError extends Error {
  override name = 'CallError';
}

/** Thrown when the arguments of a call do not match the parameters of its tool. */
export class ArgumentError extends CallError {}

/** Thrown when no human answers a question in time. */
export class NoHumanAnswerError extends CallError {}

/** Thrown when a person must set something up. The message says what to do. */
export class SetupError extends Error {
  override name = 'SetupError';
}

/** Thrown when the image was lost, was interrupted or froze during a request. The message describes what happened. */
export class ImageError extends Error {
  override name = 'ImageError';
}

/** Thrown when the command line is wrong. The message is one sentence. The process then exits with code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Returns the message of ERROR, which may be any value that was thrown. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'what was thrown has no text';
  }
}
