// Renders notices: events that are not part of the result of a call.

import type { ImageNotice } from '../image/image.ts';
import { type Ending, wholeText } from '../image/wire/endings.ts';
import type { Lacking } from '../image/wire/messages.ts';
import type { Output } from '../image/wire/operations.ts';
import { type Served, servedName } from '../image/wire/served.ts';
import { foldedLines, secondsText, writtenText } from './endings.ts';
import { lossText } from './loss-text.ts';
import { newestCall } from './stack.ts';

/** Returns NOTICE as text for a model. */
export function noticeText(notice: ImageNotice): string {
  switch (notice.kind) {
    case 'raw':
      return `Written to the image's own stdout or stderr:\n${notice.text}`;
    case 'background':
      return `Written by other threads since the last answer:\n${foldedLines(wholeText(notice.output))}`;
    case 'changes': {
      const { texts, more } = notice.changes;
      const earlier = more > 0 ? `, and ${more} earlier ones` : '';
      return `Changed in this image since the last answer, by its user or another agent: ${texts.join(', ')}${earlier}.`;
    }
    case 'cancelled':
      return cancelledText(notice.ending, notice.afterMs, notice.output);
    case 'start file':
      return startFileText(notice.file, notice.ending, notice.output);
    case 'session renewed':
      return "Note: the session's readtable and its reader and printer variables were replaced by fresh ones, because with the old ones forms could no longer be read, evaluated and printed. The image and its definitions are kept.";
    case 'compiler held':
      return `Note: the thread ${JSON.stringify(notice.thread)} holds SBCL's compiler lock but is not running, so nothing can be compiled. End it with sb-thread:terminate-thread. If calls keep failing, live-lisp replaces the image.`;
    case 'forgotten':
      return `${notice.count} earlier notices were left out, because too many came before this answer.`;
    case 'loss':
      return lossText(notice.report);
    case 'plain':
      return plainText(notice.how, notice.lacking);
    case 'connected again':
      return `The connection to the Lisp image was lost: ${notice.how}. A new one is open; check whether the image still holds what you need.`;
    case 'attached':
      return attachedText(notice);
    case 'unused':
      return unusedText(notice.served, notice.ownImageRequiredBy);
    case 'not serving':
      return `Note: ${notice.why}`;
    case 'journal full':
      return `Note: the journal is full (${notice.entries} entries). If the image is lost, later definitions and loads will not be rebuilt. Put them into files, and load those in a new session.`;
    case 'journal unwritable':
      return `Note: the journal cannot be written (${notice.why}). This server can still rebuild a lost image, from memory; a later server cannot.`;
  }
}

/** Returns the notice that the image is a plain one, which uses only documented parts of SBCL. HOW says how the images
 * before it ended. */
export function plainText(how: readonly string[], { without }: Lacking): string {
  return (
    `This Lisp image uses only documented parts of SBCL, because earlier images exited on their own (${how.join('; then ')}). ` +
    `Evaluating and loading work as always. Missing: ${without.join(', ')}. ` +
    'Ask the user to run live-lisp doctor, which finds the part that ends images.'
  );
}

function attachedText({ served, before, how, startFile }: ImageNotice & { kind: 'attached' }): string {
  const works = `This server works in the image ${servedName(served)}, which serves ${served.workspace}`;
  const start =
    startFile === undefined
      ? ''
      : ` The start file ${startFile} was not loaded in that image; load_file loads it.`;
  if (before === undefined) return `${works}; live-lisp never ends it.${start}`;
  return `The image ${servedName(before)} is gone: ${how}. ${works}. It may lack definitions of the lost image: load or define again what you need.${start}`;
}

/** Returns the notice that this server does not use the image SERVED. OWN_IMAGE_REQUIRED_BY is the command-line flag
 * that forbids to use another image; undefined when the reason is that calls have already used the server's own. */
function unusedText(served: Served, ownImageRequiredBy: string | undefined): string {
  const head = `Note: the image ${servedName(served)} serves ${served.workspace} now. This server keeps its own image`;
  return ownImageRequiredBy === undefined
    ? `${head}, because calls have already used it. To use the other image, start a new session of the client.`
    : `${head}, because the server was started with ${ownImageRequiredBy} and the other image is not sandboxed. To use that image, ask the user to start the server without ${ownImageRequiredBy}.`;
}

function cancelledText(ending: Ending, afterMs: number, output: Output | undefined): string {
  const stopped = ending.kind === 'interrupted';
  const how = stopped ? 'was interrupted' : 'had ended before it could be interrupted,';
  const at = stopped ? newestCall(ending) : undefined;
  const where = at === undefined ? '' : ` It was at ${at}.`;
  const text = writtenText(output);
  const wrote = text === '' ? ' It had written nothing.' : ` It had written:\n${foldedLines(text)}`;
  return `A call that the client cancelled ${how} after ${secondsText(afterMs)}.${where}${wrote}`;
}

function startFileText(file: string, ending: Ending, output: Output | undefined): string {
  const why = ending.kind === 'condition' ? ending.condition.text : ending.kind;
  const text = writtenText(output);
  return `The start file ${file} was not loaded to its end: ${why}${text && `\n${foldedLines(text)}`}`;
}
