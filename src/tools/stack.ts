// Renders the frames of a stack.

import type { Frame } from '../image/wire/operations.ts';
import type { Places } from './places.ts';

/** The frames of a condition or of an interrupted call. The newest comes first. */
export interface Stack {
  frames?: Frame[];
}

/** Returns FRAME as text: the call, and its place as FILE:LINE:COLUMN if PLACES finds it. */
export function callText(frame: Extract<Frame, { call: string }>, places: Places | undefined): string {
  const { file, definition: name = '' } = frame;
  const place = file === undefined ? undefined : places?.locate(frame, { name });
  return place === undefined ? frame.call : `${frame.call}  ${place}`;
}

/** Returns the newest call in the frames; undefined when there is none. */
export function newestCall({ frames = [] }: Stack): string | undefined {
  const calls = frames.flatMap((frame) => ('call' in frame ? [frame.call] : []));
  return calls[0];
}

/** Returns a line for each frame, with calls numbered from 0. LINES returns further lines for a call. */
export function stackLines<Each extends Frame>(
  { frames = [] }: { frames?: Each[] },
  places: Places | undefined,
  lines: (frame: Extract<Each, { call: string }>, number: number) => string[] = () => [],
): string[] {
  let number = 0;
  return frames.flatMap((frame) => {
    if ('folded' in frame) return [`  ... ${frame.folded} frames of SBCL and its libraries`];
    const call = frame as Extract<Each, { call: string }>;
    const line = `  ${number}: ${callText(call, places)}`;
    return [line, ...lines(call, number++)];
  });
}
