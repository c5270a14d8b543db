// Renders held errors: the condition, its frames and restarts, with the numbers that the tool debug uses.

import type { Reply } from '../../image/wire/call.ts';
import type {
  Condition,
  Frame,
  HeldError,
  Holding,
  Operations,
  Output,
} from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { conditionLines, outputSection } from '../endings.ts';
import { didYouMean } from '../natures.ts';
import type { Places } from '../places.ts';
import { callText } from '../stack.ts';

/** Returns the result of a call whose thread waits at the error HELD. */
export function heldResult(
  { ending, output, data }: Pick<Reply<keyof Operations>, 'ending' | 'output'> & { data: object },
  held: HeldError,
  places: Places,
): Result {
  const condition = ending.kind === 'condition' ? ending.condition : { type: 'unknown', text: 'unknown' };
  return {
    data: { held, condition, ...(output && { output }) },
    text: heldText(condition, held, places, { output, holding: data }),
    failed: true,
  };
}

function heldText(
  condition: Condition,
  held: HeldError,
  places: Places,
  { output, holding }: { output: Output | undefined; holding: Holding },
): string {
  const head = [...conditionLines(condition), didYouMean(condition.near)].filter(Boolean).join('\n');
  return joinSections([
    `${head}${slotsText(held)}\n${whereText(held)}`,
    framesText(condition, held, places),
    restartsText(condition, held),
    outputSection(output),
    holdingSection(holding),
  ]);
}

function slotsText({ slots = [] }: HeldError): string {
  return slots.map(({ name, value, id }) => `\n  ${name} = ${value}${id ? `  ${id}` : ''}`).join('');
}

function whereText({ error, seconds, thread, locks = [] }: HeldError): string {
  const where = thread === undefined ? '' : ` in the thread ${thread}`;
  const lockNames = locks.map((name) => `"${name}"`).join(', ');
  const lockNote =
    locks.length === 0
      ? ''
      : ` Its thread holds the ${locks.length === 1 ? 'lock' : 'locks'} ${lockNames}: threads that need ${locks.length === 1 ? 'it' : 'one'} wait.`;
  return `Held as error ${error}${where}, until ${seconds} s pass without a use of debug.${lockNote}`;
}

/** Returns lines for the frames of a held error, with the frame numbers that the tool debug uses. For consecutive
 * frames of libraries, there is only one line, which says how many they are. */
function framesText({ frames = [], moreFrames }: Condition, held: HeldError, places: Places): string {
  const foldsLibraries = frames.some((frame) => isOwn(frame, places));
  const lines: string[] = [];
  let number = 0;
  let hidden = 0;
  const showHidden = () => {
    if (hidden > 0) lines.push(`  ... ${hidden} ${hidden === 1 ? 'frame' : 'frames'} of libraries`);
    hidden = 0;
  };
  for (const [index, frame] of frames.entries()) {
    if (foldsLibraries && index > 0 && !isOwn(frame, places)) {
      hidden += 'folded' in frame ? frame.folded : 1;
    } else {
      showHidden();
      lines.push(
        'folded' in frame
          ? `  ... ${frame.folded} frames of SBCL and its libraries`
          : `  ${number}: ${callText(frame, places)}`,
      );
    }
    if ('call' in frame) number += 1;
  }
  showHidden();
  if (moreFrames !== undefined) lines.push(moreFramesText(moreFrames, number, held));
  return lines.length === 0 ? '' : `Frames:\n${lines.join('\n')}`;
}

/** Returns a line about the frames that are not shown, of which there are MORE. The tool debug can show some of them:
 * those with numbers from NEXT on, up to the last frame of the error. If there are such frames, the line names their
 * numbers. */
function moreFramesText(more: number, next: number, { frames = 0 }: HeldError): string {
  const hint =
    frames > next ? `, ${next} to ${frames - 1}; debug with frame shows one` : ' of SBCL and its libraries';
  return `  ... ${more} more frames${hint}`;
}

function restartsText({ restarts = [], moreRestarts }: Condition, { takes = [] }: HeldError): string | false {
  const lines = restarts.map(({ name, report }, index) => {
    const parameters = takes[index] ? ` (${takes[index]})` : '';
    return `  ${index} ${name}${parameters}: ${report.replace(/\s+/g, ' ')}`;
  });
  if (moreRestarts !== undefined)
    lines.push(`  ... ${moreRestarts} more restarts; (compute-restarts) in eval gives them`);
  return lines.length > 0 && `Restarts:\n${lines.join('\n')}`;
}

/** Returns lines about three things: the restarts that were invoked, the restarts that the caller chose but that were
 * not invoked because they need values, and the reason why an error was not held. */
export function holdingSection({ taken = [], takenTotal = 0, needingValues = [], notHeld }: Holding): string {
  const lines = taken.map(({ restart, text }) => `Took the restart ${restart}: ${text.replace(/\s+/g, ' ')}`);
  if (takenTotal > taken.length) lines.push(`... ${takenTotal - taken.length} more restarts were taken`);
  for (const name of needingValues)
    lines.push(
      `Note: the restart ${name} needs values, so it was not taken. With on_error: hold, debug can take it with values.`,
    );
  return [
    ...lines,
    ...(notHeld === undefined ? [] : [`Note: the error was not held, because ${notHeld}.`]),
  ].join('\n');
}

/** Returns the newest frame whose source is in the workspace; undefined when there is none. */
export function newestOwn(
  { frames = [] }: Condition,
  places: Places,
): Exclude<Frame, { folded: number }> | undefined {
  return frames
    .filter((frame) => 'call' in frame)
    .find((frame) => isOwn(frame, places) && frame.file !== undefined);
}

/** Returns true when the function of FRAME is from a file of the workspace or from an evaluation. */
function isOwn(frame: Frame, places: Places): boolean {
  if ('folded' in frame || frame.system) return false;
  return frame.file === undefined || places.isOwn(frame.file);
}
