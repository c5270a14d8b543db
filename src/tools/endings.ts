// Renders the ways in which a call in the image ends: conditions, interruptions, and the loss of the image.

import { type Ending, type Interruption, wholeText } from '../image/wire/endings.ts';
import type { Condition, Output } from '../image/wire/operations.ts';
import { boundText, joinSections } from '../kernel/reply.ts';
import { didYouMean } from './natures.ts';
import type { Places } from './places.ts';
import { type Stack, stackLines } from './stack.ts';

/** Returns ENDING as text; '' when the call ended normally or with a condition. PLACES finds the source places of
 * frames. */
export function endingText(ending: Ending, places?: Places): string {
  switch (ending.kind) {
    case 'interrupted':
      return joinSections([
        interruptionText(ending) +
          collectedText(ending) +
          (ending.cutShort ? ' Its cleanup forms did not end in time and were cut short.' : ''),
        leftText(ending),
        framesText('It was at:', ending, places),
      ]);
    case 'aborted':
      return 'The call was ended by its ABORT restart before it had a value.';
    case 'lost':
      if (ending.fresh) return `The fresh image was lost during this call: ${ending.how}.`;
      return ending.attached
        ? `The connection to the Lisp image was lost during this call: ${ending.how}. The next call tries to reconnect.`
        : `The Lisp image was lost during this call: ${ending.how}. The next call gets a new image.`;
    default:
      return '';
  }
}

/** Returns a phrase that says who interrupted a call: the human on the page if BY_USER is true, else a model. */
export function interrupterText(byUser: boolean | undefined): string {
  return byUser ? 'by the user on the page' : 'by the tool interrupt';
}

