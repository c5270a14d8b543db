// Catches the errors that malformed answers of the image cause, and throws an ImageError with advice instead.

import { CallError, ImageError, SetupError } from '../errors.ts';
import type { Image } from '../image/image.ts';
import type { Tool } from '../kernel/tool.ts';

function unusableText({ isAttached }: Pick<Image, 'isAttached'>): string {
  const remedy = isAttached
    ? 'ask the user to load lisp/attach.lisp into it again'
    : 'restart_image makes a new image';
  return `The image sent a malformed answer, so the call failed. Code in the image may have written to the connection to live-lisp. Call again; if that does not help, ${remedy}. If calls still fail like this, live-lisp is at fault: please report it.`;
}

/** Returns TOOL with a handler and a preview that throw an ImageError when an answer of IMAGE is malformed. */
export function withAnswerChecks(tool: Tool, image: Pick<Image, 'isAttached'>): Tool {
  const { handler, preview } = tool;
  const checked = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      return await work();
    } catch (error) {
      throw isMalformedAnswer(error) ? new ImageError(unusableText(image), { cause: error }) : error;
    }
  };
  return {
    ...tool,
    handler: (args, context) => checked(async () => checkText(await handler(args, context))),
    ...(preview && { preview: (args, context) => checked(() => preview(args, context)) }),
  };
}

function checkText(result: unknown): unknown {
  const { text } = Object(result) as { text?: unknown };
  if (typeof result === 'object' && typeof text !== 'string') throw new TypeError('there is no text');
  return result;
}

/** Returns true when ERROR is of a kind that malformed data from the image causes. An error with a code is from the
 * operating system, so it is not of this kind. */
function isMalformedAnswer(error: unknown): boolean {
  const ours = error instanceof CallError || error instanceof SetupError || error instanceof ImageError;
  return !ours && (error instanceof TypeError || error instanceof RangeError) && !('code' in error);
}
