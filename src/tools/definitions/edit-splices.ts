// Converts an edit to splices of the text of its file.

import { CallError } from '../../errors.ts';
import { lineEnds } from '../../files/text.ts';
import {
  lineAt,
  type Splice,
  spliced,
  splicedAfter,
  splicedBefore,
  splicedOut,
  splicedOver,
  unfinishedLine,
} from '../../source/splice.ts';
import type { Target } from '../../source/targets.ts';
import { visibleName } from '../../visible.ts';
import { atLinesText, exactPlaces, nearestText, withLineEndsOf } from '../exact-text.ts';
import { imbalanceWithProposal } from '../parentheses.ts';
import type { EditedFile } from './edited-files.ts';
import type { Edit, Part } from './edits.ts';
import type { Located } from './locate.ts';

/** Returns the splices of EDIT in the file of its definition. Throws a CallError when the result could not be read. */
export function splicesOf(
  { which, change }: Extract<Edit, { asked: object }>,
  { file, target }: Located,
): Splice[] {
  const { text } = file.source;
  switch (change.kind) {
    case 'delete':
      return [splicedOut(text, target)];
    case 'part':
      return partSplices(which, change, { file, target });
    default: {
      const given = givenForms(which, change.text, file);
      if (change.kind === 'replace' && !/\S/.test(withoutComments(given)))
        throw new CallError(`${which}: text has no form. op delete takes a definition out.`);
      const put = withLineEndsOf(text, target.start, target.end, given);
      const eol = withLineEndsOf(text, target.start, target.end, '\n');
      if (change.kind === 'before') return [splicedBefore(file.forms, target, put, eol)];
      const place = { replace: splicedOver, after: splicedAfter }[change.kind];
      return [place(text, target, put, eol)];
    }
  }
}

/** Returns the splices of the edit WHICH, which replaces a PART of FILE. Throws a CallError when the result could not
 *  be read. */
export function partInFile(which: string, part: Part, file: EditedFile): Splice[] {
  return partSplices(which, part, { file, target: { start: 0, end: file.source.text.length } });
}

/** A file, and the range of it to edit: all of it, or the definition that begins with HEAD. */
interface Edited {
  file: EditedFile;
  target: Pick<Target, 'start' | 'end'> & { head?: string };
}

/** Returns the splice that appends TEXT to FILE. Throws a CallError when TEXT or FILE has an unfinished form. */
export function splicesAtEnd(which: string, text: string, file: EditedFile): Splice[] {
  const { text: before } = file.source;
  checkWhole(visibleName(file.present.name), before, file);
  const end = before.length;
  const eol = withLineEndsOf(before, end, end, '\n');
  const given = withLineEndsOf(before, end, end, givenForms(which, text, file));
  const added = file.splices.filter(({ start }) => start === end).map((splice) => splice.text);
  const above = before + added.join('');
  const blank = /(?:\r?\n){0,2}$/.exec(above)?.[0] ?? '';
  const breaks = above === '' ? 0 : 3 - blank.split('\n').length;
  return [{ start: end, end, text: eol.repeat(breaks) + given + eol }];
}

/** Returns TEXT of the edit WHICH, for FILE, trimmed. Throws a CallError when it is not whole forms. */
function givenForms(which: string, text: string, file: EditedFile): string {
  const given = text.replaceAll('\r\n', '\n').replace(/^(?:[ \t]*\n)+|\s+$/g, '');
  checkWhole(`${which}.text`, given, file);
  return given;
}

function withoutComments(text: string): string {
  return text.replace(/;[^\n]*/g, '');
}

/** Throws a CallError when TEXT, named NAME, for FILE, is not whole forms: nothing is repaired silently. */
function checkWhole(name: string, text: string, file: EditedFile): void {
  const wrong = imbalanceWithProposal(name, text);
  if (wrong !== undefined) throw new CallError(`${wrong}\nNothing was changed. Send it again, put right.`);
  const line = unfinishedLine(text, file.forms.features);
  if (line !== undefined)
    throw new CallError(
      `${name}: what begins at line ${line} does not end, so that it would take in what follows. Nothing was changed.`,
    );
}

function partSplices(which: string, { old, put, all }: Part, { file, target }: Edited): Splice[] {
  const text = file.source.text.slice(target.start, target.end);
  const wanted = old.replaceAll('\r\n', '\n');
  const { count, lines, places } = exactPlaces(text, wanted);
  if (count === 0 || (count > 1 && !all))
    throw new CallError(`${which}: ${notOnceText(old, { file, target }, count, lines)}`);
  const given = put.replaceAll('\r\n', '\n');
  const usual = lineEnds(file.source.text);
  const inPart = places.map(({ from, to }) => ({
    start: from,
    end: to,
    text: withLineEndsOf(text, from, to, given, usual),
  }));
  const after = spliced(text, inPart);
  if (typeof after !== 'string') throw new Error('The places of one text overlap.');
  const whole = target.head === undefined ? visibleName(file.present.name) : 'the definition';
  checkWhole(`${which}, ${whole} with new in it`, after, file);
  return inPart.map((splice) => ({
    ...splice,
    start: target.start + splice.start,
    end: target.start + splice.end,
  }));
}

function notOnceText(old: string, { file, target }: Edited, count: number, lines: readonly number[]): string {
  const began = lineAt(file.source, target.start);
  const name = visibleName(file.present.name);
  const what = target.head === undefined ? name : `${target.head} at ${name}:${began}`;
  if (count > 1) {
    const where = atLinesText(lines.map((line) => line + began - 1));
    return `old stands ${count} times in ${what}, ${where}; nothing was changed. Give more of the text around it, or all: true.`;
  }
  const text = file.source.text.slice(target.start, target.end);
  const near =
    nearestText(text, old, 'old', began) ??
    `No place looks like it: ${target.head === undefined ? 'read_file' : 'read_definition'} shows the text.`;
  return `old does not stand in ${what}; nothing was changed. ${near}`;
}