/** For each reason of an interruption, words that say why the call was interrupted. They are for a call that had not
 * begun, and for one that stands still because a signal (as by Ctrl-Z) has stopped the process of the image. The
 * reasons 'interrupt' and 'cancelled' are missing here, because interruptionText has words for them. */
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
  const allKept = fresh ? kept : 'the image and what was done so far are kept';
  const why =
    reason === 'interrupt'
      ? interrupterText(interruption.byUser)
      : (END_REASONS[reason] ?? 'because the client cancelled it');
  if (stoppedPid !== undefined)
    return `Given up ${why} after ${after}: the process of the image is stopped, for example by Ctrl-Z, so the call is stopped too. Ask the user to resume the process: kill -CONT ${stoppedPid}. The call is then interrupted; the image and what was done so far are kept.`;
  if (notBegun) {
    return `Ended ${why} after a wait of ${after}; the call had not begun, so nothing was done.`;
  }
  switch (reason) {
    case 'timeout':
      return `Interrupted after ${after}, past the limit of this call; ${allKept}.`;
    case 'cancelled':
      return `Interrupted after ${after} because the client cancelled it; ${kept}.`;
    case 'interrupt':
      return `Interrupted after ${after} ${why}; ${allKept}.`;
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

/** Returns sentences about the work that the image must still do before it can answer; undefined when the ending
 * reports none, or when no call can continue it. */
function leftText({ left, reason, fresh }: Interruption): string | undefined {
  if (left === undefined || fresh || reason === 'ending') return undefined;
  const work =
    left.what === 'names'
      ? 'The image was finding out which code uses which names'
      : 'The image was rereading loaded files to find the names that their top-level forms use';
  return `${work} (${left.what} left: ${left.count}). Call again: the next call continues this work.`;
}

/** Garbage collection is mentioned when it took more than this share of the time of the call. */
const SHOWN_GC_SHARE = 0.2;

function collectedText({ collectedMilliseconds = 0, afterMs }: Interruption): string {
  return collectedMilliseconds > SHOWN_GC_SHARE * afterMs
    ? ` Collecting garbage took ${secondsText(collectedMilliseconds)} of that.`
    : '';
}

/** Returns the lines for the message, the type and the variable of a condition. */
export function conditionLines({ text, type, variable }: Condition): string[] {
  return [`Error: ${text}`, `Type: ${type}`, ...(variable === undefined ? [] : [`Variable: ${variable}`])];
}

/** The sentence for answers when no library manager is set up. */
export const NO_MANAGER = 'No library manager is in use; Quicklisp, qlot or ocicl is used if set up.';

/** Returns a sentence for an answer about a missing name: images do not load FILE, the user's init file such as
 * ~/.sbclrc, which may define the name. */
export function notLoadedText(file: string): string {
  return `Images do not load ${file}, which may define the name. To load that file, ask the user to start live-lisp with --init ${file}.`;
}

/** Returns CONDITION as text: its message, type, restarts and frames. PLACES finds the source places of frames. WHERE
 * names the form that signalled the condition. */
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

/** Returns a line with the number of frames that are not shown; '' when all are shown. */
export function moreFrames({ moreFrames: more }: Pick<Condition, 'moreFrames'>): string {
  return moreText(more, 'frames; (sb-debug:print-backtrace) in a handler prints them');
}

/** Returns a line with the number of restarts that are not shown; '' when all are shown. */
export function moreRestarts({ moreRestarts: more }: Pick<Condition, 'moreRestarts'>): string {
  return moreText(more, 'restarts; (compute-restarts) in a handler gives them');
}

function moreText(more: number | undefined, what: string): string {
  return more === undefined ? '' : `\n  ... ${more} more ${what}`;
}

/** Matches SBCL's reports of errors in code. They are removed from the output, because the warnings in the answer
 * repeat them. */
const COMPILER_CHATTER = /(?:; file: .*\n)?(?:; in: .*\n)?(?:;.*\n)*?; caught ERROR:\n(?:;.*(?:\n|$))*\n?/g;

/** Matches SBCL's report that a compilation was aborted. The report says nothing new to the reader of an answer,
 * because the answer has the error or the interruption that aborted the compilation. */
const UNIT_ABORTED =
  /(?:; ?\n)?; compilation unit aborted\n(?:; {3}(?:caught|printed) \d+ [\w -]+(?:\n|$))*/g;

/** Returns the text of OUTPUT, which a call has written, without the reports of SBCL that repeat parts of the answer.
 * Returns '' when there is no output. */
export function writtenText(output: Output | undefined): string {
  if (output === undefined) return '';
  const text = wholeText(output).replace(COMPILER_CHATTER, '').replace(UNIT_ABORTED, '');
  return text.replace(/^\n+/, '').trimEnd();
}

/** Replaces the value of a form at the end of the form's output, when the output ends with this value. */
const VALUE_AGAIN = '[... the value as above ...]';

/** Returns OUTPUT. If OUTPUT ends with VALUE, and VALUE is long, a short note replaces VALUE there. */
export function withoutValue(output: string, value = ''): string {
  return value.length > VALUE_AGAIN.length && `\n${output}`.endsWith(`\n${value}`)
    ? `${output.slice(0, output.length - value.length)}${VALUE_AGAIN}`
    : output;
}

/** Returns the section with the OUTPUT of a call, cut to LIMIT characters; undefined when there is no output. VALUE is
 * the value that the call returned. Where the output ends with a long VALUE, a short note replaces VALUE. */
export function outputSection(
  output: Output | undefined,
  limit?: number,
  value?: string,
): string | undefined {
  const text = withoutValue(writtenText(output), value);
  return text === '' ? undefined : `Output:\n${boundText(withShallowIndent(foldedLines(text)), limit)}`;
}

/** Of more than `most` equal lines in a row, only `shown` are shown. */
const EQUAL_RUN = { most: 3, shown: 1, what: 'like it' };
/** Of more than `most` lines in a row without a letter or digit, only `shown` are shown. */
const WORDLESS_RUN = { most: 20, shown: 3, what: 'without a letter or digit' };

/** Returns TEXT, the output of a program. Long runs of equal lines, and of lines without a letter or digit, are
 * shortened. */
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

/** Returns the key by which foldedLines joins lines to runs: '' for all lines without a letter or digit. */
function wordKey(line: string): string {
  return /[\p{L}\p{N}]/u.test(line) ? line.trimEnd() : '';
}

/** Shortens LINES, a run of lines with the same wordKey. In a short wordless run, only runs of equal lines are
 * shortened. */
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

/** Returns TEXT. If more than half of it is blanks, as in deeply nested pretty-printed data, cuts the indentation of
 * each line to 8 blanks. */
function withShallowIndent(text: string): string {
  const blanks = text.split(' ').length - 1;
  if (text.length <= 400 || 2 * blanks <= text.length) return text;
  return `${text.replace(/^ {8,}/gm, ' '.repeat(8))}\n[... indentation of more than 8 blanks is cut to 8 ...]`;
}

/** Returns MILLISECONDS as text, in seconds with one decimal. */
export function secondsText(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Returns a note that says how long a call waited, and why; {} when it waited less than 100 ms. */
export function waitedNote(
  waitedMs = 0,
  reason = 'no more evaluations could run at once',
): { note?: string } {
  if (waitedMs < 100) return {};
  return { note: `Note: the call waited ${secondsText(waitedMs)}, because ${reason}.` };
}
