/** Computes the change of a text when a form is inserted, replaced or removed. */

import { FormReader } from './form.ts';
import { commentsFrom } from './lexer.ts';
import type { Extent, TopLevelForms } from './top-level.ts';
import { type Span, treeOf } from './tree.ts';

export interface Splice extends Span {
  text: string;
}

/** Returns the splice that inserts ADDED, without final line break, before the form at EXTENT of FORMS and the comment
 * right above it. EOL is the line break of the text. */
export function spliceBefore(forms: TopLevelForms, extent: Extent, added: string, eol: string): Splice {
  const { text } = forms.source;
  const at = commentedStart(forms, extent);
  const lineBefore = text.slice(lineStartOf(text, at), at);
  const indentation = lineBefore.trim() === '' ? lineBefore : '';
  const breaks = breaksBetween(blankBefore(text, at), innerBlankAfter(text, extent.end));
  return { start: at, end: at, text: `${added}${eol.repeat(breaks)}${indentation}` };
}

/** Returns the splice that inserts ADDED after the form at EXTENT. If a comment follows the form on its line, ADDED
 * comes after this comment. EOL is the line break of TEXT. */
export function spliceAfter(text: string, { fullStart, end }: Extent, added: string, eol: string): Splice {
  const indentation = /^[ \t]*/.exec(text.slice(lineStartOf(text, fullStart), fullStart))?.[0] ?? '';
  const comment = /^[ \t]*;[^\r\n]*/.exec(text.slice(end))?.[0] ?? '';
  const at = end + comment.length;
  const breaks = eol.repeat(breaksBetween(innerBlankAfter(text, at), blankBefore(text, fullStart)));
  return { start: at, end: at, text: `${breaks}${indentation}${added}${commentBreak(text, at, added, eol)}` };
}

/** Returns the splice that replaces the form at EXTENT of TEXT by ADDED. A #+ or #- before the form stays. */
export function spliceOver(text: string, { start, end }: Extent, added: string, eol: string): Splice {
  return { start, end, text: added + commentBreak(text, end, added, eol) };
}

/** Returns the splice that removes the form at EXTENT from TEXT. If nothing else is on its lines, also removes the
 * white space above or below the form, usually on the side with fewer line breaks. */
export function spliceOut(text: string, { fullStart, end }: Extent): Splice {
  const above = blankBefore(text, fullStart);
  const below = blankAfter(text, end);
  const formOnly = { start: fullStart, end, text: '' };
  const withAbove = { ...formOnly, start: fullStart - above.length };
  const withBelow = { ...formOnly, end: end + below.length };
  const [isFirst, isLast] = [withAbove.start === 0, withBelow.end === text.length];
  if (isFirst && isLast) return formOnly;
  if (isLast) return withAbove;
  if (isFirst) return withBelow;
  const [breaksAbove, breaksBelow] = [lineBreaksIn(above), lineBreaksIn(below)];
  // The last form of a list is removed with the white space above it, because the closing parenthesis is on
  // its line.
  if (breaksBelow === 0) return breaksAbove > 0 && text[withBelow.end] === ')' ? withAbove : formOnly;
  if (breaksAbove === 0) return formOnly;
  // Without the white space below the form, the comment above it would come to stand right above the next form.
  const belongsToComment = breaksAbove === 1 && endsInComment(text.slice(0, withAbove.start));
  return breaksBelow < breaksAbove && !belongsToComment ? withBelow : withAbove;
}

/** Returns the start of the comments that belong to the form at EXTENT of FORMS: those directly above it, without an
 * empty line between, and those before it on its line. Returns the `fullStart` of EXTENT when there are none. */
export function commentedStart(forms: TopLevelForms, extent: Extent): number {
  const { text } = forms.source;
  let start = extent.fullStart;
  // The start of the form or comment that was seen last.
  let below = start;
  for (const comment of commentsFrom(text, endAbove(text, extent.fullStart)).reverse()) {
    const isApart = lineBreaksIn(text.slice(comment.end, below)) > 1;
    if (isApart || text.startsWith(SECTION, comment.start)) return start;
    below = comment.start;
    // A comment after a form on its line belongs to that form.
    if (/^\ufeff?[ \t]*$/.test(text.slice(lineStartOf(text, below), below))) start = below;
  }
  return start;
}

/** The start of a comment that is a section title. */
const SECTION = ';;;;';

/** Returns true when the last line of TEXT is a comment that belongs to the form below it. */
function endsInComment(text: string): boolean {
  const line = text.slice(text.lastIndexOf('\n') + 1).trim();
  return line.endsWith('|#') || (line.startsWith(';') && !line.startsWith(SECTION));
}

/** Returns the end of the last token before INDEX of TEXT; 0 when there is none. */
function endAbove(text: string, index: number): number {
  const tree = treeOf(text);
  const number = tree.tokenAt(index);
  return number === 0 ? 0 : tree.end(number - 1);
}

