// Renders the endings of a call in the image: conditions, interruptions, losses.

import { type Ending, type Interruption, wholeText } from '../image/wire/endings.ts';
import type { Condition, Output } from '../image/wire/operations.ts';
import { boundText, joinSections } from '../kernel/reply.ts';
import { didYouMean } from './natures.ts';
import type { Places } from './places.ts';
import { type Stack, stackLines } from './stack.ts';

/** Returns the text for an ENDING; '' for a normal end and for a condition. PLACES locates the frames. */
export function endingText(ending: Ending, places?: Places): string {
  switch (ending.kind) {
    case 'interrupted':
      return joinSections([
        interruptionText(ending) +
          collectedText(ending) +
          (ending.cutShort ? ' Its cleanup forms did not end in time and were cut short.' : ''),
        framesText('It was at:', ending, places),
      ]);
    case 'aborted':
      return 'The call was ended by its ABORT restart before it had a value.';
    case 'lost':
      if (ending.fresh) return `The fresh image was lost during this call: ${ending.how}.`;
      return ending.attached
        ? `The connection to the Lisp image was lost during this call: ${ending.how}. The next call looks for the image again.`
        : `The Lisp image was lost during this call: ${ending.how}. The next call gets a new image.`;
    default:
      return '';
  }
}

/** Returns a phrase for who has interrupted a call: the human on the page if BY_USER is true, else a model. */
export function interrupterText(byUser: boolean | undefined): string {
  return byUser ? 'by the user on the page' : 'by the tool interrupt';
}

/** For each reason of an interruption, a phrase on a call that was not interrupted in the image. */
const END_REASONS: Partial<Record<Interruption['reason'], string>> = {
  ending: 'because the server is ending',
  timeout: 'at its limit',
  heap: 'because the heap was nearly full',
  ended: 'by other code in the image',
  terminated: 'at its limit',
};

function interruptionText(interruption: Interruption): string {
  const { reason, afterMs, notBegun, endedBy, attached, fresh, stoppedPid } = interruption;
  const after = secondsText(afterMs);
  const kept = fresh ? 'the fresh image ends with its call' : 'the image is kept';
  const whole = fresh ? kept : 'the image and what was done so far are kept';
  const why =
    reason === 'interrupt'
      ? interrupterText(interruption.byUser)
      : (END_REASONS[reason] ?? 'because the client cancelled it');
  if (stoppedPid !== undefined)
    return `Left ${why} after ${after}: the process of the image was stopped by a signal, as by Ctrl-Z, so the call stands still. Ask the user to let the process go on: kill -CONT ${stoppedPid}. The call is then interrupted; the image and what was done so far are kept.`;
  if (notBegun) {
    return `Ended ${why} after it had waited ${after}; it had not begun, so nothing was done.`;
  }
  switch (reason) {
    case 'timeout':
      return `Interrupted after ${after}, the limit of this call; ${whole}.`;
    case 'cancelled':
      return `Interrupted after ${after} because the client cancelled it; ${kept}.`;
    case 'interrupt':
      return `Interrupted after ${after} ${why}; ${whole}.`;
    case 'ending':
      return `Interrupted after ${after} because the server is ending.`;
    case 'heap':
      return `Interrupted after ${after} because it was about to exhaust the heap; ${kept}. Allocate less at once${attached ? '' : ', or ask the user for a larger --heap'}.`;
    case 'ended':
      return `Its thread was ended by ${endedBy === undefined ? 'the code that ran in it' : `another thread (${endedBy})`}, so the call has no value; ${kept}.`;
    case 'terminated':
      return `Its thread was ended after ${after} because it did not react to being interrupted; ${kept}.`;
  }
}

/** Garbage collection is mentioned when it took more than this share of the call. */
const SHOWN_GC_SHARE = 0.2;

function collectedText({ collectedMilliseconds = 0, afterMs }: Interruption): string {
  return collectedMilliseconds > SHOWN_GC_SHARE * afterMs
    ? ` Collecting garbage took ${secondsText(collectedMilliseconds)} of that.`
    : '';
}

/** Returns the lines for message, type and variable of a condition. */
export function conditionLines({ text, type, variable }: Condition): string[] {
  return [`Error: ${text}`, `Type: ${type}`, ...(variable === undefined ? [] : [`Variable: ${variable}`])];
}

/** The sentence of an answer when no library manager is set up. */
export const NO_MANAGER =
  'No library manager is used here; Quicklisp, qlot or ocicl is used where it is set up.';

/** Returns a sentence: the init file FILE is not loaded, and may define the missing name. */
export function notLoadedText(file: string): string {
  return `Images do not load ${file}, which may define it: ask the user to start live-lisp with --init ${file}, which loads it.`;
}

/** Returns CONDITION as text: message, type, restarts, then frames located by PLACES. WHERE names the form
 * that signalled it. */
