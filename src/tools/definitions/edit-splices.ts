// Decides what an edit changes in the text of its file.

import { CallError } from '../../errors.ts';
import {
  lineAt,
  type Splice,
  splicedAfter,
  splicedBefore,
  splicedOut,
  splicedOver,
  unfinishedLine,
} from '../../source/splice.ts';
import type { Target } from '../../source/targets.ts';
import { visibleName } from '../../visible.ts';
import { atLinesText, exactPlace, nearestText, withLineEndsOf } from '../exact-text.ts';
import { imbalanceWithProposal } from '../parentheses.ts';
import type { EditedFile } from './edited-files.ts';
import type { Change, Edit } from './edits.ts';
import type { Located } from './locate.ts';

/** Returns what EDIT changes in the file of the definition that it means, when FEATURES hold. Throws a CallError when that
 *  leaves something that cannot be read. */
export function splicesOf(
  { which, change }: Edit,
  { file, target }: Located,
  features: ReadonlySet<string>,
): Splice[] {
  const { text } = file.source;
  switch (change.kind) {
    case 'delete':
      return [splicedOut(text, target)];
    case 'part':
      return partSplices(which, change, { file, target }, features);
    default: {
      const given = change.text.replaceAll('\r\n', '\n').replace(/^(?:[ \t]*\n)+|\s+$/g, '');
      checkWhole(`${which}.text`, given, features);
      if (change.kind === 'replace' && !/\S/.test(withoutComments(given)))
        throw new CallError(`${which}: text has no form. op delete takes a definition out.`);
      const put = withLineEndsOf(text, target.start, target.end, given);
      const eol = withLineEndsOf(text, target.start, target.end, '\n');
      const place = { replace: splicedOver, before: splicedBefore, after: splicedAfter }[change.kind];
      return [place(text, target, put, eol)];
    }
  }
}

function withoutComments(text: string): string {
  return text.replace(/;[^\n]*/g, '');
}

/** Throws a CallError when TEXT, called NAME, is not whole forms: nothing is repaired in silence. */
function checkWhole(name: string, text: string, features: ReadonlySet<string>): void {
  const wrong = imbalanceWithProposal(name, text);
  if (wrong !== undefined) throw new CallError(`${wrong}\nNothing was changed. Send it again, put right.`);
  const line = unfinishedLine(text, features);
  if (line !== undefined)
    throw new CallError(
      `${name}: what begins at line ${line} does not end, so that it would take in what follows. Nothing was changed.`,
    );
}

function partSplices(
  which: string,
  { old, put, all }: Change & { kind: 'part' },
  { file, target }: Located,
  features: ReadonlySet<string>,
): Splice[] {
  const text = file.source.text.slice(target.start, target.end);
  const wanted = old.replaceAll('\r\n', '\n');
  const splices: Splice[] = [];
  for (let [at, first] = [0, true]; first || all; first = false) {
    const { count, lines, from, to } = exactPlace(text.slice(at), wanted);
    if (first && (count === 0 || (count > 1 && !all)))
      throw new CallError(`${which}: ${notOnceText(old, { file, target }, count, lines)}`);
    if (count === 0) break;
    const [start, end] = [target.start + at + from, target.start + at + to];
    const given = withLineEndsOf(file.source.text, start, end, put.replaceAll('\r\n', '\n'));
    splices.push({ start, end, text: given });
    at += to;
  }
  let after = text;
  for (const { start, end, text: given } of splices.toReversed())
    after = after.slice(0, start - target.start) + given + after.slice(end - target.start);
  checkWhole(`${which}, the definition with new in it`, after, features);
  return splices;
}

function notOnceText(
  old: string,
  { file, target }: { file: EditedFile; target: Target },
  count: number,
  lines: readonly number[],
): string {
  const began = lineAt(file.source, target.start);
  const what = `${target.head} at ${visibleName(file.present.name)}:${began}`;
  if (count > 1) {
    const where = atLinesText(lines.map((line) => line + began - 1));
    return `old stands ${count} times in ${what}, ${where}; nothing was changed. Give more of the text around it, or all: true.`;
  }
  const text = file.source.text.slice(target.start, target.end);
  const near =
    nearestText(text, old, 'old', began) ?? 'No place looks like it: read_definition shows the text.';
  return `old does not stand in ${what}; nothing was changed. ${near}`;
}