/** Returns EOL if ADDED may end in a comment, and code follows index AT of TEXT on the same line; else ''. */
function commentBreak(text: string, at: number, added: string, eol: string): string {
  const codeFollows = /^[ \t]*[^ \t\r\n]/.test(text.slice(at));
  const lastLine = added.slice(lineStartOf(added, added.length));
  return codeFollows && lastLine.includes(';') ? eol : '';
}

/** Returns the number of line breaks, 1 or 2, to put between a form and a new form beside it. BLANKS are the white
 * space on both sides of the form. The first of BLANKS with line breaks decides; if none has any, the result is 2. */
function breaksBetween(...blanks: string[]): number {
  return Math.min(2, blanks.map(lineBreaksIn).find((count) => count > 0) ?? 2);
}

function lineBreaksIn(text: string): number {
  return text.split('\n').length - 1;
}

function lineStartOf(text: string, index: number): number {
  return text.lastIndexOf('\n', index - 1) + 1;
}

function blankBefore(text: string, index: number): string {
  return /\s*$/.exec(text.slice(0, index))?.[0] ?? '';
}

function blankAfter(text: string, index: number): string {
  return /^\s*/.exec(text.slice(index))?.[0] ?? '';
}

/** Returns the white space from INDEX of TEXT on, or '' when it reaches the end of TEXT. */
function innerBlankAfter(text: string, index: number): string {
  const blank = blankAfter(text, index);
  return index + blank.length === text.length ? '' : blank;
}

/** Returns TEXT with SPLICES applied, or the second of two overlapping splices. SPLICES must be sorted by start.
 * Insertions at the same index keep their order. */
export function applySplices(text: string, splices: readonly Splice[]): string | Splice {
  let [result, at] = ['', 0];
  for (const splice of splices) {
    if (splice.start < at) return splice;
    result += text.slice(at, splice.start) + splice.text;
    at = splice.end;
  }
  return result + text.slice(at);
}

/** Returns the 1-based line in which an incomplete form of TEXT begins; undefined when there is none. */
export function unfinishedLine(text: string, features: ReadonlySet<string>): number | undefined {
  // An incomplete form, such as a quote, a #+ or an open list, takes in or excludes the () after TEXT.
  const whole = `${text}\n()`;
  const reading = new FormReader(treeOf(whole), features);
  const lineOf = (index: number) => text.slice(0, index).split('\n').length;
  for (let [at, last] = [0, 0]; ; ) {
    const form = reading.form(at);
    // For example, TEXT has a surplus ), or the #+ at its end excludes the ().
    if (form === undefined) return lineOf(last);
    const isAddedList = form.start === text.length + 1 && form.notation === '(';
    if (isAddedList) return form.featureStart === undefined ? undefined : lineOf(form.featureStart);
    if (form.end > text.length) return lineOf(form.start);
    last = form.end;
    at = form.tokenAfter;
  }
}

/** Compares the forms of a text BEFORE an edit with its forms NOW. SPLICES are the replacements of the edit, sorted and
 * without overlap. `changed` has the forms of NOW that a splice inserted or changed. `numbers` has for each form of NOW
 * its number in BEFORE, or null if it changed. If a splice changes how another form is read, for example by a quote,
 * returns only `lost`, the start of that form in BEFORE. */
export function changedForms(
  before: TopLevelForms,
  now: TopLevelForms,
  splices: readonly Splice[],
): { changed: Span[]; numbers: (number | null)[] } | { lost: number } {
  const kept = keptForms(before, splices);
  const numbers: (number | null)[] = [];
  const changed: Span[] = [];
  for (const { start, end } of now.allExtents()) {
    const same = kept.get(start);
    const isKept = same?.end === end;
    if (isKept) kept.delete(start);
    else changed.push({ start, end });
    numbers.push(isKept ? same.number : null);
  }
  const [lost] = kept.values();
  return lost === undefined ? { changed, numbers } : { lost: before.allExtents()[lost.number]?.start ?? 0 };
}

/** Returns a map of the forms of BEFORE that SPLICES, replacements of parts of the text, do not touch. The key is the
 * start of a form in the new text. The value has the number of the form in BEFORE, and its end in the new text. */
function keptForms(before: TopLevelForms, splices: readonly Splice[]) {
  const kept = new Map<number, { number: number; end: number }>();
  // NEXT is the index of the first splice that ends after the start of the form or of the #+ before it. SHIFT is the
  // number of characters by which earlier splices move the form.
  let [next, shift] = [0, 0];
  for (const [number, { start, end, fullStart }] of before.allExtents().entries()) {
    for (let splice = splices[next]; splice && splice.end <= fullStart; splice = splices[++next])
      shift += splice.text.length - (splice.end - splice.start);
    const splice = splices[next];
    const isAffected = splice !== undefined && splice.start < end;
    if (!isAffected) kept.set(start + shift, { number, end: end + shift });
  }
  return kept;
}
