// Converts an edit to splices. A splice replaces a range of the text of a file.

import { CallError } from '../../errors.ts';
import { lineEnds } from '../../files/text.ts';
import type { NamingForm } from '../../source/definitions.ts';
import {
  applySplices,
  type Splice,
  spliceAfter,
  spliceBefore,
  spliceOut,
  spliceOver,
  unfinishedLine,
} from '../../source/splice.ts';
import { visibleName } from '../../visible.ts';
import { atLinesText, exactPlaces, nearestText, withLineEndsOf } from '../exact-text.ts';
import { imbalanceWithProposal } from '../parentheses.ts';
import type { EditedFile } from './edited-files.ts';
import type { DefinitionEdit, Part } from './edits.ts';
import type { Located } from './locate.ts';

/** Returns the splices for an edit of one definition. Throws a CallError when the text to replace is not found, or when
 * the result would not consist of whole forms. */
export function splicesOf(
  { label, change }: Pick<Extract<DefinitionEdit, { query: object }>, 'label' | 'change'>,
  { file, target }: Located,
): Splice[] {
  const { text } = file.source;
  switch (change.kind) {
    case 'delete':
      return [spliceOut(text, target)];
    case 'part':
      return partSplices(label, change, { file, target });
    default: {
      const newText = wholeForms(label, change.text, file);
      if (change.kind === 'replace' && !/\S/.test(withoutComments(newText)))
        throw new CallError(`${label}.text has no form. To remove a definition, give op: "delete".`);
      const replacement = withLineEndsOf(text, target.start, target.end, newText);
      const eol = withLineEndsOf(text, target.start, target.end, '\n');
      if (change.kind === 'before') return [spliceBefore(file.forms, target, replacement, eol)];
      const place = { replace: spliceOver, after: spliceAfter }[change.kind];
      return [place(text, target, replacement, eol)];
    }
  }
}

/** Returns the splices for the edit LABEL, which makes the replacement PART anywhere in FILE. Throws a CallError when
 * the text to replace is not found, or when the result would not consist of whole forms. */
export function partInFile(label: string, part: Part, file: EditedFile): Splice[] {
  return partSplices(label, part, { file, target: { start: 0, end: file.source.text.length } });
}

/** A file and the range to edit: the whole text, or the definition that begins with `head`. */
interface EditScope {
  file: EditedFile;
  target: Pick<NamingForm, 'start' | 'end'> & { head?: string };
}

/** Returns the splices that append TEXT to FILE, for the edit LABEL. Throws a CallError when TEXT or FILE has
 * an unfinished form. */
export function splicesAtEnd(label: string, text: string, file: EditedFile): Splice[] {
  const { text: before } = file.source;
  checkWhole(visibleName(file.present.name), before, file);
  const end = before.length;
  const eol = withLineEndsOf(before, end, end, '\n');
  const newText = withLineEndsOf(before, end, end, wholeForms(label, text, file));
  const added = file.splices.filter(({ start }) => start === end).map((splice) => splice.text);
  const above = before + added.join('');
  const blank = /(?:\r?\n){0,2}$/.exec(above)?.[0] ?? '';
  const breaks = above === '' ? 0 : 3 - blank.split('\n').length;
  return [{ start: end, end, text: eol.repeat(breaks) + newText + eol }];
}

/** Returns TEXT, the new text in the edit LABEL of FILE, without surrounding white space. Throws a CallError
 * when it does not consist of whole forms. */
export function wholeForms(label: string, text: string, file: EditedFile): string {
  const trimmed = text.replaceAll('\r\n', '\n').replace(/^(?:[ \t]*\n)+|\s+$/g, '');
  checkWhole(`${label}.text`, trimmed, file);
  return trimmed;
}

function withoutComments(text: string): string {
  return text.replace(/;[^\n]*/g, '');
}

function checkWhole(name: string, text: string, file: EditedFile): void {
  const wrong = imbalanceWithProposal(name, text);
  if (wrong !== undefined)
    throw new CallError(`${wrong}\nNothing was changed. Correct the text and call again.`);
  const line = unfinishedLine(text, file.forms.features);
  if (line !== undefined)
    throw new CallError(
      `${name}: the text from line ${line} on is incomplete, and would absorb the next form. Nothing was changed.`,
    );
}

function partSplices(label: string, { old, replacement, all }: Part, { file, target }: EditScope): Splice[] {
  const text = file.source.text.slice(target.start, target.end);
  const wanted = old.replaceAll('\r\n', '\n');
  const { count, lines, places } = exactPlaces(text, wanted);
  if (count === 0 || (count > 1 && !all))
    throw new CallError(`${label}.${notOnceText(old, { file, target }, count, lines)}`);
  const given = replacement.replaceAll('\r\n', '\n');
  const fileEol = lineEnds(file.source.text);
  const splices = places.map(({ from, to }) => ({
    start: from,
    end: to,
    text: withLineEndsOf(text, from, to, given, fileEol),
  }));
  const after = applySplices(text, splices);
  if (typeof after !== 'string') throw new Error('The places of one text overlap.');
  const whole = target.head === undefined ? visibleName(file.present.name) : 'the definition';
  checkWhole(`${label}, ${whole} with new in place of old`, after, file);
  return splices.map((splice) => ({
    ...splice,
    start: target.start + splice.start,
    end: target.start + splice.end,
  }));
}

function notOnceText(
  old: string,
  { file, target }: EditScope,
  count: number,
  lines: readonly number[],
): string {
  const firstLine = file.source.lineAt(target.start);
  const name = visibleName(file.present.name);
  const what = target.head === undefined ? name : `${target.head} at ${name}:${firstLine}`;
  if (count > 1) {
    const where = atLinesText(lines.map((line) => line + firstLine - 1));
    return `old occurs ${count} times in ${what}, ${where}; nothing was changed. Give more of the text around it, or all: true.`;
  }
  const text = file.source.text.slice(target.start, target.end);
  const hint =
    nearestText(text, old, 'old', firstLine) ??
    `No similar text was found; ${target.head === undefined ? 'read_file' : 'read_definition'} shows the current text.`;
  return `old was not found in ${what}; nothing was changed. ${hint}`;
}