export function conditionText(condition: Condition, places: Places, where?: string): string {
  const restarts = condition.restarts ?? [];
  return joinSections([
    [
      ...conditionLines(condition),
      where && `In: ${where}`,
      didYouMean(condition.near),
      condition.withoutManager && NO_MANAGER,
      condition.initFile && notLoadedText(condition.initFile),
    ]
      .filter(Boolean)
      .join('\n'),
    restarts.length > 0 &&
      `Restarts (none was invoked; the call was ended):\n${restarts.map(({ name, report }) => `  ${name}: ${report}`).join('\n')}${moreRestarts(condition)}`,
    framesText('Frames:', condition, places, moreFrames(condition)),
  ]);
}

function framesText(header: string, stack: Stack, places?: Places, more = ''): string | false {
  const lines = stackLines(stack, places);
  return lines.length > 0 && `${header}\n${lines.join('\n')}${more}`;
}

/** Returns a line that counts the frames not shown; '' when all are shown. */
export function moreFrames({ moreFrames: more }: Pick<Condition, 'moreFrames'>): string {
  return moreText(more, 'frames; (sb-debug:print-backtrace) in a handler prints them');
}

/** Returns a line that counts the restarts not shown; '' when all are shown. */
export function moreRestarts({ moreRestarts: more }: Pick<Condition, 'moreRestarts'>): string {
  return moreText(more, 'restarts; (compute-restarts) in a handler gives them');
}

function moreText(more: number | undefined, what: string): string {
  return more === undefined ? '' : `\n  ... ${more} more ${what}`;
}

/** SBCL's reports of errors in code. They are removed from the output, because the warnings repeat them. */
const COMPILER_CHATTER = /(?:; file: .*\n)?(?:; in: .*\n)?(?:;.*\n)*?; caught ERROR:\n(?:;.*(?:\n|$))*\n?/g;

/** Replaces the value of a form at the end of its output. */
const VALUE_AGAIN = '[... the value as above ...]';

/** Returns OUTPUT. When OUTPUT ends with a long VALUE, a short note replaces VALUE there. */
export function withoutValue(output: string, value = ''): string {
  return value.length > VALUE_AGAIN.length && `\n${output}`.endsWith(`\n${value}`)
    ? `${output.slice(0, output.length - value.length)}${VALUE_AGAIN}`
    : output;
}

/** Returns the section with the OUTPUT of a call, cut to LIMIT characters; undefined when there is no output.
 * VALUE is the returned value, which is not repeated at the end of the output. */
export function outputSection(
  output: Output | undefined,
  limit?: number,
  value?: string,
): string | undefined {
  if (output === undefined) return undefined;
  const whole = wholeText(output).replace(COMPILER_CHATTER, '').replace(/^\n+/, '').trimEnd();
  const text = withoutValue(whole, value);
  return text === '' ? undefined : `Output:\n${boundText(withShallowIndent(foldedLines(text)), limit)}`;
}

/** A run of more than `most` equal lines is cut to `shown` lines. */
const EQUAL_RUN = { most: 3, shown: 1, what: 'like it' };
/** A run of more than `most` lines without a letter or digit is cut to `shown` lines. */
const WORDLESS_RUN = { most: 20, shown: 3, what: 'without a letter or digit' };

/** Returns TEXT, the output of a program, with long runs of equal lines cut. Long runs of lines without a
 * letter or digit are cut too. */
export function foldedLines(text: string): string {
  return runsOf(text.split('\n'), wordKey).flatMap(foldedRun).join('\n');
}

function runsOf(lines: readonly string[], key: (line: string) => string): string[][] {
  const runs: string[][] = [];
  for (const line of lines) {
    const [last] = runs.at(-1) ?? [];
    if (last !== undefined && key(last) === key(line)) runs.at(-1)?.push(line);
    else runs.push([line]);
  }
  return runs;
}

function wordKey(line: string): string {
  return /[\p{L}\p{N}]/u.test(line) ? line.trimEnd() : '';
}

function foldedRun(lines: string[]): string[] {
  const wordless = wordKey(lines[0] ?? '') === '';
  if (wordless && lines.length <= WORDLESS_RUN.most)
    return runsOf(lines, (line) => line).flatMap((run) => shortened(run, EQUAL_RUN));
  return shortened(lines, wordless ? WORDLESS_RUN : EQUAL_RUN);
}

function shortened(lines: string[], { most, shown, what }: typeof EQUAL_RUN): string[] {
  if (lines.length <= most) return lines;
  return [...lines.slice(0, shown), `[... ${lines.length - shown} more lines ${what} ...]`];
}

/** Returns TEXT with indentation cut to 8 blanks, when over half of TEXT is blanks. Deeply nested
 * pretty-printed data is like that. */
function withShallowIndent(text: string): string {
  const blanks = text.split(' ').length - 1;
  if (text.length <= 400 || 2 * blanks <= text.length) return text;
  return `${text.replace(/^ {8,}/gm, ' '.repeat(8))}\n[... indentation of more than 8 blanks is cut to 8 ...]`;
}

/** Returns MILLISECONDS as text in seconds with one decimal. */
export function secondsText(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Returns a note that the call waited, and why; none when it waited less than 100 ms. */
export function waitedNote(
  waitedMs = 0,
  reason = 'no more evaluations could run at once',
): { note?: string } {
  if (waitedMs < 100) return {};
  return { note: `Note: the call waited ${secondsText(waitedMs)}, because ${reason}.` };
}
